"""How long the loops are that a line of a schedule makes.

split C.i by 8 -> io, ii        io: (M + 7)//8, ii: ≤8
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from tdl.compiler.schedule.bounds import greatest_value
from tdl.compiler.schedule.check import steps_at
from tdl.compiler.schedule.choose import ancestors
from tdl.compiler.schedule.text import form_text
from tdl.compiler.schedule.tree import Loop
from tdl.compiler.schedule.views import extent_of, loops_made, most
from tdl.language import syntax
from tdl.language.cases import check_case
from tdl.language.forms import Form
from tdl.language.scope import Declaration
from tdl.lsp.hints.hint import Hint

_SHOWN = 4


@lru_cache(maxsize=256)
def hints_of_schedule(declaration: Declaration, cases: tuple[Declaration, ...]) -> tuple[Hint, ...]:
    """One behind each line that makes loops; `cases` are the tests and benches of its op."""
    item = declaration.item
    assert isinstance(item, syntax.Schedule)
    is_for_gpu = item.target is not None and "gpu" in ancestors(item.target.text, declaration)
    applied = None if is_for_gpu else steps_at(declaration)
    if applied is None:
        return ()
    found: list[Hint] = []
    for line, before, after in zip(item.body, applied.steps, applied.steps[1:]):
        loops = loops_made(before.nest, after.nest) if after.refusal is None else ()
        if loops and isinstance(line, syntax.Line):
            extents = {loop_name(loop, line): extent_of(after.nest, loop) for loop in loops}
            tooltip = "\n".join(_at_cases(extents, cases))
            found.append(Hint(line.span.end, _label(extents), "loops", tooltip))
    return tuple(found)


def loop_name(loop: Loop, line: syntax.Line) -> str:
    """A loop as the line that made it calls it, or with its stage."""
    return loop.name if loop.name in {name.text for name in line.results} else loop.label


def _label(extents: Mapping[str, Form]) -> str:
    shown = [f"{name}: {_extent(extent)}" for name, extent in extents.items()]
    return ", ".join((*shown[:_SHOWN], *(["..."] if len(shown) > _SHOWN else [])))


def _extent(form: Form) -> str:
    """The extent, or what it is at most where that is shorter to say."""
    most_known = greatest_value(form)
    if form.is_constant or most_known is None:
        return form_text(form)
    return f"≤{most_known}"


def _at_cases(extents: Mapping[str, Form], cases: tuple[Declaration, ...]) -> Iterator[str]:
    """The extents at the sizes of each case."""
    for declaration in cases:
        case = check_case(declaration).case
        if case is None:
            continue
        texts = []
        for name, extent in extents.items():
            value, is_exact = most(extent, case.bound.sizes)
            if value is not None:
                texts.append(f"{name}: {'' if is_exact else '≤'}{value}")
        if texts:
            yield f"- `{case.name}`: {', '.join(texts)}"
