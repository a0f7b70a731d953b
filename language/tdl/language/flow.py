"""What is known of a value between ops before sizes are: its dtype, and its shape as far as the graph fixes it."""

from __future__ import annotations

from dataclasses import dataclass

from tdl.language import syntax
from tdl.language.dtypes import Type
from tdl.language.forms import Form
from tdl.language.scope import Scope


@dataclass(frozen=True)
class Trouble:
    """Why two values are not the same."""

    code: str
    message: str


@dataclass(frozen=True)
class Flow:
    """A value. `dtype` and `shape` are None where nothing fixes them; so is one dimension of a shape."""

    dtype: Type | None
    shape: tuple[Form | None, ...] | None

    def __str__(self) -> str:
        """`f32[B, 10]`, with `?` for what is not known."""
        if self.shape is None:
            return f"{self.dtype or '?'}[...]"
        sizes = ", ".join("?" if size is None else str(size) for size in self.shape)
        return f"{self.dtype or '?'}[{sizes}]" if self.shape else str(self.dtype or "?")

    @staticmethod
    def literal(expr: syntax.Expr, scope: Scope) -> Flow | None:
        """A number given for a scalar input; None for any other expression."""
        match expr:
            case syntax.Number() | syntax.Constant() | syntax.Unary("-", syntax.Number() | syntax.Constant()):
                return Flow(None, ())
            case syntax.Ref() if expr.text not in scope.names and scope.environment.find("value", expr.text):
                return Flow(None, ())
        return None

    def disagreement(self, given: Flow, what: str) -> Trouble | None:
        """Why a value cannot stand where this one is declared."""
        if self.dtype is not None and given.dtype is not None and self.dtype != given.dtype:
            return Trouble("dtype", f"{what} is {self.dtype}, and is given {given.dtype}")
        if self.shape is None or given.shape is None:
            return None
        if len(self.shape) != len(given.shape):
            rank = "1 dimension" if len(self.shape) == 1 else f"{len(self.shape)} dimensions"
            return Trouble("rank", f"{what} has {rank}, and is given a value with {len(given.shape)}")
        for axis, (wanted, actual) in enumerate(zip(self.shape, given.shape)):
            if wanted is None or actual is None:
                continue
            difference = wanted - actual
            if difference.is_constant and difference.constant:
                return Trouble("shape", f"dimension {axis} of {what} is {wanted}, and is given {actual}")
        return None
