"""What a broken statement is: where it ends, and what it would have defined."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tdl.language.parser.automaton import BRACKETS, CONTINUING, END, NEWLINE, Automaton, Stop
from tdl.language.parser.lines import content_end, indentation, line_start
from tdl.language.source import Span
from tdl.language.syntax import Name

_NAME = r"[^\W\d]\w*"
_LEFT_SIDE = re.compile(rf"[ \t\f]*(?:let\b[ \t]*)?\(?[ \t]*({_NAME}(?:[ \t]*,[ \t]*{_NAME})*)[ \t]*\)?[ \t]*(=(?!=))?")
_SUBSCRIPTS = re.compile(r"\[[^\]]*\]?|:[ \t]*\w+")
_FIRST_WORDS = re.compile(rf"[ \t\f]*({_NAME})[ \t]+{_NAME}")
_RESULTS = re.compile(rf"->[ \t]*({_NAME}(?:[ \t]*,[ \t]*{_NAME})*)|\bas[ \t]+({_NAME})|\b(?:let|knob)[ \t]+({_NAME})")
_LINE = re.compile(r"[^\r\n]+")


def broken_end(automaton: Automaton, stop: Stop, start: int) -> int:
    """Where the statement from `start`, broken at `stop`, ends: at its `}`, or at the line end that ends it.

    A line end inside brackets ends it too if the next line is indented no deeper: then a bracket was forgotten.
    """
    text = automaton.text
    indent = indentation(text, start)
    opened, braces = automaton.open, 0
    previous = ""
    # A statement that broke at its very first token must not end before it, or reading would not move.
    position = stop.span.start if start == stop.span.start else automaton.last_end
    for kind, begin, end in _tokens(automaton, position):
        if kind == END:
            return begin
        if kind == NEWLINE:
            is_end = opened <= 0 and previous not in CONTINUING
            if braces == 0 and (is_end or indentation(text, end) <= indent):
                return begin
            continue
        if kind == "RBRACE":
            if braces == 0:
                return begin
            braces -= 1
        braces += kind == "LBRACE"
        opened += BRACKETS.get(kind, 0)
        previous = kind
    raise AssertionError("the tokens of a text end with END")


def _tokens(automaton: Automaton, position: int) -> Iterator[tuple[str, int, int]]:
    """The tokens from `position` as (kind, start, end), END last; words are all names."""
    machine = automaton.machine
    kind = ""
    while kind != END:
        match = machine.scan(automaton.text, position)
        if match is None:
            kind, start, end = automaton.unmatched(position)
        else:
            kind = machine.terminals[match.lastindex or 0]
            start, end = match.span(match.lastindex or 0)
        yield kind, start, end
        position = end


def swallowing_end(automaton: Automaton, start: int, stop: Stop, state: int) -> int | None:
    """Where the broken statement from `start` should have ended, if it went on into what looks like the next one.

    A[i] = X[i] +        ends here, though the line goes on by the rules
    B[i] = X[i]          the `=` does not fit; `state` is that before `A`
    """
    text, machine = automaton.text, automaton.machine
    begin = line_start(text, stop.span.start)
    is_alone = not text[line_start(text, start) : start].strip()
    if begin <= start or not is_alone or indentation(text, begin) > indentation(text, start):
        return None
    line = text[begin : stop.span.end]
    words = _FIRST_WORDS.match(line)
    starts_with_keyword = words is not None and machine.keywords.get(words[1]) in machine.actions[state]
    return content_end(text, start, begin) if starts_with_keyword or _is_assignment(line) else None


def _is_assignment(line: str) -> bool:
    match = _LEFT_SIDE.match(_without_subscripts(line))
    return match is not None and match[2] is not None


def _without_subscripts(line: str) -> str:
    """The line with blanks for what stands in brackets, and for dtypes."""
    return _SUBSCRIPTS.sub(lambda part: " " * len(part.group()), line)


def defined_names(text: str, span: Span, *, is_schedule: bool) -> tuple[Name, ...]:
    """The names that the text of `span` was to define, as far as they can be read."""
    find = _schedule_names if is_schedule else _left_side_names
    names: dict[str, Name] = {}
    quote = text.find('"', span.start, span.end)  # what is in a string defines nothing
    for line in _LINE.finditer(text, span.start, span.end if quote < 0 else quote):
        for start, name in find(line.group(), is_first=line.start() == span.start):
            begin = line.start() + start
            names.setdefault(name, Name(name, span=Span(begin, begin + len(name))))
    return tuple(names.values())


def _left_side_names(line: str, *, is_first: bool) -> Iterator[tuple[int, str]]:
    """`Y` of `Y[i] = ...`, `V` and `I` of `(V[i], I[i]) = ...`; of the first line also `Y` of `Y[i] ...`."""
    match = _LEFT_SIDE.match(_without_subscripts(line))
    if match is None or not (is_first or match[2]):
        return
    for name in re.finditer(_NAME, match[1]):
        if name.group() != "let":
            yield match.start(1) + name.start(), name.group()


def _schedule_names(line: str, *, is_first: bool) -> Iterator[tuple[int, str]]:
    """`io` and `ii` of `... -> io, ii`, `Cr` of `... as Cr`, `n` of `let n` and `knob n`."""
    for match in _RESULTS.finditer(line):
        group = match.lastindex or 0
        for name in re.finditer(_NAME, match[group]):
            yield match.start(group) + name.start(), name.group()
