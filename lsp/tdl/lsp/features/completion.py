"""What can be typed at the cursor, and what it is.

split ‸                 the loops that are there at that line
compute rows at ‸       those at which it may be computed
Y[i] = ‸                the names of the op with their types, functions, constants
"""

from __future__ import annotations

from lsprotocol import types
from tdl.lsp.completion.offer import Client, item_of
from tdl.lsp.completion.offers import offers_at
from tdl.lsp.completion.place import Place, place_at
from tdl.lsp.documentation import markup, of_about
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.workspace import Workspace

OPTIONS = types.CompletionOptions([".", " ", "(", "["], resolve_provider=True)


def completion(snapshot: Snapshot, params: types.CompletionParams) -> types.CompletionList:
    """The offers at the cursor; what is being typed of a word is for the client to match."""
    place = place_at(snapshot, snapshot.offset(params.position))
    range = types.Range(snapshot.position(place.start), snapshot.position(place.offset))
    client = Client.of(snapshot.client)
    typed = None if params.context is None else params.context.trigger_character
    offers = () if typed == " " and _is_idle(place) else offers_at(place)
    items = [item_of(offer, range, number, client, snapshot.range) for number, offer in enumerate(offers)]
    return types.CompletionList(False, items)


def _is_idle(place: Place) -> bool:
    """Whether a space there asks for nothing: where nothing is missing, a line end must not take an offer."""
    is_line = place.cursor.statement == "schedule_line" and bool(place.tokens)
    return not (is_line or place.takes_value)


def resolve_completion(workspace: Workspace, item: types.CompletionItem) -> types.CompletionItem:
    """An offer with its documentation."""
    data = item.data if isinstance(item.data, dict) else {}
    about = data.get("about")
    text = of_about(workspace, about) if isinstance(about, list) else None
    if text:
        item.documentation = markup(text, is_markdown=data.get("markdown") is True)
    return item
