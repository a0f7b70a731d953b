"""Everything that can be typed at a place."""

from __future__ import annotations

from collections.abc import Iterator

from tdl.lsp.completion.arguments import arguments
from tdl.lsp.completion.keywords import item_words, keywords
from tdl.lsp.completion.lines import in_line
from tdl.lsp.completion.offer import Offer
from tdl.lsp.completion.place import Place
from tdl.lsp.completion.statements import in_case, in_graph, in_head, in_op, in_property, values


def offers_at(place: Place) -> Iterator[Offer]:
    """Offers for a place, each label once."""
    seen: set[str] = set()
    for offer in _offers(place):
        if offer.label not in seen:
            seen.add(offer.label)
            yield offer


def _offers(place: Place) -> Iterator[Offer]:
    if place.is_between and not place.head:
        yield from item_words()
        return
    match place.cursor.statement:
        case "schedule_line":
            yield from in_line(place)
        case "op_statement" | "intrinsic_statement":
            yield from in_op(place)
        case "graph_statement":
            yield from in_graph(place)
        case "test_body" | "bench_body":
            yield from in_case(place)
        case "property":
            yield from in_property(place)
        case "reducer_line" | "fn_body" if place.takes_value:
            yield from values(place)
        case "reducer_line" | "fn_body":
            yield from arguments(place)
        case None if place.cursor.kinds:
            yield from in_head(place)
    if not place.head:
        yield from keywords(place)
