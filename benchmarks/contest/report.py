"""The table, in a terminal and in Markdown.

    square 1024   142.0   1.061 1.05..1.07   1.052 1.04..1.06 numpy   missing oneDNN   packed missing

A ratio says how many times as fast ours is; behind it is its interval. Green reaches its bar, red does not, and what
has no bar is not coloured. A ratio that was not measured is shown as missing, never as a number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from rich import box
from rich.table import Table
from rich.text import Text

from contest.bars import KEYS, mean_bars, missed, row_bars, unmeasured
from contest.passes import Result
from contest.ratios import Ratio, geometric_mean
from contest.workloads import ROWS, Workload

HEADINGS = ("", "ours", "of OpenBLAS*", "of the best peer", "", "ours packed", "of the best packed", "", "bars")
MEAN = "squares, geometric mean"
NOTE = "* blur: of Halide's best automatic schedule. GFLOP/s; blur: GB/s."
_SHORT = {"baseline": "OpenBLAS", "plain": "best", "packed": "packed"}


@dataclass(frozen=True, slots=True)
class Line:
    """What a line of the table says: a row, or the geometric mean of rows."""

    name: str
    threads: int
    ratios: dict[str, Ratio | None]
    bars: dict[str, float]
    rivals: dict[str, str]
    rates: dict[str, float]

    @property
    def missed(self) -> dict[str, float]:
        return missed(self.ratios, self.bars)

    @property
    def verdict(self) -> str:
        """Met, what is below its bar, or what could not be judged."""
        below = [f"{_label(self, key)} {bar:g}" for key, bar in self.missed.items()]
        lacking = [_label(self, key) for key in unmeasured(self.ratios, self.bars)]
        if below:
            return "below " + ", ".join(below)
        if lacking:
            return f"{', '.join(lacking)} missing"
        return "met" if self.bars else "no bar"


def _label(line: Line, key: str) -> str:
    return "Halide" if key == "baseline" and line.name.startswith("blur") else _SHORT[key]


def lines(results: Sequence[Result]) -> list[Line]:
    """A line for each result in the order of the rows, and the squares' means where all of them are there."""
    found: list[Line] = []
    for threads in sorted({each.threads for each in results}):
        here = {each.row: each for each in results if each.threads == threads}
        found += [_line(workload, here[workload.name]) for workload in ROWS if workload.name in here]
        squares = [here[each.name] for each in _SQUARES if each.name in here]
        if len(squares) == len(_SQUARES):
            found.insert(len(found) - sum(each not in squares for each in here.values()), _mean(squares, threads))
    return found


_SQUARES = [row for row in ROWS if row.family == "square"]


def _line(workload: Workload, result: Result) -> Line:
    rates = {name: workload.work / median(times) / 1e9 for name, times in result.times.items()}
    ratios = {key: result.ratio(key) for key in KEYS}
    return Line(workload.name, result.threads, ratios, row_bars(workload, result.threads), result.rivals, rates)


def _mean(results: Sequence[Result], threads: int) -> Line:
    ratios: dict[str, Ratio | None] = {}
    for key in KEYS:
        rows = [rounds for each in results if (rounds := each.rounds(key)) is not None]
        ratios[key] = geometric_mean(rows) if len(rows) == len(results) else None
    return Line(MEAN, threads, ratios, mean_bars(threads), dict.fromkeys(KEYS, ""), {})


def _sections(results: Sequence[Result]) -> list[tuple[str, list[Line]]]:
    """The lines of each number of threads under their title."""
    numbers = sorted({each.threads for each in results})
    found = [[each for each in results if each.threads == number] for number in numbers]
    return [(f"{number} thread{'s'[: number > 1]}", lines(each)) for number, each in zip(numbers, found)]


def _cells(line: Line) -> list[str]:
    ours, ours_packed = (f"{line.rates[name]:.1f}" if name in line.rates else "" for name in ("ours", "ours packed"))
    baseline, plain, packed = (_shown(line, key) for key in KEYS)
    best, best_packed = (line.rivals.get(key, "") for key in ("plain", "packed"))
    return [line.name, ours, baseline, plain, best, ours_packed, packed, best_packed, line.verdict]


def _shown(line: Line, key: str) -> str:
    ratio = line.ratios[key]
    if ratio is not None:
        return f"{ratio.median:.3f} {ratio.low:.2f}..{ratio.high:.2f}"
    return "missing" if key in line.rivals else ""


def table(results: Sequence[Result], foot: Sequence[str]) -> Table:
    """For a terminal."""
    shown = Table(box=box.SIMPLE_HEAD, header_style="dim", pad_edge=False, padding=(0, 1), caption_justify="left")
    for heading in HEADINGS:
        shown.add_column(heading, justify="right" if heading.startswith("ours") else "left", vertical="top")
    for number, (title, section) in enumerate(_sections(results)):
        if number:
            shown.add_section()
        shown.add_row(Text(title, "bold"))
        for line in section:
            shown.add_row(*_styled(line), style="bold" if line.name == MEAN else "")
    shown.caption = Text("\n".join((NOTE, *foot)), "dim")
    return shown


def _styled(line: Line) -> list[Text]:
    cells = [Text(cell) for cell in _cells(line)]
    for key, number in zip(KEYS, (2, 3, 6)):
        cell = cells[number]
        if key in line.bars and line.ratios[key] is not None:
            cell.stylize("red" if key in line.missed else "green")
        cell.stylize("dim", len(cell.plain.partition(" ")[0]) if line.ratios[key] is not None else 0)
    for number in (4, 7):
        cells[number].stylize("dim")
    cells[-1].stylize("red" if line.missed else "green" if line.verdict == "met" else "dim")
    return cells


def markdown(results: Sequence[Result], foot: Sequence[str]) -> str:
    """The same table for a page."""
    rows = [list(HEADINGS), ["---"] * len(HEADINGS)]
    for title, section in _sections(results):
        rows += [[f"**{title}**", *[""] * (len(HEADINGS) - 1)], *map(_cells, section)]
    text = "\n".join("| " + " | ".join(_escaped(cell) for cell in row) + " |" for row in rows)
    return "\n".join((text, "", *(f"- {_escaped(each)}" for each in (NOTE, *foot)), ""))


def _escaped(text: str) -> str:
    return re.sub(r"(?<!\*)\*(?!\*)", r"\\*", text)


def notes(missing: Mapping[str, str], results: Sequence[Result]) -> list[str]:
    """Lines for the foot: contenders that are not installed, and what failed in which row."""
    absent = [f"not measured: {name} ({why})" for name, why in missing.items()]
    return absent + [f"{each.row}, threads: {each.threads}: {fault}" for each in results for fault in each.faults]
