"""One way to write a call or a line, in parts of which one is being written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a form: where it stands in it, and what is said of it."""

    start: int
    end: int
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    """`active` is the number of the part that is being written, None where it is none of them."""

    label: str
    parts: tuple[Part, ...] = ()
    active: int | None = None
    doc: str = ""


def form_of(pieces: Iterable[str | tuple[str, str]], active: int | None = None, doc: str = "") -> Form:
    """A form of plain texts and parts, which are a text and what is said of it."""
    label, parts = "", []
    for piece in pieces:
        text, said = (piece, None) if isinstance(piece, str) else piece
        if said is not None:
            parts.append(Part(len(label), len(label) + len(text), said))
        label += text
    return Form(label, tuple(parts), active, doc)


def separated(parts: Iterable[tuple[str, str]]) -> list[str | tuple[str, str]]:
    """Parts with commas between them."""
    found: list[str | tuple[str, str]] = []
    for part in parts:
        found.extend([", ", part] if found else [part])
    return found
