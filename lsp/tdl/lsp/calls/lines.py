"""The forms of a line of a schedule, with the part that is being written.

split loop by size -> outer, inner          split C.i by ‸ writes `by size`
split loop into parts -> outer, inner
"""

from __future__ import annotations

import re
from functools import lru_cache

from tdl.grammar.tables import load_tables
from tdl.lsp.calls.form import Form, form_of
from tdl.lsp.completion.place import Place
from tdl.lsp.glossary import describe, describe_clause

FORMS: dict[str, tuple[str, ...]] = {
    "knob": ("knob name = value in [value, ...]",),
    "let": ("let name = value",),
    "require": ("require fact",),
    "split": (
        "split loop by size -> outer, inner",
        "split loop by [size, size, ...] -> outer, middle, inner",
        "split loop by size balanced -> outer, inner",
        "split loop into parts -> outer, inner",
    ),
    "tile": ("tile loop, loop, ... by size, size, ... -> outer, outer, inner, inner",),
    "fuse": ("fuse loop, loop, ... -> name",),
    "reorder": ("reorder loop, loop, ...",),
    "skew": ("skew loop, loop -> wavefront, inner", "skew loop, loop by factor -> wavefront, inner"),
    "unroll": ("unroll loop, ...",),
    "parallel": ("parallel loop, ...",),
    "vectorize": ("vectorize loop", "vectorize loop by lanes"),
    "peel": ("peel loop, ...",),
    "inline": ("inline stage, ...",),
    "compute": ("compute stage at loop", "compute stage at root"),
    "store": ("store stage at loop",),
    "fold": ("fold stage.axis by size",),
    "cache": ("cache tensor at loop in memory as name layout [loop, loop, ...] pad value",),
    "layout": ("layout tensor(i, j, ...) [subscript, ...] pad value pack",),
    "rfactor": ("rfactor loop -> name",),
    "stream": ("stream tensor, ...",),
    "prefetch": ("prefetch tensor at loop ahead iterations",),
    "double_buffer": ("double_buffer copy, ...",),
    "tensorize": ("tensorize loop with intrinsic",),
    "bind": ("bind loop to thread",),
    "cooperate": ("cooperate copy, ... over loop, ...",),
    "fast_math": ("fast_math",),
    "apply": ("apply tactic(argument, ...)",),
}


def of_line(place: Place) -> tuple[list[Form], int]:
    """The forms of the line at a place, and the number of the one that fits what is written."""
    verb, words = place.tokens[0], _keywords(place)
    forms = [_form(verb, text, words) for text in FORMS[verb]]
    has_list = "[" in place.tokens
    fitting = [number for number, text in enumerate(FORMS[verb]) if set(words) <= set(_words_of(text))]
    listed = [number for number in fitting if ("[" in FORMS[verb][number]) == has_list] or fitting
    return forms, listed[0] if listed else 0


def _keywords(place: Place) -> tuple[str, ...]:
    """The keywords behind the verb, as far as they are written."""
    known = _clause_words()
    tokens = place.cursor.tokens[1:]
    return tuple(each.text for each in tokens if each.kind != "NAME" and each.text in known)


@lru_cache(maxsize=1)
def _clause_words() -> frozenset[str]:
    return frozenset({*load_tables().words["clauses"], "in", "->", "="})


def _words_of(text: str) -> list[str]:
    return [word for word in re.findall(r"[\w.]+|->|=", text)[1:] if word in _clause_words()]


def _form(verb: str, text: str, words: tuple[str, ...]) -> Form:
    """A form in parts: what the line is applied to, then each clause with its keyword."""
    pieces: list[str | tuple[str, str]] = [f"{verb} "]
    starts = [0, *(match.start() for match in re.finditer(r"[\w.]+|->|=", text) if match[0] in _words_of(text))]
    ends = [*starts[1:], len(text)]
    names: list[str] = []
    for start, end in zip(starts, ends):
        part = text[max(start, len(verb) + 1) : end]
        name = "" if start == 0 else re.match(r"[\w.]+|->|=", part)[0]  # type: ignore[index]
        if part.strip():
            names.append(name)
            pieces.extend([(part.rstrip(), _said(name)), part[len(part.rstrip()) :]])
    last = words[-1] if words else ""
    about = describe(verb)
    active = names.index(last) if last in names else None
    return form_of(pieces, active, "" if about is None else f"{about.summary[:1].upper()}{about.summary[1:]}.")


def _said(keyword: str) -> str:
    about = describe_clause(keyword) if keyword else None
    return "" if about is None else about.summary
