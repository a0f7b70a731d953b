"""What a line may go on with, by trying it: the compiler is asked of each line that an offer would make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from tdl.language import syntax
from tdl.language.analysis import Analysis
from tdl.language.parse import parse_item
from tdl.language.scope import Declaration
from tdl.lsp.completion.offer import Offer


def legal(
    before: Declaration, analysis: Analysis, typed: str, offers: Iterable[Offer], endings: Iterable[str] = ("",)
) -> Iterator[Offer]:
    """The offers with which the line that was `typed` so far, behind what is `before`, is legal with some ending."""
    from tdl.compiler.schedule.check import cases_of

    item = before.item
    assert isinstance(item, syntax.Schedule)
    op = before.environment.find("callable", item.op.text)
    cases = () if op is None else cases_of(analysis, op)
    for each in offers:
        if any(_is_legal(before, f"{typed}{each.label}{ending}", cases) for ending in endings):
            yield each


@lru_cache(maxsize=1024)
def _is_legal(before: Declaration, text: str, cases: tuple[Declaration, ...]) -> bool:
    """Whether a line is legal for all sizes, or where that cannot be said, at those of every test and bench."""
    from tdl.compiler.schedule.check import legality_after

    line = _line(text)
    more = legality_after(before)
    if line is None or more is None:
        return True
    step = more(line)
    if step.refusal is None or not step.is_open:
        return step.refusal is None
    found = [at_case(line).refusal for case in cases if (at_case := legality_after(before, case)) is not None]
    return all(refusal is None for refusal in found)


@lru_cache(maxsize=1024)
def _line(text: str) -> syntax.Line | None:
    """A line by itself."""
    parsed = parse_item(f"schedule _ {{\n{text}\n}}")
    item = parsed.item
    if not isinstance(item, syntax.Schedule) or len(item.body) != 1 or not isinstance(item.body[0], syntax.Line):
        return None
    return item.body[0]


@lru_cache(maxsize=256)
def range_of(before: Declaration, name: str) -> str | None:
    """What a loop runs over behind the last line, for all sizes; None where it is not known."""
    from tdl.compiler.schedule.check import steps_at
    from tdl.compiler.schedule.names import find_loop
    from tdl.compiler.schedule.refusal import Refusal
    from tdl.compiler.schedule.views import range_of as range_in

    applied = steps_at(before)
    if applied is None:
        return None
    try:
        return range_in(applied.nest, find_loop(applied.nest, name))
    except Refusal:
        return None
