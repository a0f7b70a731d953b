"""Names and what they mean: every name of every program means something, and renaming it everywhere changes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tdl.language import occurrences, syntax
from tdl.language.analysis import Analysis, analyse, read_file
from tdl.language.occurrences import Definition, Occurrence
from tdl.language.references import refs
from tdl.language.source import Source

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted(
    path
    for folder in ("tests/programs", "examples", "language/tdl/language/std")
    for path in (ROOT / folder).rglob("*.tdl")
)
FRESH = "fresh_name"


def _all(analysis: Analysis) -> Iterator[Occurrence]:
    for entry in analysis.module.entries:
        yield from occurrences.of_item(analysis, entry)


def _features(item: syntax.Item) -> Iterator[syntax.Expr]:
    """Names of a processor's extensions, which are not the language's."""
    if isinstance(item, syntax.TargetItem):
        for line in item.body:
            if isinstance(line, syntax.Property) and line.name.text == "features":
                yield from line.values


def _program(path: Path) -> Analysis:
    source = read_file(str(path))
    assert source is not None
    return analyse(source)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_every_name_means_something(path: Path) -> None:
    analysis = _program(path)
    found = {each.span.start for each in _all(analysis)}
    for entry in analysis.module.entries:
        foreign = set(_features(entry.placed.item))
        for ref, _ in refs(entry.placed.item):
            if ref in foreign:
                continue
            start = entry.placed.offset + ref.span.start
            assert start in found, f"{ref.text} at {analysis.source.position(start)}"


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_renamed_program_is_the_same_program(path: Path) -> None:
    analysis = _program(path)
    before = [(each.code, each.severity) for each in analysis.diagnostics]
    groups: dict[Definition, set[Definition]] = {}
    for occurrence in _all(analysis):
        if occurrence.definition.path == analysis.source.path and occurrence.definition.kind != "module":
            here = {each.definition for each in occurrences.at(analysis, occurrence.span.start)}
            groups.setdefault(occurrence.definition, set()).update(here)
    for group in groups.values():
        spans = {each.span for one in group for each in occurrences.of(analysis, one)}
        text = analysis.source.text
        for span in sorted(spans, key=lambda each: each.start, reverse=True):
            text = text[: span.start] + FRESH + text[span.end :]
        renamed = analyse(Source(analysis.source.path, text))
        after = [(each.code, each.severity) for each in renamed.diagnostics]
        assert after == before, (group, [each.message for each in renamed.diagnostics])


TEXT = """\
import std.nn
const N = 8
reducer most[T: float](a: T, b: T) -> T {
    identity -inf
    combine max(a, b)
}
op f(X: f32[M, K]) -> Y: f32[M] {
    S[i] = most(X[i, k] for k in 0..K)
    Y[i] = S[i] + most(2 * X[i, k] for k)
}
tactic strips(T, i, made, n: int = 8) { split T.i by n -> io, made }
schedule f for cpu {
    knob w = 4 in [2, 4]
    split Y.most.k by w * N -> ko, ki
    rfactor ko -> P
    apply strips(S, i, mine, n=w)
    unroll mine
    unroll io
    cache X at Y.i as Xp layout [k]
    peel P.ki
    unroll P.ki.tail
}
graph g(x: f32[A, B]) -> y: f32[A] {
    h = std.nn.relu(x)
    y = f(X=h)
}
test t: f(M=3, K=2) expect Y = [1, 2, 3]
"""


def _meant(line: int, word: str, number: int = 0) -> list[tuple[str, str, int, str]]:
    """What a word of a line of TEXT means: kind, name, the line that defines it, access."""
    source = Source("main.tdl", TEXT)
    found = list(re.finditer(rf"\b{re.escape(word)}\b", source.line(line)))
    offset = source.line_starts[line - 1] + found[number].start()
    return [
        (each.definition.kind, each.definition.name, _line(each, source), each.access)
        for each in occurrences.at(analyse(source), offset)
    ]


def _line(occurrence: Occurrence, source: Source) -> int:
    definition = occurrence.definition
    return source.position(definition.span.start).line if definition.path == source.path else 0


@pytest.mark.parametrize(
    ("line", "word", "number", "expected"),
    [
        (1, "std.nn", 0, ("module", "nn", 0, "read")),
        (7, "M", 0, ("dimension", "M", 7, "declare")),
        (7, "M", 1, ("dimension", "M", 7, "read")),
        (8, "S", 0, ("intermediate", "S", 8, "write")),
        (9, "Y", 0, ("output", "Y", 7, "write")),
        (9, "most", 0, ("reducer", "most", 3, "read")),
        (11, "made", 1, ("parameter", "made", 11, "read")),
        (13, "w", 0, ("knob", "w", 13, "declare")),
        (14, "most", 0, ("reducer", "most", 3, "read")),
        (14, "k", 0, ("index", "k", 9, "read")),
        (14, "ko", 0, ("loop", "ko", 14, "declare")),
        (15, "ko", 0, ("loop", "ko", 14, "read")),
        (16, "i", 0, ("index", "i", 8, "read")),
        (16, "n", 0, ("parameter", "n", 11, "read")),
        (16, "w", 0, ("knob", "w", 13, "read")),
        (17, "mine", 0, ("loop", "mine", 16, "read")),
        (18, "io", 0, ("loop", "io", 11, "read")),
        (20, "ki", 0, ("loop", "ki", 14, "read")),
        (20, "P", 0, ("copy", "P", 15, "read")),
        (21, "ki", 0, ("loop", "ki", 14, "read")),
        (24, "relu", 0, ("op", "relu", 0, "read")),
        (25, "X", 0, ("input", "X", 7, "read")),
        (25, "h", 0, ("intermediate", "h", 24, "read")),
        (27, "M", 0, ("dimension", "M", 7, "read")),
        (27, "Y", 0, ("output", "Y", 7, "read")),
    ],
)
def test_what_a_name_means(line: int, word: str, number: int, expected: tuple[str, str, int, str]) -> None:
    assert _meant(line, word, number) == [expected]


def test_a_loop_that_definitions_share_means_the_index_of_each() -> None:
    text = """\
