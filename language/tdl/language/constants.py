"""Checks of module constants."""

from __future__ import annotations

from functools import lru_cache

from tdl.language import calls, expressions, syntax
from tdl.language.construct import is_compile_time
from tdl.language.report import Report, Verdict
from tdl.language.scope import MAX_DEPTH, Context, Declaration, Scope


@lru_cache(maxsize=1024)
def check_constant(declaration: Declaration) -> Verdict:
    """What is wrong with a `const`: its value is an expression over literals and other constants."""
    item = declaration.item
    assert isinstance(item, syntax.Const)
    context = Context(Report(), declaration.text, failed=declaration.depth > MAX_DEPTH)
    if context.failed:
        return context.verdict()
    scope = Scope(context, declaration.environment, {})
    typed = expressions.elaborate(item.value, scope)
    if item.type is not None:
        typed = calls.declared(typed, calls.dtype_of(item.type, scope), scope)
    if not context.failed and not is_compile_time(typed.build()):
        note = "a constant is arithmetic and functions of numbers and other constants"
        context.error("definition", f"`{item.name.text}` is not a constant", item.value.span, note)
    return context.verdict()
