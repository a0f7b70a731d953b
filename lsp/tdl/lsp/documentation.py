"""What is said about something: in hovers, beside completions and in signatures, as Markdown or as plain text."""

from __future__ import annotations

import re

from lsprotocol import types
from tdl.language.parse import parse_file
from tdl.lsp.glossary import Word, describe
from tdl.lsp.signatures import shown
from tdl.lsp.snapshot import name_of
from tdl.lsp.workspace import Workspace

_FENCE = re.compile(r"^```\w*\n?", re.MULTILINE)
_MORE = re.compile(r" \[More\]\([^)]*\)")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")


def markup(text: str, *, is_markdown: bool) -> types.MarkupContent:
    """Markdown for clients that show it; for others the same without its signs."""
    if is_markdown:
        return types.MarkupContent(types.MarkupKind.Markdown, text)
    plain = _LINK.sub(r"\1", _FENCE.sub("", _MORE.sub("", text))).replace("`", "")
    return types.MarkupContent(types.MarkupKind.PlainText, plain.strip())


def code(text: str) -> str:
    return f"```tdl\n{text}\n```"


def of_word(name: str, word: Word) -> str:
    """A word of the language: how it is used, what it is, where to read on."""
    usage = code(word.usage) if word.usage else ""
    link = word.link
    more = "" if link is None else f" [More]({link})"
    return joined(usage, f"`{name}`: {word.summary}.{more}")


def of_item(workspace: Workspace, path: str, offset: int) -> str | None:
    """An item of a file, whose name begins at an offset; of a whole file (-1) the comment that it begins with."""
    source = workspace.read(path)
    if source is None:
        return None
    if offset < 0:
        return opening_comment(source.text)
    for placed in parse_file(source).items:
        name = name_of(placed.item)
        if name is not None and placed.offset + name.span.start == offset:
            return joined(code(shown(placed.parsed.text, placed.item)), getattr(placed.item, "doc", None) or "")
    return None


def opening_comment(text: str) -> str:
    """The words of the comment that a text begins with."""
    match = re.match(r"(?:#[^\r\n]*(?:\r\n?|\n|\Z))*", text)
    lines = match[0].splitlines() if match is not None else []
    return "\n".join(line.lstrip("#").removeprefix(" ") for line in lines)


def of_about(workspace: Workspace, about: list[str | int]) -> str | None:
    """What a completion's data leads to."""
    match about:
        case ["word", str(name)]:
            word = describe(name)
            return None if word is None else of_word(name, word)
        case [str(path), int(offset)]:
            return of_item(workspace, path, offset)
    return None


def joined(*parts: str) -> str:
    """Paragraphs, those left out that are empty."""
    return "\n\n".join(part for part in parts if part)
