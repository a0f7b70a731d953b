"""Error pages drawn for a terminal."""

from __future__ import annotations

from tdl.compiler.cli.markdown import draw

PAGE = """\
# code

Some words with `a piece of code`, and [a link](there.md) that
go on.

- one
- two words
  over lines

```tdl
x = 1  # error: [code] words
```

```text
error[code]: message
  --> code.tdl:1:1
   |
 1 | x = 1
   | ^
   |
   = note: words
   = help: more
 1 + x = 2
```
"""


def text_of(lines):
    return ["".join(fragment.text for fragment in line).rstrip() for line in lines]


def test_paragraphs_are_filled_and_lists_hang():
    assert text_of(draw(PAGE, 30))[:14] == [
        "code",
        "",
        "Some words with",
        "a piece of code, and a link",
        "that go on.",
        "",
        "  • one",
        "  • two words over lines",
        "",
        "    x = 1  # error: [code] words",
        "",
        "    error[code]: message",
        "      --> code.tdl:1:1",
        "       |",
    ]


def test_programs_and_pictures_are_coloured():
    styles = {fragment.text.strip(): fragment.style for line in draw(PAGE, 60) for fragment in line}
    assert styles["a piece of code"] == "place"
    assert styles["# error: [code] words"] == "error"
    assert styles["error[code]"] == "error"
    assert styles["^"] == "error"
    assert styles["note:"] == "note"
    assert styles["help:"] == "help"
    assert styles["x = 2"] == "added"
