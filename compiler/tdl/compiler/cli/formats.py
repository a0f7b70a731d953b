"""Diagnostics for other programs: a JSON list, and GitHub's workflow commands.

Lines and columns count from 1; the end is the place just behind the last character.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from tdl.language.diagnostic import Diagnostic
from tdl.language.render import asked_for
from tdl.language.source import Source

Found = tuple[Source, Diagnostic]


def as_json(found: Iterable[Found]) -> str:
    """A list of objects, one a diagnostic."""
    return json.dumps([_record(source, diagnostic) for source, diagnostic in found], indent=2)


def as_github(found: Iterable[Found]) -> str:
    """One `::error` line for each diagnostic, which GitHub shows beside the changed line."""
    return "\n".join(_command(_record(source, diagnostic)) for source, diagnostic in found)


def _record(source: Source, diagnostic: Diagnostic) -> dict[str, object]:
    start, end = source.position(diagnostic.primary.start), source.position(diagnostic.primary.end)
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "notes": [*diagnostic.notes, *_titles(diagnostic)],
        "path": source.path,
        "line": start.line,
        "column": start.column,
        "end_line": end.line,
        "end_column": end.column,
    }


def _titles(diagnostic: Diagnostic) -> list[str]:
    """Of the fixes that no note asks for already."""
    asked = {asked_for(note, diagnostic.fixes) for note in diagnostic.notes}
    return [fix.title for fix in diagnostic.fixes if fix not in asked]


def _command(record: dict[str, object]) -> str:
    level = {"error": "error", "warning": "warning", "note": "notice"}[str(record["severity"])]
    places = {
        "file": record["path"],
        "line": record["line"],
        "col": record["column"],
        "endLine": record["end_line"],
        "endColumn": record["end_column"],
        "title": f"TDL {record['code']}",
    }
    notes = record["notes"]
    assert isinstance(notes, list)
    text = "\n".join([str(record["message"]), *map(str, notes)])
    return f"::{level} {','.join(f'{key}={_property(str(value))}' for key, value in places.items())}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
