"""Places that a client jumps to, as links where it takes them."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types
from tdl.language.source import Span
from tdl.lsp.positions import range_at
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.uses import item_span, occurrences_at

Capability = (
    types.DefinitionClientCapabilities | types.DeclarationClientCapabilities | types.TypeDefinitionClientCapabilities
)
Target = tuple[str, Span]
"""A file and a name in it."""

Jump = list[types.Location] | list[types.LocationLink] | None


def jump(
    snapshot: Snapshot, position: types.Position, targets: Iterable[Target], capability: Capability | None
) -> Jump:
    """The answer to a request for places; None where there is none."""
    found = list(dict.fromkeys(targets))
    if capability is not None and capability.link_support:
        origin = next(iter(occurrences_at(snapshot, position)), None)
        place = None if origin is None else snapshot.range(origin.span)
        links = [link for path, span in found if (link := _link(snapshot, path, span, place)) is not None]
        return links or None
    locations = (snapshot.location(path, span) for path, span in found)
    return [each for each in locations if each is not None] or None


def _link(snapshot: Snapshot, path: str, span: Span, origin: types.Range | None) -> types.LocationLink | None:
    source = snapshot.workspace.read(path)
    if source is None:
        return None
    whole, name = (range_at(source, each, snapshot.encoding) for each in (item_span(source, span), span))
    return types.LocationLink(snapshot.workspace.uri(path), whole, name, origin)
