"""A smaller case that fails in the same way: fewer lines, smaller sizes, simpler definitions.

Two failures are the same if the words before their first colon are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from tests.compiler.schedule.generated.cases import Case
from tests.compiler.schedule.generated.referee import judge


def shrink(case: Case) -> Case:
    """The smallest case found by taking away one thing at a time."""
    kind = kind_of(case)
    assert kind is not None
    while True:
        lighter = (each for each in _smaller(case) if _weight(each) < _weight(case))
        smaller = next((each for each in lighter if kind_of(each) == kind), None)
        if smaller is None:
            return case
        case = smaller


def _weight(case: Case) -> int:
    """How much there is to read, and how much to run."""
    numbers = sum(map(int, re.findall(r"\d+", case.text)))
    return 4 * len(case.text) + numbers + sum(1 + sum(sizes.values()) for sizes in case.sizes)


def kind_of(case: Case) -> str | None:
    """What is wrong with a case, in a word; None where nothing is."""
    try:
        failures = judge(case).failures
    except Exception as error:
        return f"referee {type(error).__name__}"
    return failures[0].split(":")[0] if failures else None


def _smaller(case: Case) -> Iterator[Case]:
    for number in range(len(case.lines)):
        yield replace(case, lines=(*case.lines[:number], *case.lines[number + 1 :]))
    if len(case.sizes) > 1:
        for sizes in case.sizes:
            yield replace(case, sizes=(sizes,))
    yield from _simpler_ops(case)
    yield from _smaller_numbers(case)
    for position, sizes in enumerate(case.sizes):
        for name, size in sizes.items():
            for less in (size // 2, size - 1):
                made = {**sizes, name: less}
                if 0 <= less < size and case.op.admits(made):
                    yield replace(case, sizes=(*case.sizes[:position], made, *case.sizes[position + 1 :]))


def _simpler_ops(case: Case) -> Iterator[Case]:
    """Definitions without the terms of their values, or without themselves."""
    lines = case.op.text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if line.startswith("    ") and " = " in line and not line.strip().startswith("combine"):
            yield _with_lines(case, [*lines[:number], *lines[number + 1 :]])
            head, value = line.split(" = ", 1)
            ranges = re.search(r"  for .*$", value)
            tail = ranges.group(0) if ranges else ""
            body = value[: ranges.start()] if ranges else value.rstrip("\n")
            for simpler in _simpler_values(body):
                yield _with_lines(case, [*lines[:number], f"{head} = {simpler}{tail}\n", *lines[number + 1 :]])
    for number, line in enumerate(lines):
        if line.startswith("reducer"):
            end = lines.index("}\n", number)
            yield _with_lines(case, [*lines[:number], *lines[end + 1 :]])
        if line.startswith("op f("):
            yield from _with_fewer_tensors(case, lines, number)


def _simpler_values(value: str) -> Iterator[str]:
    yield "1"
    if value.startswith("(") and value.endswith(")"):
        yield value[1:-1]
    for operator in (" + ", " - ", " * ", " if ", ", "):
        before, found, after = value.partition(operator)
        if found:
            yield before
            yield after
            yield before.removeprefix("max(").removeprefix("min(")
            yield after.removesuffix(")")


def _with_fewer_tensors(case: Case, lines: list[str], number: int) -> Iterator[Case]:
    """The signature without one of its inputs, outputs or facts."""
    line = lines[number]
    for declared in re.findall(r"\w+: \w+(?:\[[^\]]*\])?", line):
        for text in (f"{declared}, ", f", {declared}", declared):
            if text in line:
                yield _with_lines(case, [*lines[:number], line.replace(text, "", 1), *lines[number + 1 :]])
                break


def _with_lines(case: Case, lines: list[str]) -> Case:
    return replace(case, op=replace(case.op, text="".join(lines)))


def _smaller_numbers(case: Case) -> Iterator[Case]:
    for number, line in enumerate(case.lines):
        for found in re.finditer(r"\b(by|into|ahead) (\d+)", line):
            for less in (1, 2, 3):
                if less < int(found.group(2)):
                    changed = f"{line[: found.start(2)]}{less}{line[found.end(2) :]}"
                    yield replace(case, lines=(*case.lines[:number], changed, *case.lines[number + 1 :]))
