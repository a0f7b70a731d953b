"""Expressions of a checked program as people write them, for prints of nests and kernels. Not meant to be parsed."""

from __future__ import annotations

from tdl.language import forms
from tdl.language.forms import Atom, Extreme, FloorDiv, Form, Opaque, Product, Symbol
from tdl.language.tree import (
    Access,
    Binary,
    Binder,
    Call,
    Compare,
    Convert,
    Expr,
    Integer,
    Let,
    Local,
    Number,
    Parameter,
    Reduce,
    Select,
    Unary,
)

_INFIX = {
    # operator: (text, how tightly it binds)
    "or": ("or", 1), "and": ("and", 2),
    "add": ("+", 5), "sub": ("-", 5), "mul": ("*", 6), "div": ("/", 6), "floordiv": ("//", 6), "mod": ("%", 6),
    "pow": ("**", 8),
}  # fmt: skip
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_TIGHTEST = 9


def expr_text(expr: Expr, above: int = 0) -> str:
    """The expression, in brackets where it binds less tightly than `above`."""
    text, tightness = _text(expr)
    return f"({text})" if tightness < above else text


def form_text(form: Form, above: int = 0) -> str:
    """An integer form, with the data in it written out."""
    text, tightness = _form(form)
    return f"({text})" if tightness < above else text


def access_text(tensor: str, subscripts: tuple[Form, ...]) -> str:
    return f"{tensor}[{', '.join(map(form_text, subscripts))}]" if subscripts else tensor


def _text(expr: Expr) -> tuple[str, int]:
    match expr:
        case Number(value):
            return _number(value), _TIGHTEST if value >= 0 or value != value else 7
        case Integer(form):
            return _form(form)
        case Parameter(name) | Local(name):
            return name, _TIGHTEST
        case Access():
            return _access(expr), _TIGHTEST
        case Unary("not", operand):
            return f"not {expr_text(operand, 3)}", 3
        case Unary("neg", operand):
            return f"-{expr_text(operand, 7)}", 7
        case Unary(operator, operand):
            return f"{operator}({expr_text(operand)})", _TIGHTEST
        case Binary(operator, left, right):
            return _binary(operator, left, right)
        case Compare(operator, left, right):
            return f"{expr_text(left, 5)} {_COMPARE[operator]} {expr_text(right, 5)}", 4
        case Select(condition, then, other):
            return f"{expr_text(then, 1)} if {expr_text(condition, 1)} else {expr_text(other)}", 0
        case Call(function, args):
            return f"{function}({', '.join(map(expr_text, args))})", _TIGHTEST
        case Convert(operand, dtype):
            return f"{dtype}({expr_text(operand)})", _TIGHTEST
        case Let(name, value, body):
            return f"let {name} = {expr_text(value)} in {expr_text(body)}", -1
        case Reduce():
            return _reduce(expr), _TIGHTEST


def _number(value: int | float | bool) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
    whole = value == value and abs(value) < 1e16 and value == int(value)
    return str(int(value)) if whole else repr(value)


def _access(access: Access) -> str:
    text = access_text(access.tensor, access.subscripts)
    if access.boundary is None:
        return text
    value = access.boundary.value
    outside = access.boundary.mode if value is None else expr_text(value)
    return f"{text[:-1]} | {outside}]"


def _binary(operator: str, left: Expr, right: Expr) -> tuple[str, int]:
    if operator not in _INFIX:
        return f"{operator}({expr_text(left)}, {expr_text(right)})", _TIGHTEST
    symbol, tightness = _INFIX[operator]
    return f"{expr_text(left, tightness)} {symbol} {expr_text(right, tightness + 1)}", tightness


def _reduce(reduce: Reduce) -> str:
    args = ", ".join(map(expr_text, reduce.args))
    over = ", ".join(binder_text(binder) for binder in reduce.binders)
    where = "" if reduce.filter is None else f" if {expr_text(reduce.filter, 1)}"
    return f"{reduce.reducer.name}({args if len(reduce.args) == 1 else f'({args})'} for {over}{where})"


def binder_text(binder: Binder) -> str:
    return f"{binder.index} in {form_text(binder.lo, 5)}..{form_text(binder.hi, 5)}"


