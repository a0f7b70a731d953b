"""What lines up between neighbouring rows: the `=` of definitions, the calls of tests, the comments at line ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from tdl.language.formatter.layout import Row, Statement, break_long_rows, places
from tdl.language.parser.lines import indentation

_COMMENT_GAP = 2  # blanks before a comment, at least


def fit(group: Sequence[Statement]) -> None:
    """Line up neighbours, and break their long rows: as breaking may move what lines up, until nothing changes."""
    while True:
        _line_up(group)
        broken = [break_long_rows(statement) for statement in group]
        if not any(broken):
            return


def _line_up(group: Sequence[Statement]) -> None:
    for statement in group:
        statement.columns.clear()
    for k in range(len(group[0].anchors)):
        starts = [(statement, statement.anchors[k], places(statement)[statement.anchors[k]]) for statement in group]
        inline = [(statement, anchor, place.start) for statement, anchor, place in starts if place.row == 0]
        target = max((start for _, _, start in inline), default=0)
        for statement, anchor, _ in inline:
            statement.columns[anchor] = target


def text_of(rows: Iterable[Row]) -> list[str]:
    """The lines of the result, comments lined up over neighbouring rows."""
    lines: list[str] = []
    run: list[Row] = []
    for row in rows:
        if run and not _goes_on(run[-1], row):
            lines += _with_comments(run)
            run = []
        if row.is_after_blank and lines:
            lines.append("")
        if row.comment is None:
            lines.append(row.code)
        else:
            run.append(row)
    return lines + _with_comments(run)


def _goes_on(before: Row, row: Row) -> bool:
    """Whether the comments of two neighbouring rows line up."""
    is_head = before.code.endswith("{") or row.code.endswith("{")
    is_level = indentation(before.code, 0) == indentation(row.code, 0)
    return row.comment is not None and not row.is_after_blank and is_level and not is_head


def _with_comments(run: Sequence[Row]) -> list[str]:
    """A run of rows that all have a comment: in one column, as far behind the longest row as the author had it."""
    comments = [row.comment for row in run if row.comment is not None]
    gap = _COMMENT_GAP
    if len({comment.column for comment in comments}) == 1:
        gap = max(gap, min(comment.gap for comment in comments))
    column = max((_width(row.code) for row in run), default=0) + gap
    return [row.code + " " * (column - _width(row.code)) + c.text for row, c in zip(run, comments)]


def _width(code: str) -> int:
    """The columns of the last line of a row, which may hold a string of several."""
    return len(code) - max(code.rfind("\n"), code.rfind("\r")) - 1


def neighbours(statements: Sequence[Statement], is_joined: Sequence[bool]) -> list[list[Statement]]:
    """Statements in groups: one goes into the group of the one before where `is_joined`."""
    number = 0
    numbers: list[int] = []
    for joined in is_joined:
        number += not joined
        numbers.append(number)
    pairs = zip(numbers, statements)
    return [[statement for _, statement in group] for _, group in groupby(pairs, key=lambda pair: pair[0])]
