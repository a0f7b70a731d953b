"""`tdlc check` and its formats."""

from __future__ import annotations

import io
import json
import os
import sys

import pytest

GOOD = "op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] }\n"
BAD = "op f(X: f32[N]) -> Y: f32[N] {\n    Y[i] = X[i] + bais[i]\n}\nconst A: u8 = 300\n"


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return name

    return write


def feed(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_silent_when_all_is_well(tdlc, file):
    assert tdlc("check", file("a.tdl", GOOD), file("b.tdl", "")) == type(tdlc("check", "a.tdl"))(0, "", "")


def test_errors_and_a_summary(tdlc, file):
    outcome = tdlc("check", file("a.tdl", BAD), file("b.tdl", GOOD))
    assert outcome.code == 1
    assert outcome.err == ""
    assert outcome.out.startswith("error[unknown-name]: unknown tensor `bais`\n  --> a.tdl:2:19\n")
    assert "error[literal]" in outcome.out
    assert outcome.out.endswith("\n2 errors in 1 file of 2\n")


def test_colours_draw_boxes(tdlc, file):
    drawn = tdlc("check", file("a.tdl", BAD), "--color", "always").out
    assert "\x1b[1;31merror[unknown-name]" in drawn
    assert "╭─▸" in drawn


@pytest.mark.parametrize(("variable", "value", "colored"), [("FORCE_COLOR", "1", True), ("NO_COLOR", "1", False)])
def test_colour_variables(tdlc, file, monkeypatch, variable, value, colored):
    monkeypatch.setenv(variable, value)
    assert ("\x1b[" in tdlc("check", file("a.tdl", BAD)).out) is colored


def test_json(tdlc, file):
    outcome = tdlc("check", file("a.tdl", BAD), "--format", "json")
    assert outcome.code == 1
    first, second = json.loads(outcome.out)
    assert first == {
        "code": "unknown-name",
        "severity": "error",
        "message": "unknown tensor `bais`",
        "notes": first["notes"],
        "path": "a.tdl",
        "line": 2,
        "column": 19,
        "end_line": 2,
        "end_column": 23,
    }
    assert (second["code"], second["line"], second["column"]) == ("literal", 4, 15)
    assert json.loads(tdlc("check", file("b.tdl", GOOD), "--format", "json").out) == []


def test_github(tdlc, file):
    outcome = tdlc("check", file("a, 1:%.tdl", BAD), "--format", "github")
    first = outcome.out.splitlines()[0]
    place = "file=a%2C 1%3A%25.tdl,line=2,col=19,endLine=2,endColumn=23"
    assert first.startswith(f"::error {place},title=TDL unknown-name::unknown tensor `bais`")
    assert len(outcome.out.splitlines()) == 2
    assert tdlc("check", file("b.tdl", GOOD), "--format", "github").out == ""


def test_directories_are_searched(tdlc, file):
    file("d/b.tdl", BAD)
    file("d/sub/a.tdl", BAD)
    file("d/.hidden/c.tdl", BAD)
    file("d/e.txt", "nonsense")
    outcome = tdlc("check", "d", "d/b.tdl")
    assert outcome.out.endswith("4 errors in 2 files\n")


def test_standard_input(tdlc, monkeypatch):
    feed(monkeypatch, BAD.encode())
    assert "--> <stdin>:2:19" in tdlc("check", "-").out


def test_imports_are_relative_to_the_file(tdlc, file):
    file("lib/consts.tdl", "const A = 1\n")
    assert tdlc("check", file("lib/a.tdl", "from consts import A\n")).code == 0
    assert tdlc("check", file("b.tdl", "from consts import A\n")).code == 1


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nope.tdl", "no such file: nope.tdl"),
        ("no/pe.tdl", "no such file: no/pe.tdl\n  = help: there is no directory no"),
        ("empty", "no .tdl file in directory empty"),
        ("", "the name of a file is empty"),
    ],
)
def test_files_that_are_not_there(tdlc, file, tmp_path, name, said):
    (tmp_path / "empty").mkdir()
    outcome = tdlc("check", name)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"error: {said}")


def test_a_near_name_is_offered(tdlc, file):
    file("matmul.tdl", GOOD)
    assert "did you mean matmul.tdl?" in tdlc("check", "matmull.tdl").err


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_no_permission(tdlc, file, tmp_path):
    (tmp_path / file("a.tdl", GOOD)).chmod(0)
    outcome = tdlc("check", "a.tdl")
    assert (outcome.code, outcome.err) == (2, "error: no permission for a.tdl\n")


def test_bytes_that_are_not_text(tdlc, file):
    outcome = tdlc("check", file("a.tdl", b"const A = 1\n\xff"))
    assert outcome.code == 1
    assert "error[encoding]: the file is not UTF-8: byte 0xff at offset 12" in outcome.out
    assert "a.tdl:2:1" in outcome.out
    assert "UTF-16" in tdlc("check", file("a.tdl", GOOD.encode("utf-16"))).out


def test_byte_order_mark_and_line_ends(tdlc, file):
    assert tdlc("check", file("a.tdl", b"\xef\xbb\xbf" + GOOD.encode())).code == 0
    assert tdlc("check", file("b.tdl", BAD.replace("\n", "\r\n"))).out.count("error[") == 2
