"""What all cases of a sweep came to: counts per primitive and per kind of op, and which seeds they stand for.

A few rows of JSON, kept beside the tests, so that a sweep goes on where the last one stopped, at whatever commit. A
case that failed is in no count until it passes.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.compiler.schedule.generated.referee import VERDICTS, Report

Rows = dict[str, Counter[str]]

DATA = "data"
"""The kind of ops whose subscripts, ranges or filters are data."""


@dataclass
class Range:
    """Seeds that were judged at one state of the code."""

    first: int
    end: int
    commit: str


@dataclass
class Totals:
    """Counts of cases and of lines by verdict, for each primitive and for each kind of op."""

    ranges: list[Range] = field(default_factory=list)
    failures: dict[int, list[str]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    primitives: Rows = field(default_factory=dict)
    kinds: Rows = field(default_factory=dict)
    causes: Rows = field(default_factory=dict)
    """Of conservative refusals: their messages without names and numbers, by primitive."""

    @property
    def next(self) -> int:
        """The seed to go on with."""
        return max((each.end for each in self.ranges), default=0)

    def began(self, commit: str) -> None:
        """What is added from now on was judged at this state of the code."""
        if not self.ranges or self.ranges[-1].commit != commit or self.ranges[-1].end != self.next:
            self.ranges.append(Range(self.next, self.next, commit))

    def judged(self, report: Report) -> None:
        """Adds the case of the next seed."""
        assert report.case.seed == self.next
        self.ranges[-1].end += 1
        self.add(report)

    def add(self, report: Report) -> None:
        """Adds a case; one that failed before, if it passes now."""
        if report.failures:
            self.failures[report.case.seed] = report.failures
            return
        self.failures.pop(report.case.seed, None)
        self.counts.update(cases=1, compiled=int(report.is_compiled))
        for kind in report.case.op.kinds:
            _row(self.kinds, kind)["cases"] += 1
        for verb in {line.split()[0] for line in report.case.lines}:
            _row(self.primitives, verb)["cases"] += 1
        for finding in report.findings:
            self.counts[finding.verdict] += 1
            _row(self.primitives, finding.verb)[finding.verdict] += 1
            for kind in report.case.op.kinds:
                _row(self.kinds, kind)[finding.verdict] += 1
            if finding.verdict == "conservative":
                _row(self.causes, finding.verb)[_anonymous(finding.message)] += 1

    def merge(self, other: Totals) -> None:
        """Adds what a sweep of other seeds came to. Raises ValueError where both have some seed."""
        for each in other.ranges:
            if any(each.first < own.end and own.first < each.end for own in self.ranges):
                raise ValueError(f"seeds {each.first} to {each.end - 1} are counted already")
        self.ranges = sorted((*self.ranges, *other.ranges), key=lambda each: each.first)
        self.failures |= other.failures
        self.counts.update(other.counts)
        pairs = zip((self.primitives, self.kinds, self.causes), (other.primitives, other.kinds, other.causes))
        for mine, theirs in pairs:
            for name, counts in theirs.items():
                _row(mine, name).update(counts)

    # ---- files

    @staticmethod
    def read(path: Path) -> Totals:
        if not path.exists():
            return Totals()
        kept = json.loads(path.read_text(encoding="utf-8"))
        return Totals(
            ranges=[Range(**each) for each in kept["ranges"]],
            failures={int(seed): messages for seed, messages in kept["failures"].items()},
            counts=Counter(kept["counts"]),
            primitives=_rows(kept["primitives"]),
            kinds=_rows(kept["kinds"]),
            causes=_rows(kept["causes"]),
        )

    def write(self, path: Path) -> None:
        """All or nothing: another file is put in the place of the old one."""
        fresh = path.with_suffix(".new")
        fresh.write_text(self.text(), encoding="utf-8")
        os.replace(fresh, path)

    def text(self) -> str:
        """JSON with one row a line, so that a difference is read."""
        ranges = ",\n".join(f"  {json.dumps(each.__dict__)}" for each in self.ranges)
        rows = {"primitives": self.primitives, "kinds": self.kinds, "causes": self.causes}
        parts = [
            f' "ranges": [\n{ranges}\n ]',
            f' "failures": {json.dumps(self.failures)}',
            f' "counts": {json.dumps(self.counts)}',
            *(f' "{name}": {{\n{_printed(each)}\n }}' for name, each in rows.items()),
        ]
        return "{\n" + ",\n".join(parts) + "\n}\n"

    # ---- figures

    def share(self, verb: str) -> float:
        """The share of cases that have a line of a primitive."""
        return self.primitives.get(verb, Counter())["cases"] / max(1, self.counts["cases"])

    @property
    def refused(self) -> float:
        """The share of lines that were refused."""
        return _refused(self.counts)

    @property
    def conservative(self) -> float:
        """The share of lines refused although nothing went wrong, but for those that other data could break."""
        return self.counts["conservative"] / max(1, _lines(self.counts))

    def figures(self) -> Iterator[str]:
        """The figures as text."""
        cases, apart = self.counts["cases"], self.kinds.get(DATA, Counter())
        yield f"{cases} cases, {len(self.failures)} failures; {self.counts['compiled']} run as machine code as well"
        yield ""
        yield from _table("primitive", self.primitives, cases)
        yield ""
        yield from _table("kind of op", {name: row for name, row in self.kinds.items() if name != DATA}, cases)
        yield ""
        yield from _table("not affine", {DATA: apart}, cases)
        yield ""
        affine = Counter({each: self.counts[each] - apart[each] for each in VERDICTS})
        for name, counts in (("affine", affine), ("not affine", apart), ("all", self.counts)):
            share = counts["conservative"] / max(1, _lines(counts))
            yield f"{name:12}{_lines(counts)} lines, {_refused(counts):.1%} refused, {share:.2%} conservatively"
        if self.causes:
            yield ""
            yield "conservative, by cause"
        for verb, causes in sorted(self.causes.items()):
            for message, count in causes.most_common():
                yield f"{count:>5}  {verb}: {message}"


def _row(rows: Rows, name: str) -> Counter[str]:
    return rows.setdefault(name, Counter())


def _rows(kept: Mapping[str, Mapping[str, int]]) -> Rows:
    return {name: Counter(row) for name, row in kept.items()}


def _printed(rows: Rows) -> str:
    return ",\n".join(f"  {json.dumps(name)}: {json.dumps(row, sort_keys=True)}" for name, row in sorted(rows.items()))


def _anonymous(message: str) -> str:
    """A message without its names and numbers."""
    return re.sub(r"\d+", "n", re.sub(r"`[^`]*`", "`_`", message))


def _lines(counts: Mapping[str, int]) -> int:
    return sum(counts.get(verdict, 0) for verdict in VERDICTS)


def _refused(counts: Mapping[str, int]) -> float:
    return 1 - counts.get("accepted", 0) / max(1, _lines(counts))


def _table(title: str, rows: Rows, cases: int) -> Iterator[str]:
    yield f"{title:14}{'of cases':>9}" + "".join(f"{verdict:>13}" for verdict in VERDICTS)
    for name, row in sorted(rows.items()):
        yield f"{name:14}{row['cases'] / max(1, cases):>9.1%}" + "".join(f"{row[each]:>13}" for each in VERDICTS)
