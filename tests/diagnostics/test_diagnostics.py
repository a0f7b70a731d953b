"""Runs the programs in the Markdown files of this folder, and those of the pages in `docs/errors`.

A `tdl` block is a program. `# error: [code] words` at the end of a line says that the line gives this error, with these
words in its message or notes; nothing else may be reported. The `text` block behind is the error as the user sees it.
A block `tdl NAME.tdl` is a file that the other programs of the page may import, and has no errors of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tdl.compiler.schedule.check import diagnose
from tdl.language.analysis import analyse
from tdl.language.codes import CODES
from tdl.language.decode import decode
from tdl.language.diagnostic import Diagnostic
from tdl.language.render import plain, render
from tdl.language.source import Source

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs" / "errors"
FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"# (error|warning): \[([\w-]+)\] ?(.*?)\s*$")


@dataclass(frozen=True)
class Case:
    """A program of a page, its line there, and the picture that follows it, if any (with its place in the page)."""

    page: Path
    line: int
    program: str
    end: int
    picture: re.Match[str] | None = None

    @property
    def id(self) -> str:
        return f"{self.page.parent.name}/{self.page.stem}:{self.line}"


def cases_of(page: Path) -> Iterator[Case]:
    text = page.read_text(encoding="utf-8")
    case = None
    for fence in FENCE.finditer(text):
        language, name, body = fence.groups()
        if language == "text" and case is not None:
            yield replace(case, picture=fence)
            case = None
        elif language == "tdl" and name is None:
            if case is not None:
                yield case
            case = Case(page, text.count("\n", 0, fence.start()) + 1, body, fence.end())
    if case is not None:
        yield case


def files_of(page: Path) -> dict[str, Source]:
    return {name: Source(name, body) for _, name, body in FENCE.findall(page.read_text(encoding="utf-8")) if name}


PAGES = [*sorted(HERE.glob("*.md")), *sorted(DOCS.glob("*.md"))]
CASES = [case for page in PAGES for case in cases_of(page)]


@pytest.fixture(autouse=True)
def small_budget(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a page is about giving up, it is made easy to give up."""
    if "undecided" in request.node.name:
        monkeypatch.setattr("tdl.language.sets._CASES", 0)


def found_in(case: Case) -> tuple[Source, tuple[Diagnostic, ...]]:
    data = case.program.encode("latin-1" if case.page.stem == "encoding" else "utf-8")
    source, fault = decode(f"{case.page.stem}.tdl", data)
    if fault is not None:
        return source, (fault,)
    return source, diagnose(analyse(source, read=files_of(case.page).get))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_exactly_the_marked_errors_are_reported(case: Case) -> None:
    source, found = found_in(case)
    expected: list[tuple[int, str, str, str]] = []
    for number, line in enumerate(case.program.splitlines(), 1):
        if mark := MARK.search(line):
            expected.append((number, mark[1], mark[2], mark[3]))
    reported = [
        (source.position(d.primary.start).line, d.severity, d.code, "\n".join([d.message, *d.notes])) for d in found
    ]
    assert [entry[:3] for entry in reported] == [entry[:3] for entry in expected]
    for (*_, text), (*_, words) in zip(reported, expected):
        assert words.lower() in text.lower()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_pictures(page: Path, update_golden: bool) -> None:
    text = page.read_text(encoding="utf-8")
    drawn = text
    for case in reversed(list(cases_of(page))):
        source, found = found_in(case)
        picture = "\n".join(plain(render(diagnostic, source)) for diagnostic in found)
        block = f"```text\n{picture}```\n" if found else ""
        if case.picture is not None:
            drawn = drawn[: case.picture.start()] + block + drawn[case.picture.end() :]
        elif block:
            drawn = drawn[: case.end] + "\n" + block + drawn[case.end :]
    if update_golden:
        page.write_text(drawn, encoding="utf-8")
    else:
        assert text == drawn


def test_every_code_has_a_page_and_a_test_and_no_page_is_orphaned() -> None:
    assert {page.stem for page in HERE.glob("*.md")} == set(CODES)
    assert {page.stem for page in DOCS.glob("*.md")} == set(CODES)


@pytest.mark.parametrize("folder", [HERE, DOCS], ids=["tests", "docs"])
@pytest.mark.parametrize("code", CODES)
def test_a_page_shows_its_own_error_and_a_program_without_one(code: str, folder: Path) -> None:
    programs = [case.program for case in cases_of(folder / f"{code}.md")]
    assert any(f": [{code}]" in program for program in programs)
    assert folder == HERE or any("# error:" not in program for program in programs)
