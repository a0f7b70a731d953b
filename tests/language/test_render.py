"""The terminal form of a diagnostic, drawn exactly."""

from __future__ import annotations

import pytest
from tdl.language.cells import crop, display_width, lay_out, printable
from tdl.language.diagnostic import Diagnostic, Fix, Label
from tdl.language.frame import ASCII, BOXED, Frame
from tdl.language.render import plain, render
from tdl.language.source import Source, Span

BLUR = """\
op blur(X: f32[H, W]) -> Y: f32[H, W] where W >= 3 {
    Y[i, j] = X[i, j] + X[i, j + 1]
}
"""


def place(text: str, part: str) -> Span:
    start = text.index(part)
    return Span(start, start + len(part))


def draw(text: str, span: Span, *, frame: Frame = ASCII, width: int | None = None, **parts: object) -> str:
    diagnostic = Diagnostic("rank", "wrong", span, **parts)  # type: ignore[arg-type]
    drawn = plain(render(diagnostic, Source("f.tdl", text), frame=frame, width=width))
    return "\n".join(drawn.split("\n")[1:])


def test_marks_notes_labels_and_fixes() -> None:
    diagnostic = Diagnostic(
        "out-of-bounds",
        "`X[i, j + 1]` reads outside `X`",
        place(BLUR, "X[i, j + 1]"),
        ("H = 1, W = 3, i = 0, j = 2: X[0, 3]",),
        (Label(place(BLUR, "f32[H, W]"), "`X` is declared here"),),
        (Fix("read 0 outside", place(BLUR, "X[i, j + 1]"), "X[i, j + 1 | 0]"),),
    )
    assert plain(render(diagnostic, Source("blur.tdl", BLUR))) == (
        """\
error[out-of-bounds]: `X[i, j + 1]` reads outside `X`
  --> blur.tdl:2:25
   |
 1 | op blur(X: f32[H, W]) -> Y: f32[H, W] where W >= 3 {
   |            --------- `X` is declared here
 2 |     Y[i, j] = X[i, j] + X[i, j + 1]
   |                         ^^^^^^^^^^^
   |
   = note: H = 1, W = 3, i = 0, j = 2: X[0, 3]
   = help: read 0 outside
 2 +     Y[i, j] = X[i, j] + X[i, j + 1 | 0]
"""
    )


def test_boxed_frame() -> None:
    drawn = draw(BLUR, place(BLUR, "X[i, j + 1]"), frame=BOXED, notes=("first", "second"))
    assert drawn == (
        """\
   ╭─▸ f.tdl:2:25
   │
 2 │     Y[i, j] = X[i, j] + X[i, j + 1]
   │                         ━━━━━━━━━━━
   │
   ├╴ note: first
   ╰╴ note: second
"""
    )


def test_span_over_lines_marks_each_and_skips_the_middle() -> None:
    text = "a(\n  b,\n\n  c,\n  d,\n  e)\n"
    assert draw(text, Span(0, len(text) - 1)) == (
        """\
  --> f.tdl:1:1
   |
 1 | a(
   | ^^
 2 |   b,
   |   ^^
...
 6 |   e)
   |   ^^
"""
    )


def test_one_unmarked_line_between_marks_is_shown() -> None:
    drawn = draw("a\nb\nc\n", Span(4, 5), secondary=(Label(Span(0, 1), "see"),))
    assert drawn == "  --> f.tdl:3:1\n   |\n 1 | a\n   | - see\n 2 | b\n 3 | c\n   | ^\n"


def test_labels_of_one_line_share_a_row_where_they_fit() -> None:
    drawn = draw("aa bb cc\n", Span(0, 2), secondary=(Label(Span(3, 5), "b"), Label(Span(6, 8), "c")))
    assert drawn.splitlines()[3:] == ["   | ^^ -- b", "   |       -- c"]


@pytest.mark.parametrize(
    ("line", "character", "marked"),
    [
        ("\tx", 1, "    ^"),
        ("a\tx", 2, "    ^"),
        ("数字x", 2, "    ^"),
        ("数字x", 1, "  ^^"),
        ("e\u0301x", 2, " ^"),
        ("e\u0301x", 1, "^"),
        ("\x1b[31mx", 5, "     ^"),
    ],
)
def test_marks_stand_under_their_character(line: str, character: int, marked: str) -> None:
    drawn = draw(line, Span(character, character + 1)).splitlines()
    assert drawn[3] == "   | " + marked


