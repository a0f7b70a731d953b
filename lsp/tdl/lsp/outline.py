"""The structure of a file: its items, and what each of them declares.

op rows[T: float](X: T[M, K]) -> Y: T[M]        T, X, Y, and the tensors that it defines between
schedule rows for cpu                           its knobs, values, copies and loops

Only syntax is asked, so an outline of any file is had at once, whatever is wrong with the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from lsprotocol.types import SymbolKind
from tdl.language import syntax
from tdl.language.parse import parse_file
from tdl.language.source import Source, Span

_KINDS: dict[str, SymbolKind] = {
    "const": SymbolKind.Constant,
    "fn": SymbolKind.Function,
    "reducer": SymbolKind.Operator,
    "op": SymbolKind.Function,
    "graph": SymbolKind.Function,
    "schedule": SymbolKind.Object,
    "tactic": SymbolKind.Method,
    "intrinsic": SymbolKind.Function,
    "memory": SymbolKind.Struct,
    "target": SymbolKind.Struct,
    "test": SymbolKind.Event,
    "bench": SymbolKind.Event,
    "import": SymbolKind.Module,
    "from": SymbolKind.Module,
}
_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Entry:
    """Something with a name. `span` is all of it, `name_span` its name; `detail` is what follows the name."""

    name: str
    kind: SymbolKind
    span: Span
    name_span: Span
    detail: str = ""
    children: tuple[Entry, ...] = ()

    def shifted(self, offset: int) -> Entry:
        """In the text that it stands in `offset` characters further on."""
        children = tuple([each.shifted(offset) for each in self.children])
        name_span = self.name_span.shifted(offset)
        return Entry(self.name, self.kind, self.span.shifted(offset), name_span, self.detail, children)


def outline(source: Source) -> Iterator[Entry]:
    """The items of a file, in order; spans are absolute."""
    for placed in parse_file(source).items:
        entry = _item(placed.parsed)
        if entry is not None:
            yield entry.shifted(placed.offset)


@lru_cache(maxsize=2048)
def _item(parsed: syntax.ParsedItem) -> Entry | None:
    """An item by itself; None where it has no name."""
    text, item = parsed.text, parsed.item
    keyword = _WORD.match(text, item.span.start)
    name = _name_of(item)
    if keyword is None or name is None:
        return None
    inside = tuple(_inside(item, text))
    return Entry(
        name.text, _KINDS[keyword[0]], Span(0, len(text)), name.span, _detail(item, text, name.span.end), inside
    )


def _name_of(item: syntax.Item) -> syntax.Name | None:
    match item:
        case syntax.Import(path):
            return syntax.Name(path.text, span=path.span)
        case syntax.Schedule(op):
            return syntax.Name(op.text, span=op.span)
    return item.name if item.name is not None and item.name.text else None


def _detail(item: syntax.Item, text: str, start: int) -> str:
    """The rest of the head."""
    head = text[start : item.span.end].partition("=" if isinstance(item, syntax.Const | syntax.Fn) else "{")[0]
    words = " ".join(head.split())
    return f"schedule {words}".rstrip() if isinstance(item, syntax.Schedule) else words.lstrip(": ")


def _inside(item: syntax.Item, text: str) -> Iterator[Entry]:
    def entry(name: syntax.Name, kind: SymbolKind, span: Span, detail: str = "") -> Entry:
        return Entry(name.text, kind, span, name.span, detail)

    match item:
        case syntax.Op() | syntax.Graph() | syntax.Intrinsic():
            for each in item.params:
                yield entry(each.name, SymbolKind.TypeParameter, each.span, _after(each.name, each.span, text))
            for declared in (*item.inputs, *item.outputs):
                detail = _after(declared.name, declared.span, text)
                yield entry(declared.name, SymbolKind.Variable, declared.span, detail)
            known = {each.name.text for each in (*item.inputs, *item.outputs)}
            for name, span in _first(_made(item.body), known):
                yield entry(name, SymbolKind.Variable, span)
        case syntax.Schedule() | syntax.Tactic():
            for line in item.body:
                yield from (entry(name, kind, line.span) for name, kind in _named(line))


def _after(name: syntax.Name, span: Span, text: str) -> str:
    """What follows a name in its declaration."""
    return " ".join(text[name.span.end : span.end].split()).lstrip(": ")


def _made(body: Iterable[syntax.Statement | syntax.Assign]) -> Iterator[tuple[syntax.Name, Span]]:
    for each in body:
        match each:
            case syntax.Let(name):
                yield name, each.span
            case syntax.Definition(targets):
                yield from ((target.name, each.span) for target in targets)
            case syntax.Assign(names) | syntax.Broken(names):
                yield from ((name, each.span) for name in names)


def _first(found: Iterable[tuple[syntax.Name, Span]], known: set[str]) -> Iterator[tuple[syntax.Name, Span]]:
    """Each name once."""
    for name, span in found:
        if name.text not in known:
            known.add(name.text)
            yield name, span


def _named(line: syntax.ScheduleLine) -> Iterator[tuple[syntax.Name, SymbolKind]]:
    """The names that a line makes."""
    match line:
        case syntax.Knob(name) | syntax.LetValue(name):
            yield name, SymbolKind.Property if isinstance(line, syntax.Knob) else SymbolKind.Constant
        case syntax.Line(_, _, clauses, results):
            for clause in clauses:
                if clause.keyword.text == "as":
                    values = (value for value in clause.values if isinstance(value, syntax.Ref))
                    yield from ((value.parts[0], SymbolKind.Variable) for value in values)
            yield from ((name, SymbolKind.Field) for name in results)
