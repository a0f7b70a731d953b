"""Integer forms: the one algebra of sizes, index ranges and subscripts.

A `Form` is a sum of integer multiples of atoms plus a constant, in canonical order, so that `H + 2*pad - R` and
`2*pad - R + H` are the same value. Atoms are symbols, floor divisions, least and greatest of two, products, and opaque
data (`I[n]`). A form is *quasi-affine*, and may be asked of isl, when its only atoms are symbols, divisions by positive
constants, and least and greatest of quasi-affine forms.

    (2*i + 4)//2        becomes   i + 2
    (n - 1)//2 + 1      becomes   (n + 1)//2
    p % 8               becomes   p - 8*(p//8)

All values are `i64`; sums and products wrap like the machine's, which the rewriting respects.
Forms and atoms are named tuples, since they are hashed and compared more than anything else is done with them; a `tag`
keeps atoms of different kinds apart.

It does not decide anything that needs context (whether `N - 2 >= 0`): that is `sets.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from math import gcd
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from tdl.language.tree import Expr

SymbolKind = Literal["index", "dim", "param", "unknown"]


class Symbol(NamedTuple):
    """An index, a dimension or an integer parameter; names are unique within an op's scope, so content is identity.

    An `unknown` stands for a range end or a size that is still to be inferred (`ranges.py`); none is left in a checked
    program.
    """

    name: str
    kind: SymbolKind

    def __str__(self) -> str:
        return self.name


class FloorDiv(NamedTuple):
    """`dividend // divisor`, rounding down; the divisor may be anything, and zero raises when it is evaluated."""

    dividend: Form
    divisor: Form
    tag: Literal["//"] = "//"

    def __str__(self) -> str:
        return f"{_grouped(self.dividend)}//{_grouped(self.divisor, '*', '//')}"


class Extreme(NamedTuple):
    """`min(left, right)` or `max(left, right)`."""

    kind: Literal["min", "max"]
    left: Form
    right: Form

    def __str__(self) -> str:
        return f"{self.kind}({_written(self.left)}, {_written(self.right)})"


class Product(NamedTuple):
    """`left * right` where neither is a constant."""

    left: Form
    right: Form
    tag: Literal["*"] = "*"

    def __str__(self) -> str:
        return f"{_grouped(self.left, '//')}*{_grouped(self.right, '//')}"


class Opaque(NamedTuple):
    """A value read from data, of dtype i64."""

    expr: Expr

    def __str__(self) -> str:
        from tdl.language.printing import text_of

        return text_of(self.expr)


Atom = Symbol | FloorDiv | Extreme | Product | Opaque


class Form(NamedTuple):
    """`terms` are (atom, non-zero coefficient) in canonical order."""

    terms: tuple[tuple[Atom, int], ...]
    constant: int

    @property
    def is_constant(self) -> bool:
        return not self.terms

    @property
    def symbol(self) -> Symbol | None:
        """The symbol this form is, if it is just one."""
        match self.terms:
            case ((Symbol() as symbol, 1),) if self.constant == 0:
                return symbol
        return None

    @property
    def is_affine(self) -> bool:
        """Whether the form is quasi-affine."""
        return all(_is_affine(atom) for atom, _ in self.terms)

    def symbols(self) -> tuple[Symbol, ...]:
        """Every symbol in the form, in order, with repetitions; also those inside opaque data."""
        return _symbols_of(self) if self.terms else ()

    def mentions(self, symbol: Symbol) -> bool:
        return any(_mentions(atom, symbol) for atom, _ in self.terms)

    def __add__(self, other: Form | int) -> Form:  # type: ignore[override]
        if isinstance(other, int):
            return Form(self.terms, self.constant + other)
        if not other.terms:
            return Form(self.terms, self.constant + other.constant)
        if not self.terms:
            return Form(other.terms, self.constant + other.constant)
        sums = dict(self.terms)
        for atom, coefficient in other.terms:
            sums[atom] = sums.get(atom, 0) + coefficient
        return _form(sums, self.constant + other.constant)

    def __neg__(self) -> Form:
        return self * -1

    def __sub__(self, other: Form | int) -> Form:
        if isinstance(other, int):
            return Form(self.terms, self.constant - other)
        if not other.terms:
            return Form(self.terms, self.constant - other.constant)
        sums = dict(self.terms)
        for atom, coefficient in other.terms:
            sums[atom] = sums.get(atom, 0) - coefficient
        return _form(sums, self.constant - other.constant)

    def __mul__(self, factor: int) -> Form:  # type: ignore[override]
        if factor == 0:
            return ZERO
        if factor == 1:
            return self
        return Form(tuple([(atom, factor * coefficient) for atom, coefficient in self.terms]), self.constant * factor)

    def __str__(self) -> str:
        rest, remainders = _without_remainders(self)
        named = [(_factor(atom, coefficient), coefficient) for atom, coefficient in rest.terms] + remainders
        parts = [("+" if c > 0 else "-", text) for text, c in sorted(named, key=lambda each: each[1] < 0)]
        if rest.constant or not parts:
            parts.append(("+" if rest.constant >= 0 else "-", str(abs(rest.constant))))
        first_sign, first = parts[0]
        head = first if first_sign == "+" else f"-({first})" if "//" in first else f"-{first}"
        return " ".join([head, *(f"{sign} {text}" for sign, text in parts[1:])])


ZERO = Form((), 0)


def constant(value: int) -> Form:
    return Form((), value)


def symbol(atom: Symbol) -> Form:
    return Form(((atom, 1),), 0)


def opaque(expr: Expr) -> Form:
    return Form(((Opaque(expr), 1),), 0)


def product(left: Form, right: Form) -> Form:
    """`left * right`. What divides by zero is kept even where it is taken zero times: it raises."""
    for factor, other in ((left, right), (right, left)):
        if factor.is_constant and not (factor.constant == 0 and _divides_by_zero(other)):
            return other * factor.constant
    if _written(right) < _written(left):
        left, right = right, left
    return _form({Product(left, right): 1}, 0)


def is_small(*of: Form, most: int = 200) -> bool:
    """Whether the forms together have few atoms, so that they can be put in a product: one squared often cannot."""
    budget = most
    pending = list(of)
    while pending and budget > 0:
        for atom, _ in pending.pop().terms:
            budget -= 1
            if isinstance(atom, FloorDiv | Extreme | Product):
                pending += [atom.dividend, atom.divisor] if isinstance(atom, FloorDiv) else [atom.left, atom.right]
    return budget > 0


def floor_div(dividend: Form, divisor: Form) -> Form:
    """`dividend // divisor` rounded down. Multiples of a constant divisor are taken out of the division."""
    if not divisor.is_constant or divisor.constant == 0:
        return _form({FloorDiv(dividend, divisor): 1}, 0)
    by = divisor.constant
    if by < 0:
        dividend, by = -dividend, -by
    outside = {atom: coefficient // by for atom, coefficient in dividend.terms if coefficient % by == 0}
    inside = {atom: coefficient for atom, coefficient in dividend.terms if coefficient % by}
    whole = _form(outside, dividend.constant // by)
    rest = dividend.constant % by
    if not inside:
        return whole
    shared = gcd(by, *inside.values())
    reduced = _form({atom: coefficient // shared for atom, coefficient in inside.items()}, rest // shared)
    return whole + _form({FloorDiv(reduced, constant(by // shared)): 1}, 0)


def modulo(dividend: Form, divisor: Form) -> Form:
    """`dividend % divisor` with the sign of the divisor: `dividend - divisor * (dividend // divisor)`."""
    return dividend - product(divisor, floor_div(dividend, divisor))


def extreme(kind: Literal["min", "max"], left: Form, right: Form) -> Form:
    difference = left - right
    if difference.is_constant:
        return left if (difference.constant >= 0) == (kind == "max") else right
    if _written(right) < _written(left):
        left, right = right, left
    return _form({Extreme(kind, left, right): 1}, 0)


def substitute(form: Form, values: Mapping[Symbol, Form], data: Callable[[Expr], Expr] | None = None) -> Form:
    """The form with symbols replaced, in its data too; `data` rewrites the expressions of opaque atoms instead."""
    sums: dict[Atom, int] = {}
    total = form.constant
    for atom, coefficient in form.terms:
        part = _substitute(atom, values, data)
        total += part.constant * coefficient
        for each, times in part.terms:
            sums[each] = sums.get(each, 0) + times * coefficient
    return _form(sums, total) if sums else constant(total)


def evaluate(form: Form, values: Mapping[Symbol, int]) -> int:
    """The form's value where every symbol has one. Raises KeyError for one that has none, ZeroDivisionError."""
    result = substitute(form, {key: constant(value) for key, value in values.items()})
    if not result.is_constant:
        if _divides_by_zero(result):
            raise ZeroDivisionError(str(form))
        raise KeyError(str(next(iter(result.symbols()), result)))
    return result.constant


