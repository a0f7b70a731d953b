"""An op named on a command line, and why what is given does not fit it."""

from __future__ import annotations

import difflib
from collections.abc import Container
from typing import TYPE_CHECKING

from tdl.compiler.cli.fault import ERRORS, Fault

if TYPE_CHECKING:
    from tdl.language.analysis import Analysis
    from tdl.language.binding import BindError
    from tdl.language.scope import Declaration

SET = "Sizes and compile-time parameters: --set N=64 --set T=f64 --set S=[3,50]."


def find_op(analysis: Analysis, name: str) -> Declaration:
    """The op of that name, the file's own or imported."""
    ops = analysis.module.ops
    if name in ops:
        return ops[name]
    close = difflib.get_close_matches(name, ops, 1)
    known = f"it has {', '.join(ops)}" if ops else "it has none"
    raise Fault(f"{analysis.source.path} has no op `{name}`", f"did you mean `{close[0]}`?" if close else known)


def refused(op: Declaration, error: BindError, given: Container[str]) -> Fault:
    """The language's refusal of arguments in the words of a command line; `given` are the inputs that were named."""
    message = error.message if f"`{op.name}`" in error.message else f"{op.name}: {error.message}"
    return Fault(message, _remedy(error, given), ERRORS)


def _remedy(error: BindError, given: Container[str]) -> str:
    if error.code == "dtype" and error.argument in given:
        return "--cast converts arrays to the declared dtypes"
    is_open = "not known" in error.message or "not fixed" in error.message
    if error.argument is not None and error.argument not in given and is_open:
        return f"give an input that has it, or --set {error.argument}=..."
    return "; ".join(error.notes)
