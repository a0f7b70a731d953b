"""Line tables: which line of the file an instruction is for; and that they change no instruction."""

from __future__ import annotations

import re

import pytest
from tdl.compiler.backends.llvm.kernel import kernel_text
from tdl.compiler.backends.llvm.target import host, machine, object_code, optimise, parse
from tdl.compiler.lines import lines_of
from tdl.compiler.lower.pipeline import lower
from tdl.language.source import Source

TEXT = """# a line above

op f(X: f32[M, N]) -> (Y: f32[M, N], s: f32[M]) {
    Y[i, j] = sqrt(X[i, j])
    s[i]    = sum(X[i, j] * X[i, j] for j)
}
schedule f for cpu {
    split Y.j by 64 -> jo, ji
    vectorize ji by 16
    parallel s.i
    stream Y
}
"""
SQUARE, PRODUCT = 4, 5


@pytest.fixture(scope="module")
def texts(load_text):
    """The kernel's text with lines and without."""
    f = load_text(TEXT).f
    kernel = lower(f.nest())
    source = Source("test.tdl", TEXT)
    lines = lines_of(f.declaration, f._kernels.schedules[0], {"test.tdl": source}.get)
    assert lines is not None
    return kernel_text(kernel, host(), lines).ir, kernel_text(kernel, host()).ir


def assembly(text: str) -> list[str]:
    target_machine = machine(host())
    module = optimise(parse(text, target_machine), target_machine, is_final=True)
    made: str = target_machine.emit_assembly(module)
    return made.splitlines()


def instructions(lines: list[str]) -> list[str]:
    return [line.split("#")[0].strip() for line in lines if re.match(r"\t[a-z]", line)]


def test_instructions_are_those_without(texts):
    with_lines, plain = texts
    assert instructions(assembly(with_lines)) == instructions(assembly(plain))
    assert "!dbg" not in plain


def test_each_statement_has_its_line(texts):
    found: dict[str, set[int]] = {"sqrt": set(), "fmul": set()}
    places = {number: int(line) for number, line in re.findall(r"(!\d+) = !DILocation\(line: (\d+)", texts[0])}
    for line in texts[0].splitlines():
        for what, lines in found.items():
            used = re.search(rf"\b{what}\b.*!dbg (!\d+)", line.replace(".", " "))
            if used:
                lines.add(places[used[1]])
    assert found == {"sqrt": {SQUARE}, "fmul": {PRODUCT}}


def test_loops_have_the_line_that_made_them(texts):
    lines = {int(line) for line in re.findall(r"!DILocation\(line: (\d+)", texts[0])}
    assert {TEXT[: TEXT.index(each)].count("\n") + 1 for each in ("vectorize", "parallel s.i", "split")} <= lines


def test_the_object_has_the_table(texts):
    with_lines, plain = (object_code(text, host()) for text in texts)
    assert b".debug_line" in with_lines
    assert b"test.tdl" in with_lines
    assert b".debug_line" not in plain


def test_odd_names_of_files(load_text):
    f = load_text(TEXT).f
    lines = lines_of(f.declaration, None, lambda _: Source('a "b" \\ é.tdl', TEXT))
    assert lines is not None
    text = kernel_text(lower(f.nest(0)), host(), lines).ir
    assert str(parse(text, machine(host()))).count("DICompileUnit") == 1


def test_without_the_file_there_are_none(load_text):
    assert lines_of(load_text(TEXT).f.declaration, None, lambda _: None) is None
