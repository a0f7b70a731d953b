"""`tdlc fmt`: content is never lost, files are replaced in one step."""

from __future__ import annotations

import io
import os
import stat
import sys

import pytest
from tdl.compiler.cli.fault import Fault
from tdl.compiler.cli.files import replace_file

UGLY = "op f(X:f32[N])->Y:f32[N]{\n  m=max(X[i] for i) # most\n  Y[i]=X[i]-m\n}\n"


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.tdl"
    path.write_bytes(UGLY.encode())
    return path


def test_formats_in_place_and_says_so(tdlc, file):
    outcome = tdlc("fmt", "a.tdl")
    assert (outcome.code, outcome.out) == (0, "formatted a.tdl\n")
    text = file.read_text()
    assert text != UGLY
    assert "# most" in text
    again = tdlc("fmt", "a.tdl")
    assert (again.code, again.out, file.read_text()) == (0, "", text)


def test_check_changes_nothing(tdlc, file):
    outcome = tdlc("fmt", "--check", "a.tdl")
    assert (outcome.code, outcome.out) == (1, "would change a.tdl\n")
    assert file.read_text() == UGLY
    tdlc("fmt", "a.tdl")
    assert tdlc("fmt", "--check", "a.tdl").code == 0


def test_diff(tdlc, file):
    outcome = tdlc("fmt", "--diff", "a.tdl")
    assert outcome.code == 1
    assert outcome.out.startswith("--- a.tdl\n+++ a.tdl (formatted)\n@@")
    assert "-op f(X:f32[N])->Y:f32[N]{\n" in outcome.out
    assert "+op f(X: f32[N]) -> Y: f32[N] {\n" in outcome.out
    assert file.read_text() == UGLY
    assert "\x1b[32m" in tdlc("fmt", "--diff", "a.tdl", "--color", "always").out


def test_standard_input(tdlc, file, monkeypatch):
    tdlc("fmt", "a.tdl")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(UGLY.encode())))
    assert tdlc("fmt", "-").out == file.read_text()


def test_a_file_that_does_not_parse_is_left_alone(tdlc, file):
    broken = UGLY + "op g(\n"
    file.write_text(broken)
    outcome = tdlc("fmt", "a.tdl")
    assert (outcome.code, outcome.out) == (1, "")
    assert "error[syntax]" in outcome.err
    assert file.read_text() == broken


def test_one_broken_file_does_not_stop_the_others(tdlc, file, tmp_path):
    (tmp_path / "0.tdl").write_text("op g(\n")
    outcome = tdlc("fmt", tmp_path)
    assert outcome.code == 1
    assert file.read_text() != UGLY


@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_line_ends_and_byte_order_mark_stay(tdlc, file, end):
    file.write_bytes(b"\xef\xbb\xbf" + UGLY.replace("\n", end).encode())
    assert tdlc("fmt", "a.tdl").code == 0
    data = file.read_bytes()
    assert data.startswith(b"\xef\xbb\xbfop ")
    assert data.count(end.encode()) == data.count(b"\n") == 4
    assert data.count(b"\r") == (4 if end == "\r\n" else 0)


def test_a_mark_within_the_text_is_a_blank(tdlc, file):
    file.write_text("op f() -> Y: f32 {\n    Y =\ufeff 1\n}\n", encoding="utf-8")
    assert tdlc("fmt", "a.tdl").code == 0
    assert file.read_text(encoding="utf-8") == "op f() -> Y: f32 {\n    Y = 1\n}\n"


def test_bytes_that_are_not_text_are_left_alone(tdlc, file):
    file.write_bytes(UGLY.encode() + b"\xff")
    outcome = tdlc("fmt", "a.tdl")
    assert outcome.code == 1
    assert "not UTF-8" in outcome.err
    assert file.read_bytes() == UGLY.encode() + b"\xff"


def test_a_formatter_that_loses_content_is_not_trusted(tdlc, file, monkeypatch):
    monkeypatch.setattr("tdl.language.format.format_text", lambda text: text.replace("# most", ""))
    outcome = tdlc("fmt", "a.tdl")
    assert outcome.code == 3
    assert "would lose or add characters" in outcome.err
    assert file.read_text() == UGLY


def test_mode_and_links_are_kept(tdlc, file, tmp_path):
    file.chmod(0o640)
    link = tmp_path / "link.tdl"
    link.symlink_to("a.tdl")
    assert tdlc("fmt", "link.tdl").code == 0
    assert link.is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert file.read_text() != UGLY
    assert sorted(os.listdir(tmp_path)) == ["a.tdl", "link.tdl"]


def test_a_failed_write_leaves_the_old_file(file, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Fault, match="No space left"):
        replace_file("a.tdl", b"new")
    assert file.read_text() == UGLY
    assert os.listdir() == ["a.tdl"]


def test_new_files_get_an_ordinary_mode(file):
    replace_file("new.txt", b"x")
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(os.stat("new.txt").st_mode) == 0o666 & ~mask
