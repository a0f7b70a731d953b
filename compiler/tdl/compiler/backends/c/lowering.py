"""The type of the function that lowers an expression, which the parts of expression lowering take as an argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tdl.compiler.backends.c.values import Value
from tdl.language.tree import Expr

if TYPE_CHECKING:
    from tdl.compiler.backends.c.context import Code

Lower = Callable[["Code", Expr], Value]
