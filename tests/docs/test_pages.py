"""Programs in the README and the guides check, and pass their tests; the reference's parse; links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tdl.compiler.schedule.check import diagnose
from tdl.compiler.trial import try_case
from tdl.language import syntax
from tdl.language.analysis import analyse
from tdl.language.cases import check_case
from tdl.language.parse import parse_file
from tdl.language.source import Source

ROOT = Path(__file__).parents[2]
GUIDES = [ROOT / "README.md", ROOT / "docs/tutorial.md", ROOT / "docs/how-to.md", ROOT / "docs/schedules.md"]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])
PROGRAM = re.compile(r"^```tdl\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def programs(pages):
    found = []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for match in PROGRAM.finditer(text):
            line = text.count("\n", 0, match.start()) + 2
            found.append(pytest.param(match[1], id=f"{page.relative_to(ROOT)}:{line}"))
    return found


@pytest.mark.parametrize("text", programs(GUIDES))
def test_programs_of_the_guides_check_and_pass(text):
    analysis = analyse(Source("page.tdl", text))
    assert [diagnostic.message for diagnostic in diagnose(analysis)] == []
    for entry in analysis.module.entries:
        if isinstance(entry.placed.item, syntax.Test):
            case = check_case(entry.declaration).case
            assert case is not None
            assert try_case(case, schedules=analysis.module.schedules).failure is None


@pytest.mark.parametrize("text", programs([ROOT / "docs/language.md"]))
def test_programs_of_the_reference_parse(text):
    file = parse_file(Source("page.tdl", text))
    found = [*file.diagnostics, *(each for placed in file.items for each in placed.parsed.diagnostics)]
    assert [diagnostic.message for diagnostic in found] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for link in LINK.findall(re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)):
        path, _, anchor = link.partition("#")
        if "://" in path:
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings], link
