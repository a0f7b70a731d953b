"""What the standard library declares and this file does not import yet; taken, it is imported.

Y[i] = soft‸        softplus        and at the top: from std.math import softplus
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from tdl.language import syntax
from tdl.language.analysis import standard, standard_modules
from tdl.language.parse import parse_file
from tdl.lsp.actions.imports import import_of
from tdl.lsp.completion.names import ITEMS, Kinds
from tdl.lsp.completion.offer import Offer
from tdl.lsp.completion.place import Place


def unimported(place: Place, kinds: Kinds) -> Iterator[Offer]:
    """Items of some kinds whose names mean nothing here yet."""
    if place.head or place.entry is None:
        return
    known = {name for _, name in place.snapshot.analysis.module.exports}
    called = "" if place.rest.startswith("(") else "($0)"
    for path, name, kind, start in _items():
        if kind in kinds and name not in known:
            about = (f"<{path}>", start)
            edit = import_of(place.snapshot, path, name)
            yield Offer(name, ITEMS[kind], f"from {path}", f"{name}{called}", 7, about, edit)


@lru_cache(maxsize=1)
def _items() -> tuple[tuple[str, str, type[syntax.Item], int], ...]:
    """The items of the standard library: module, name, kind, and where the name stands."""
    found: list[tuple[str, str, type[syntax.Item], int]] = []
    for path in standard_modules():
        source = standard(path)
        for placed in () if source is None else parse_file(source).items:
            item = placed.item
            if isinstance(item, syntax.Fn | syntax.Reducer | syntax.Op | syntax.Tactic):
                found.append((path, item.name.text, type(item), placed.offset + item.name.span.start))
    return tuple(found)
