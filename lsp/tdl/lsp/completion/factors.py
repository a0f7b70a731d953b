"""Sizes of tiles that make sense: powers of two, and at the sizes of tests and benches what divides the extent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from math import gcd

from lsprotocol.types import CompletionItemKind as Kind
from tdl.language import syntax
from tdl.language.analysis import Analysis
from tdl.language.cases import check_case
from tdl.language.scope import Declaration
from tdl.lsp.completion.offer import Offer

POWERS = tuple(1 << bits for bits in range(1, 9))
_MOST = 512


def factors(before: Declaration, texts: tuple[str, ...], analysis: Analysis) -> Iterator[Offer]:
    """Numbers for `split C.i by` and the like."""
    if texts[-1] not in ("by", "into", "ahead", ",", "[") or not isinstance(before.item, syntax.Schedule):
        return
    extents = _extents(before, texts, analysis) if texts[0] in ("split", "tile", "vectorize") else {}
    whole = gcd(*extents.values()) if extents else 0
    shown = ", ".join(f"{extent} (`{name}`)" for name, extent in extents.items())
    divisors = [each for each in range(2, min(whole, _MOST) + 1) if whole % each == 0]
    for number in sorted({*POWERS, *divisors[-12:], *divisors[:12]}):
        divides = [name for name, extent in extents.items() if extent % number == 0]
        if whole and whole % number == 0:
            detail = f"divides {shown}"
        elif divides:
            detail = f"divides the extent at {', '.join(f'`{name}`' for name in divides)}"
        else:
            detail = f"leaves a remainder of {shown}" if extents else ""
        yield Offer(str(number), Kind.Value, detail, rank=0 if divides and whole % number == 0 else 1)


def _extents(before: Declaration, texts: tuple[str, ...], analysis: Analysis) -> dict[str, int]:
    """The extent of the loop that is split, where it is a number: for all sizes, or at each test and bench."""
    from tdl.compiler.schedule.check import cases_of

    assert isinstance(before.item, syntax.Schedule)
    op = before.environment.find("callable", before.item.op.text)
    ends = [number for number, text in enumerate(texts) if text in ("by", "into")]
    loops = "".join(texts[1 : ends[0]]).split(",") if ends else []
    number = texts[ends[0] :].count(",") if ends and "[" not in texts else 0
    if op is None or not loops:
        return {}
    name = loops[min(number, len(loops) - 1)]
    found = {case.name: extent_at(before, case, name) for case in cases_of(analysis, op)}
    return {case: extent for case, extent in found.items() if extent}


@lru_cache(maxsize=256)
def extent_at(schedule: Declaration, case: Declaration, name: str) -> int | None:
    """How often a loop runs behind the last line at the sizes of a case; None where that is not one number."""
    from tdl.compiler.schedule.check import steps_at
    from tdl.compiler.schedule.names import find_loop
    from tdl.compiler.schedule.refusal import Refusal
    from tdl.compiler.schedule.views import most

    checked = check_case(case).case
    for applied in (steps_at(schedule), steps_at(schedule, case)):  # a line before may need sizes that are numbers
        if applied is None or checked is None:
            return None
        with suppress(Refusal):
            loop = find_loop(applied.nest, name)
            value, is_exact = most(loop.hi - loop.lo, checked.bound.sizes)
            return value if is_exact else None
    return None