op f(X: f32[T]) -> (A: f32[T], B: f32[T]) where T >= 1 {
    A[0] = X[0]
    B[0] = X[0]
    A[t] = B[t - 1]  for t in 1..T
    B[u] = A[u - 1]  for u in 1..T
}
schedule f {
    split A.t by 4 -> to, ti
}
"""
    source = Source("main.tdl", text)
    found = occurrences.at(analyse(source), text.index("A.t") + 2)
    assert [(each.definition.name, source.position(each.definition.span.start).line) for each in found] == [
        ("t", 4),
        ("u", 5),
    ]


def test_an_item_that_moves_is_not_read_again() -> None:
    moved = analyse(Source("main.tdl", f"# a line more\n\n{TEXT}"))
    texts = {moved.source.text[each.span.start : each.span.end] for each in _all(moved)}
    assert {"mine", "ko", "Xp", "most"} <= texts
    for each in _all(moved):
        definition = each.definition
        if definition.path == "main.tdl":
            assert moved.source.text[definition.span.start : definition.span.end] == definition.name


def test_names_in_a_program_with_errors_still_mean_something() -> None:
    text = """\
op f(X: f32[M]) -> Y: f32[M] {
    Y[i] = X[i] +
    Z[j] = X[j]
}
schedule f {
    split Y.q by 8 -> a, b
    unroll a
}
"""
    analysis = analyse(Source("main.tdl", text))
    kinds = {(each.definition.kind, each.definition.name) for each in _all(analysis)}
    assert {("output", "Y"), ("input", "X"), ("loop", "a"), ("index", "j")} <= kinds
