"""Open types and their unification: what dtype a literal or an undeclared tensor has.

    0.5 * X[i]        the literal becomes X's dtype
    t[i] = 1          t is i64, unless another use says otherwise

An `Open` type is a cell that unification fills. What stays open becomes i64 (integer literals) or f32 (float literals).
"""

from __future__ import annotations

from typing import Literal

from tdl.language.dtypes import BOOL, F32, I64, DType, Type, TypeVariable, belongs

Demand = Literal["any", "number", "float", "integer"]

_FIT: dict[tuple[Demand, Demand], Demand] = {
    ("any", "any"): "any",
    ("number", "number"): "number",
    ("float", "float"): "float",
    ("integer", "integer"): "integer",
    ("number", "float"): "float",
    ("number", "integer"): "integer",
}


class Open:
    """A type not known yet. `demand` says what it may become; `is_tensor`, that a tensor's definitions will tell."""

    __slots__ = ("demand", "is_tensor", "link")

    def __init__(self, demand: Demand, *, is_tensor: bool = False) -> None:
        self.demand: Demand = demand
        self.is_tensor = is_tensor
        self.link: AnyType | None = None


class Unknown:
    """The type of something already reported as wrong: it agrees with everything."""


UNKNOWN = Unknown()
AnyType = DType | TypeVariable | Open | Unknown


def follow(type: AnyType) -> AnyType:
    """The type a chain of filled cells ends in."""
    while isinstance(type, Open) and type.link is not None:
        type = type.link
    return type


def unify(left: AnyType, right: AnyType) -> AnyType | None:
    """Make two types one; None where they do not agree (and nothing is changed)."""
    left, right = follow(left), follow(right)
    if left is right or isinstance(right, Unknown):
        return left
    if isinstance(left, Unknown):
        return right
    if isinstance(left, Open):
        return _fill(left, right)
    if isinstance(right, Open):
        return _fill(right, left)
    return left if left == right else None


def demand(type: AnyType, wanted: Demand) -> bool:
    """Narrow a type to a class, and say whether it is of it."""
    type = follow(type)
    if isinstance(type, Unknown):
        return True
    if isinstance(type, Open):
        return _fill(type, Open(wanted)) is not None
    return satisfies(type, wanted)


def satisfies(type: Type, wanted: Demand) -> bool:
    """Whether a known type is of a class. A type parameter is when all it admits are."""
    if wanted == "any":
        return True
    if isinstance(type, TypeVariable):
        return type.bound == wanted or (wanted == "number" and type.bound in ("float", "integer"))
    return belongs(type, wanted)


def settle(type: AnyType) -> Type:
    """The final type: what is still open takes its default."""
    type = follow(type)
    if isinstance(type, Open):
        return F32 if type.demand == "float" else I64
    return F32 if isinstance(type, Unknown) else type


def is_bool(type: AnyType) -> bool:
    return follow(type) == BOOL


def describe(type: AnyType) -> str:
    type = follow(type)
    if isinstance(type, Open):
        return {"any": "an open type", "number": "a number", "float": "a float", "integer": "an integer"}[type.demand]
    return "unknown" if isinstance(type, Unknown) else str(type)


def _fill(cell: Open, value: AnyType) -> AnyType | None:
    if isinstance(value, Open):
        narrowest = _narrowest(cell.demand, value.demand)
        if narrowest is None:
            return None
        value.demand = narrowest
        value.is_tensor |= cell.is_tensor
    elif isinstance(value, Unknown) or not satisfies(value, cell.demand):
        return None
    cell.link = value
    return value


def _narrowest(left: Demand, right: Demand) -> Demand | None:
    if left == "any":
        return right
    if right == "any":
        return left
    return _FIT.get((left, right)) or _FIT.get((right, left))