def _substitute(atom: Atom, values: Mapping[Symbol, Form], data: Callable[[Expr], Expr] | None) -> Form:
    match atom:
        case Symbol():
            found = values.get(atom)
            return symbol(atom) if found is None else found
        case FloorDiv(dividend, divisor):
            return floor_div(substitute(dividend, values, data), substitute(divisor, values, data))
        case Extreme(kind, left, right):
            return extreme(kind, substitute(left, values, data), substitute(right, values, data))
        case Product(left, right):
            return product(substitute(left, values, data), substitute(right, values, data))
        case Opaque(expr):
            return opaque(_substitute_data(expr, values) if data is None else data(expr))


def _substitute_data(expr: Expr, values: Mapping[Symbol, Form]) -> Expr:
    from tdl.language.tree import map_children

    def visit(each: Expr) -> Expr:
        return map_children(each, visit, lambda form: substitute(form, values, visit))

    return visit(expr)


def _divides_by_zero(form: Form) -> bool:
    for atom, _ in form.terms:
        match atom:
            case FloorDiv(left, right) | Extreme(_, left, right) | Product(left, right):
                is_division = isinstance(atom, FloorDiv) and right == ZERO
                if is_division or _divides_by_zero(left) or _divides_by_zero(right):
                    return True
    return False


