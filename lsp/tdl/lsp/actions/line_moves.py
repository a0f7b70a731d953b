"""What can be done to a line of a schedule as a whole: taken out, doubled, moved."""

from __future__ import annotations

from collections.abc import Iterator

from tdl.language import syntax
from tdl.lsp.actions import layout
from tdl.lsp.actions.candidate import MOVE, REWRITE, Candidate, Choice
from tdl.lsp.actions.subject import Subject


def line_moves(subject: Subject, number: int) -> Iterator[Choice]:
    """Changes of one line; whether they are legal hangs on the lines below it."""
    yield (Candidate("remove", "remove this line", REWRITE, layout.remove(subject, number)),)
    yield (_doubled(subject, number),)
    if number > 0:
        yield (Candidate("up", "move this line up", MOVE, layout.swap(subject, number - 1, number)),)
    if number + 1 < len(subject.lines):
        yield (Candidate("down", "move this line down", MOVE, layout.swap(subject, number, number + 1)),)


def _doubled(subject: Subject, number: int) -> Candidate:
    """The line once more below it: under new names, and of the last loop that it made where it made some."""
    line = subject.lines[number]
    text = subject.text(line)
    title = "duplicate this line"
    if isinstance(line, syntax.Line) and line.results:
        text = _renamed(subject, line)
        title = f"duplicate this line, for `{line.results[-1].text}`"
    elif isinstance(line, syntax.Knob | syntax.LetValue):
        text = layout.with_texts(subject, line, [(line.name, subject.fresh(line.name.text)[0])])
    elif isinstance(line, syntax.Line):
        copies = [value for clause in line.clauses if clause.keyword.text == "as" for value in clause.values]
        text = layout.with_texts(subject, line, [(copy, subject.fresh(subject.text(copy))[0]) for copy in copies])
    return Candidate("duplicate", title, REWRITE, layout.insert(subject, number + 1, text))


def _renamed(subject: Subject, line: syntax.Line) -> str:
    """`split C.i by 8 -> io, ii` as `split ii by 8 -> iio, iii`."""
    made, last = [name.text for name in line.results], line.results[-1].text
    loop = line.operands[-1]
    axis = loop.parts[-1].text if isinstance(loop, syntax.Ref) else ""
    names = [name.replace(axis, last, 1) if axis and name.startswith(axis) else name for name in made]
    fresh = subject.fresh(*names)
    return layout.with_texts(subject, line, [(loop, last), *zip(line.results, fresh)])
