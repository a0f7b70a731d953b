"""The little Markdown that the error pages use, as styled lines: headings, paragraphs, lists, `code` and code blocks.

    Read `0` outside.      becomes      Read 0 outside.     (with the 0 in colour)

Programs keep their lines, and pictures of errors get the colours that `tdlc check` gives them. Other Markdown is not
read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tdl.language.cells import display_width
from tdl.language.frame import Fragment, Line, Style

_BLOCK = re.compile(r"^```(\w*).*?\n(.*?)^```$\n?", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
_FRAMED = re.compile(r"(\s*\d* [|+=] ?)(note:|help:|\s*\^+|)(.*)")


def draw(text: str, width: int) -> Iterator[Line]:
    """The lines of a page, no wider than `width` where words allow it."""
    end = 0
    for block in _BLOCK.finditer(text):
        yield from _prose(text[end : block.start()], width)
        yield from _code(block[1], block[2])
        end = block.end()
    yield from _prose(text[end:], width)


def _code(language: str, body: str) -> Iterator[Line]:
    for line in body.splitlines():
        yield (Fragment("    "), *(_program(line) if language == "tdl" else _picture(line)))


def _program(line: str) -> Line:
    code, mark, comment = line.partition("#")
    style: Style = "error" if comment.startswith((" error:", " warning:")) else "dim"
    return (Fragment(code), Fragment(mark + comment, style))


def _picture(line: str) -> Line:
    """A line of a drawn error, as `tdlc check` would colour it."""
    if line.startswith(("error[", "warning[")):
        head, _, message = line.partition(":")
        return (Fragment(head, "error"), Fragment(f":{message}", "message"))
    framed = _FRAMED.match(line)
    if framed is None:
        return (Fragment(line, "place"),)
    bar, mark, rest = framed.groups()
    style: Style = "note" if mark == "note:" else "help" if mark == "help:" else "error"
    return (Fragment(bar, "frame"), Fragment(mark, style), Fragment(rest, "added" if "+" in bar else ""))


def _prose(text: str, width: int) -> Iterator[Line]:
    for number, paragraph in enumerate(re.split(r"\n(?=\n|- |#)", text)):
        if paragraph.startswith("\n") or (number and not paragraph):
            yield ()
        content = " ".join(paragraph.split())
        if content.startswith("#"):
            yield (Fragment(content.lstrip("# "), "error" if content.startswith("# ") else "message"),)
        elif content.startswith("- "):
            yield from _wrapped(content[2:], width, "  • ")
        elif content:
            yield from _wrapped(content, width, "")


def _wrapped(text: str, width: int, bullet: str) -> Iterator[Line]:
    """Words in lines; a piece of `code` is a word."""
    line: list[Fragment] = [Fragment(bullet)]
    room = width - len(bullet)
    for word in _words(_LINK.sub(r"\1", text)):
        size = sum(display_width(part.text) for part in word)
        if size + (len(line) > 1) > room and len(line) > 1:
            yield tuple(line)
            line, room = [Fragment(" " * len(bullet))], width - len(bullet)
        space = [Fragment(" ")] if len(line) > 1 else []
        line += [*space, *word]
        room -= size + len(space)
    yield tuple(line)


def _words(text: str) -> Iterator[list[Fragment]]:
    for word in re.findall(r"(?:`[^`]+`|[^\s`])+", text):
        parts = _CODE.split(word)
        yield [Fragment(part, "place" if odd % 2 else "") for odd, part in enumerate(parts) if part]