def test_crlf_and_end_of_file() -> None:
    assert draw("a\r\nb", Span(3, 4)) == "  --> f.tdl:2:1\n   |\n 2 | b\n   | ^\n"
    assert draw("a\r\n", Span(3, 3)) == "  --> f.tdl:2:1\n   |\n 2 |\n   | ^\n"
    assert draw("", Span(0, 0)) == "  --> f.tdl:1:1\n   |\n 1 |\n   | ^\n"


def test_line_end_itself_is_marked_behind_the_line() -> None:
    assert draw("ab\ncd\n", Span(2, 3)).splitlines()[2:4] == [" 1 | ab", "   |   ^"]


@pytest.mark.parametrize("frame", [ASCII, BOXED])
@pytest.mark.parametrize("at", [0, 1, 37, 500, 998, 999])
def test_long_lines_are_cropped_around_the_mark(frame: Frame, at: int) -> None:
    text = "".join(chr(ord("a") + n % 26) for n in range(1000))
    drawn = draw(text, Span(at, at + 1), frame=frame, width=60).splitlines()
    assert all(len(line) <= 60 for line in drawn)
    assert drawn[2][drawn[3].index(frame.caret)] == text[at]
    assert drawn[2].count(frame.ellipsis) == (at > 30) + (at < 950)


def test_wide_characters_cut_by_the_crop_keep_the_columns() -> None:
    text = "数" * 100 + "x" + "数" * 100
    drawn = draw(text, Span(100, 101), width=41, frame=BOXED).splitlines()
    column = display_width(drawn[2][: drawn[2].index("x")])
    assert display_width(drawn[2]) <= 41
    assert drawn[3].index("━") == column


def test_notes_wrap_under_themselves() -> None:
    drawn = draw("a", Span(0, 1), width=40, notes=("one two three four five six seven",))
    assert drawn.splitlines()[-2:] == ["   = note: one two three four five six", "           seven"]


def test_fix_that_removes_lines_and_fix_that_adds_one() -> None:
    text = "a\nb\nc\n"
    removed = draw(text, Span(2, 3), fixes=(Fix("drop", Span(1, 3), ""),)).splitlines()
    assert removed[-2:] == ["   = help: drop", " 1 + a"]
    added = draw(text, Span(2, 3), fixes=(Fix("add", Span(2, 2), "x\n"),)).splitlines()
    assert added[-2:] == [" 2 + x", " 3 + b"]


def test_label_in_another_file() -> None:
    other = Source("std/nn.tdl", "one\ntwo\n")
    diagnostic = Diagnostic("dtype", "wrong", Span(0, 1), secondary=(Label(Span(4, 7), "there", "std/nn.tdl"),))
    drawn = plain(render(diagnostic, Source("f.tdl", "a\n"), find={"std/nn.tdl": other}.get))
    assert drawn.splitlines()[5:] == ["  --> std/nn.tdl:2:1", "   |", " 2 | two", "   | --- there"]
    assert "nn.tdl" not in plain(render(diagnostic, Source("f.tdl", "a\n")))


def test_nothing_from_a_program_controls_the_terminal() -> None:
    text = "\x1b]0;x\x07 \u202e\n"
    drawn = draw(text, Span(0, 3), notes=("bad \x1b[0m",), secondary=(Label(Span(3, 4), "\x9b"),))
    assert not any(ord(character) < 32 and character != "\n" for character in drawn)
    assert "\x9b" not in drawn
    assert "\u202e" not in drawn


def test_printable_leaves_ordinary_text_alone() -> None:
    assert printable("aé数 ∓∞") == "aé数 ∓∞"
    assert printable("\ud800\x7f") == "\ufffd␡"


def test_crop_shows_the_whole_of_a_short_row() -> None:
    row = lay_out("abc")
    assert crop(row, 0, 1, 20).text(row, "...") == "abc"
    assert row.cell(5) == 5