def _form(form: Form) -> tuple[str, int]:
    """A sum with the largest steps first."""
    chosen = _one_of_two(form)
    if chosen is not None:
        return chosen, 0
    remainders, form = _remainders(form)
    terms = [(_term(atom, abs(count)), count) for atom, count in sorted(form.terms, key=lambda term: -abs(term[1]))]
    terms += [
        (_scaled(f"{form_text(left, 6)} % {form_text(right, 7)}", 6, abs(count)), count)
        for left, right, count in remainders
    ]
    parts = [("+", text) for text, count in terms if count > 0] + [("-", text) for text, count in terms if count < 0]
    if form.constant or not parts:
        number = ("-" if form.constant < 0 else "+", (str(abs(form.constant)), _TIGHTEST))
        parts.insert(0 if form.constant > 0 and parts and parts[0][0] == "-" else len(parts), number)
    (sign, (first, tightness)), *rest = parts
    if not rest:
        return (f"-{first}", 7) if sign == "-" else (first, tightness)
    return f"{'-' if sign == '-' else ''}{first}" + "".join(f" {sign} {text}" for sign, (text, _) in rest), 5


def _one_of_two(form: Form) -> str | None:
    """`c + min(1, max(x, 0))`, which is how long a balanced tile is, as `c + 1 if x > 0 else c`."""
    match form.terms:
        case ((Extreme("min", left, right), 1),):
            for one, other in ((left, right), (right, left)):
                match other.terms:
                    case ((Extreme("max", a, b), 1),) if one == forms.constant(1) and other.constant == 0:
                        x = a if b == forms.ZERO else b
                        if forms.ZERO in (a, b):
                            return f"{form.constant + 1} if {_positive(x)} else {form.constant}"
    return None


def not_negative_text(form: Form) -> str:
    """`form >= 0`, with what is subtracted on the left."""
    less, more = _parted(form)
    return f"{form_text(less, 5)} <= {form_text(more, 5)}"


def _positive(form: Form) -> str:
    less, more = _parted(form)
    return f"{form_text(less, 5)} < {form_text(more, 5)}"


def _parted(form: Form) -> tuple[Form, Form]:
    """What is subtracted in the form, and what it is subtracted from."""
    less = Form(tuple((atom, -count) for atom, count in form.terms if count < 0), max(0, -form.constant))
    return less, Form(tuple(term for term in form.terms if term[1] > 0), max(0, form.constant))


def _remainders(form: Form) -> tuple[list[tuple[Form, Form, int]], Form]:
    """`a - b*(a//b)` is `a % b`: dividends, divisors and how often, and what is left of the form."""
    found: list[tuple[Form, Form, int]] = []
    for atom, count in form.terms:
        division, divisor = _multiple(atom)
        if division is None or count % divisor:
            continue
        times = -(count // divisor)
        rest = form - Form(((atom, count),), 0) - division.dividend * times
        if len(rest.terms) < len(form.terms) - 1:
            found.append((division.dividend, division.divisor, times))
            form = rest
    return found, form


def _multiple(atom: Atom) -> tuple[FloorDiv | None, int]:
    """The division in `a//b` (with b constant) or in `b*(a//b)`, and what the atom's count is a multiple of."""
    match atom:
        case FloorDiv(_, divisor) if divisor.is_constant:
            return atom, divisor.constant
        case Product(left, right):
            for one, other in ((left, right), (right, left)):
                match one.terms:
                    case ((FloorDiv() as division, 1),) if one.constant == 0 and division.divisor == other:
                        return division, 1
    return None, 1


def _term(atom: Atom, count: int) -> tuple[str, int]:
    return _scaled(*_atom(atom), count)


def _scaled(text: str, tightness: int, count: int) -> tuple[str, int]:
    return (text, tightness) if count == 1 else (f"{count}*{text if tightness > 6 else f'({text})'}", 6)


def _atom(atom: Atom) -> tuple[str, int]:
    match atom:
        case Symbol(name):
            return name, _TIGHTEST
        case FloorDiv(dividend, divisor):
            return f"{form_text(dividend, 6)}//{form_text(divisor, 7)}", 6
        case Product(left, right):
            return f"{form_text(left, 6)}*{form_text(right, 7)}", 6
        case Extreme(kind, left, right):
            return f"{kind}({form_text(left)}, {form_text(right)})", _TIGHTEST
        case Opaque(expr):
            return _text(expr)
