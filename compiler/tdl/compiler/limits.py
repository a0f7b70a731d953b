"""What keeps a nest from being faster, in words, each with the schedule line to blame.

    compute   computing takes at least 16 ms, moving 12.6 MB from memory 1 ms: computing decides
    spills    the hot loop moves 20 values between registers and the stack in each round    `unroll ii`

It is a reckoning with what the compiler knows: footprints, extents, the machine, and the hot loop of the assembly where
that was made. Nothing is run. Of several limits the first is the one to look at; none means that nothing was found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Literal

from tdl.compiler.assembly import Loop as HotLoop
from tdl.compiler.schedule.footprints import Footprint, Interval, extent, interval
from tdl.compiler.schedule.tree import Copy, Initial, Loop, Nest
from tdl.compiler.schedule.walk import Path, leaves_of
from tdl.compiler.work import Work
from tdl.language.forms import Symbol

Kind = Literal["spills", "vectors", "tail", "cores", "memory", "compute"]

_MOST_POINTS = 4096
_GOOD_SHARE = 0.95  # of lanes or cores that have something to do

Footprints = Mapping[Symbol | None, tuple[Footprint, ...]]


@dataclass(frozen=True, slots=True)
class Limit:
    """`line` numbers the line of the schedule to blame, from 0; None where none is to."""

    kind: Kind
    words: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """What limits are found by. `peak` and `bandwidth` are None where the machine was never measured; `hot` is None
    where no assembly was made. Rates are per second and thread."""

    nest: Nest
    footprints: Footprints
    work: Work | None
    vector_bits: int
    threads: int
    caches: tuple[int, ...]
    peak: float | None = None
    bandwidth: float | None = None
    hot: HotLoop | None = None
    has_assembly: bool = False

    @property
    def paths(self) -> tuple[Path, ...]:
        """The loops around each statement that computes something, the deepest first."""
        found = []
        for path, leaf in leaves_of(self.nest.body):
            stage = self.nest.stages.get(leaf.stage)
            if stage is not None and not isinstance(stage.work, Copy | Initial):
                found.append(path)
        return tuple(sorted(found, key=len, reverse=True))


def limits(facts: Facts) -> tuple[Limit, ...]:
    """All limits that are found, the one to look at first before the others."""
    return (*_spills(facts), *_vectors(facts), *_tail(facts), *_cores(facts), *_roofline(facts))


def traffic(facts: Facts, cache: int) -> tuple[int, Loop | None] | None:
    """Bytes that come into a cache of a size, and the loop that most of them come again in; None where sizes are open.

    Where an iteration of a loop does not fit, and one of the loop in it does, each of its iterations brings in what it
    touches once.
    """
    if None not in facts.footprints:
        return None
    turning: dict[Symbol | None, tuple[Path, Loop | None]] = {}
    for path, _ in leaves_of(facts.nest.body):
        at = _turning(facts, path, cache)
        turning[None if at < 0 else path[at].symbol] = path[: at + 1], path[at] if at >= 0 else None
    total, most, blamed = 0, 0, None
    for symbol, (path, loop) in turning.items():
        rounds = _rounds(path)
        if rounds is None:
            return None
        moved = rounds * sum(each.bytes for each in facts.footprints.get(symbol, ()))
        total += moved
        if moved > most:
            most, blamed = moved, loop
    return total, blamed


def _turning(facts: Facts, path: Path, cache: int) -> int:
    """The place of the innermost loop an iteration of which does not fit; -1 where the loops as a whole are it."""
    found = -1
    for at, loop in enumerate(path):
        touched = facts.footprints.get(loop.symbol)
        if touched is not None and sum(each.bytes for each in touched) > cache:
            found = at
    return found


def _rounds(path: Path) -> int | None:
    """How often the body of the last loop of a path runs, at most."""
    ranges: dict[Symbol, Interval] = {}
    rounds = 1
    for loop in path:
        count, ends = extent(loop, ranges), interval(loop.lo, ranges)
        if count is None or ends is None:
            return None
        ranges[loop.symbol] = ends[0], ends[0]
        rounds *= count
    return rounds


# ---- the limits


def _spills(facts: Facts) -> Iterator[Limit]:
    count = facts.hot.counts.get("spill", 0) if facts.hot is not None else 0
    if count:
        words = (
            f"the hot loop moves {count} value{'s' * (count != 1)} between registers and the stack in each round: "
            "its tile needs more registers than there are"
        )
        unrolled = _line_of(facts, "unrolled")
        yield Limit("spills", words, _line_of(facts, "vector") if unrolled is None else unrolled)


def _vectors(facts: Facts) -> Iterator[Limit]:
    width = facts.hot.width if facts.hot is not None else 0
    if facts.has_assembly and not width:
        yield Limit("vectors", "the code computes one element at a time: no loop of it uses vectors")
    elif facts.has_assembly and width < facts.vector_bits:
        words = f"the hot loop uses vectors of {width} bits; the machine has {facts.vector_bits}"
        yield Limit("vectors", words, _line_of(facts, "vector"))
    elif not facts.has_assembly and facts.paths and not _of_kind(facts, "vector"):
        yield Limit("vectors", "no loop is a vector: whether elements are computed together is left to LLVM")


def _tail(facts: Facts) -> Iterator[Limit]:
    for path in facts.paths:
        for at, loop in enumerate(path):
            share = _lanes_used(path[:at], loop) if loop.kind == "vector" else None
            if share is not None and share < _GOOD_SHARE:
                words = (
                    f"{share * 100:.0f}% of the lanes of `{loop.name}` have an element: part of its last vector idles"
                )
                yield Limit("tail", words, _line(loop))
                return


def _cores(facts: Facts) -> Iterator[Limit]:
    if facts.threads <= 1 or not facts.paths:
        return
    loop = next((loop for path in facts.paths for loop in path if loop.kind == "parallel"), None)
    if loop is None:
        yield Limit("cores", f"no loop is parallel: one of {facts.threads} cores computes")
        return
    count = extent(loop, {})
    if count:
        share = count / (ceil(count / facts.threads) * facts.threads)
        if share < _GOOD_SHARE:
            busy = f"{share * 100:.0f}% of them are at work"
            words = f"`{loop.name}` has {count} iterations for {facts.threads} cores: {busy}"
            yield Limit("cores", words, _line(loop))


def _roofline(facts: Facts) -> Iterator[Limit]:
    moved = traffic(facts, facts.caches[-1]) if facts.caches else None
    if facts.work is None or facts.peak is None or facts.bandwidth is None or moved is None:
        return
    count, loop = moved
    computing, moving = facts.work.operations / (facts.peak * facts.threads), count / facts.bandwidth
    if moving > computing:
        again = "" if loop is None else f"; what a round of `{loop.name}` touches is more than the caches hold"
        words = f"moving {size(count)} from memory takes at least {_time(moving)}, computing {_time(computing)}{again}"
        yield Limit("memory", words, None if loop is None else _line(loop))
    else:
        words = f"computing takes at least {_time(computing)}, moving {size(count)} from memory {_time(moving)}"
        yield Limit("compute", words)


# ---- what they ask


def _of_kind(facts: Facts, kind: str) -> list[Loop]:
    return [loop for path in facts.paths for loop in reversed(path) if loop.kind == kind]


def _line_of(facts: Facts, kind: str) -> int | None:
    """The last line that made a loop of a kind."""
    return max((line for loop in _of_kind(facts, kind) if (line := _line(loop)) is not None), default=None)


def _line(loop: Loop) -> int | None:
    return loop.line if loop.line >= 0 else None


def _lanes_used(around: Path, loop: Loop) -> float | None:
    """The share of a vector's lanes that have an element, over all iterations of the loops around."""
    needed = {loop.symbol}
    chain: list[Loop] = []
    for each in (loop, *reversed(around)):
        if each.symbol in needed:
            chain.insert(0, each)
            needed |= {*each.lo.symbols(), *each.hi.symbols()}
    counts = _lengths(chain, {})
    if counts is None or not counts:
        return None
    return sum(counts) / (len(counts) * max(counts)) if max(counts) else None


def _lengths(chain: list[Loop], ranges: dict[Symbol, Interval]) -> list[int] | None:
    """The lengths of the innermost loop of a chain; None where there are too many, or one is open."""
    first, *rest = chain
    low, high = interval(first.lo, ranges), interval(first.hi, ranges)
    if low is None or high is None:
        return None
    if not rest:
        return [max(high[1] - low[0], 0)]
    found: list[int] = []
    for value in range(low[0], high[1]):
        more = _lengths(rest, {**ranges, first.symbol: (value, value)})
        if more is None or len(found) + len(more) > _MOST_POINTS:
            return None
        found += more
    return found


def size(count: float) -> str:
    """`12.6 MB`."""
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count:.0f} B"


def _time(seconds: float) -> str:
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds * 1e9:.3g} ns"