def _form(sums: dict[Atom, int], constant: int) -> Form:
    terms = [(atom, coefficient) for atom, coefficient in sums.items() if coefficient]
    if len(terms) > 1:
        terms.sort(key=_rank)
    return Form(tuple(terms), constant)


def _rank(term: tuple[Atom, int]) -> str:
    """What the canonical order goes by: the atom's text."""
    atom = term[0]
    return atom.name if isinstance(atom, Symbol) else _written(atom)


@lru_cache(maxsize=8192)
def _written(what: Atom | Form) -> str:
    return str(what)


def _is_affine(atom: Atom) -> bool:
    match atom:
        case Symbol():
            return True
        case FloorDiv(dividend, divisor):
            return divisor.is_constant and divisor.constant > 0 and dividend.is_affine
        case Extreme(_, left, right):
            return left.is_affine and right.is_affine
        case Product() | Opaque():
            return False


@lru_cache(maxsize=8192)
def _symbols_of(form: Form) -> tuple[Symbol, ...]:
    return tuple([symbol for atom, _ in form.terms for symbol in _symbols(atom)])


def _symbols(atom: Atom) -> tuple[Symbol, ...]:
    match atom:
        case Symbol():
            return (atom,)
        case FloorDiv(left, right) | Extreme(_, left, right) | Product(left, right):
            return left.symbols() + right.symbols()
        case Opaque(expr):
            from tdl.language.tree import symbols_of

            return tuple(symbols_of(expr))


def _mentions(atom: Atom, symbol: Symbol) -> bool:
    match atom:
        case Symbol():
            return atom == symbol
        case FloorDiv(left, right) | Extreme(_, left, right) | Product(left, right):
            return left.mentions(symbol) or right.mentions(symbol)
        case Opaque():
            return symbol in _symbols(atom)


def _without_remainders(form: Form) -> tuple[Form, list[tuple[str, int]]]:
    """For printing: every `c*x - c*k*(x//k)` taken out of the form and written `x % k`."""
    found: list[tuple[str, int]] = []
    for atom, coefficient in form.terms:
        division = _division(atom)
        if division is None:
            continue
        quotient, scale = division
        times, over = divmod(-coefficient, scale)
        have = dict(form.terms)
        if not over and all(have.get(part) == times * c for part, c in quotient.dividend.terms):
            text = f"{_grouped(quotient.dividend)} % {_grouped(quotient.divisor, '*', '//')}"
            found.append((text if times == 1 else f"({text})" if times == -1 else f"{abs(times)}*({text})", times))
            form = form - (quotient.dividend - Form(((atom, scale),), 0)) * times
    return form, found


def _division(atom: Atom) -> tuple[FloorDiv, int] | None:
    """`x//k` and the number of times that an atom must be taken to make it `k*(x//k)`."""
    match atom:
        case FloorDiv(_, divisor) if divisor.is_constant and divisor.constant > 1:
            return atom, divisor.constant
        case Product(Form(((FloorDiv() as quotient, 1),), 0), by) | Product(
            by, Form(((FloorDiv() as quotient, 1),), 0)
        ):
            return (quotient, 1) if quotient.divisor == by else None
    return None


def _factor(atom: Atom, coefficient: int) -> str:
    text = _written(atom)
    if abs(coefficient) == 1:
        return text
    return f"{abs(coefficient)}*({text})" if isinstance(atom, FloorDiv) else f"{abs(coefficient)}*{text}"


def _grouped(form: Form, *weaker: str) -> str:
    """The form's text, in parentheses if it has a space or one of the operators in it."""
    text = _written(form)
    return f"({text})" if any(sign in text for sign in (" ", *weaker)) else text
