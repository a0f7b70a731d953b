"""The type of the function that lowers an expression, which the parts of expression lowering take as an argument."""

from __future__ import annotations

from collections.abc import Callable

from tdl.compiler.backends.llvm.context import Context
from tdl.compiler.backends.llvm.values import Value
from tdl.language.tree import Expr

Lower = Callable[[Context, Expr], Value]
