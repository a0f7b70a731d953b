"""What to say about text that belongs to no item."""

from __future__ import annotations

import re

from tdl.language.diagnostic import Diagnostic, Fix
from tdl.language.parser.expected import shown
from tdl.language.parser.items import item_keywords
from tdl.language.parser.lines import line_start
from tdl.language.source import Span

_BLANK = re.compile(r"(?:[\s\ufeff]|#[^\r\n]*)*")
_FIRST = re.compile(r"\w+|\S")


def stray_text(text: str, start: int, end: int) -> list[Diagnostic]:
    """One diagnostic, at the first word of the stretch, or none where it is blank."""
    skipped = _BLANK.match(text, start, end)
    first = _FIRST.search(text, skipped.end() if skipped else start, end)
    if first is None:
        return []
    word, span = first.group(), Span(*first.span())
    if word not in item_keywords():
        return [_unknown(word, span)]
    line = line_start(text, span.start)
    if not text[line : span.start].strip("\ufeff"):
        return [Diagnostic("syntax", f"expected a name after `{word}`", Span(span.end, span.end))]
    if text[line : span.start].isspace():
        fix = Fix("remove the indentation", Span(line, span.start), "")
        return [Diagnostic("syntax", f"`{word}` starts an item: expected it in column 1", span, fixes=(fix,))]
    return [Diagnostic("syntax", f"`{word}` starts an item: expected it on a line of its own", span)]


def _unknown(word: str, span: Span) -> Diagnostic:
    from difflib import get_close_matches

    message = f"expected an item (`op`, `fn`, `schedule`, `test`, ...), found {shown(word)}"
    near = get_close_matches(word, sorted(item_keywords()), n=1)
    if not near:
        return Diagnostic("syntax", message, span)
    fix = Fix(f"change to `{near[0]}`", span, near[0])
    return Diagnostic("syntax", message, span, (f"did you mean `{near[0]}`?",), fixes=(fix,))
