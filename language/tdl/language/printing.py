"""Checked expressions as text, for messages: `T[I[n], d - 1 | edge]`. Not a format to be read back."""

from __future__ import annotations

from tdl.language.tree import (
    Access,
    Binary,
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

_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%", "pow": "**", "and": "and", "or": "or",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "neg": "-", "not": "not ",
}  # fmt: skip


def text_of(expr: Expr) -> str:
    match expr:
        case Number(bool() as value):
            return str(value).lower()
        case Number(value):
            return str(value)
        case Integer(form):
            return str(form)
        case Parameter(name) | Local(name):
            return name
        case Access():
            return _access(expr)
        case Unary(operator, operand):
            sign = _SIGNS.get(operator)
            return f"{operator}({text_of(operand)})" if sign is None else f"{sign}{_part(operand)}"
        case Binary(operator, left, right):
            sign = _SIGNS.get(operator)
            if sign is None:
                return f"{operator}({text_of(left)}, {text_of(right)})"
            return f"{_part(left)} {sign} {_part(right)}"
        case Compare(operator, left, right):
            return f"{_part(left)} {_SIGNS[operator]} {_part(right)}"
        case Select(condition, then, other):
            return f"{_part(then)} if {_part(condition)} else {_part(other)}"
        case Call(function, args):
            return f"{function}({', '.join(map(text_of, args))})"
        case Convert(operand, dtype):
            return f"{dtype}({text_of(operand)})"
        case Let(_, _, body):
            return text_of(body)
        case Reduce(reducer, binders, _, args):
            names = ", ".join(binder.index.name for binder in binders)
            return f"{reducer.name}({', '.join(map(text_of, args))} for {names})"


def _access(access: Access) -> str:
    inside = ", ".join(map(str, access.subscripts))
    if access.boundary is None:
        return f"{access.tensor}[{inside}]" if access.subscripts else access.tensor
    value = access.boundary.value
    return f"{access.tensor}[{inside} | {access.boundary.mode if value is None else text_of(value)}]"


def _part(expr: Expr) -> str:
    text = text_of(expr)
    return f"({text})" if isinstance(expr, Binary | Compare | Select) or (" " in text and "[" not in text) else text
