"""Something that can be typed at a place, and how a client is told of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lsprotocol import types
from lsprotocol.types import CompletionItemKind as Kind
from tdl.language.source import Span
from tdl.lsp.actions.candidate import Edit


@dataclass(frozen=True, slots=True)
class Offer:
    """`snippet` is what a client inserts that can have the cursor put in it; offers of a low `rank` come first.

    `about` leads `completionItem/resolve` to the documentation: a word of the language, or a path and an offset in it.
    """

    label: str
    kind: Kind
    detail: str = ""
    snippet: str | None = None
    rank: int = 5
    about: tuple[str | int, ...] = ()
    edit: Edit | None = None
    """Another place that changes where the offer is taken."""


@dataclass(frozen=True, slots=True)
class Client:
    """What a client takes: places for the cursor in what is inserted, and Markdown in documentation."""

    has_snippets: bool
    has_markdown: bool

    @staticmethod
    def of(capabilities: types.ClientCapabilities) -> Client:
        document = capabilities.text_document
        completion = None if document is None else document.completion
        item = None if completion is None else completion.completion_item
        formats = None if item is None else item.documentation_format
        return Client(item is not None and bool(item.snippet_support), types.MarkupKind.Markdown in (formats or ()))


def item_of(
    offer: Offer, place: types.Range, number: int, client: Client, range_of: Callable[[Span], types.Range]
) -> types.CompletionItem:
    """An offer as LSP has it. Offers of one rank stay in the order in which they are made."""
    edit = offer.edit
    snippet = offer.snippet if client.has_snippets else None
    return types.CompletionItem(
        label=offer.label,
        kind=offer.kind,
        detail=offer.detail or None,
        sort_text=f"{offer.rank}{number:04}",
        insert_text_format=None if snippet is None else types.InsertTextFormat.Snippet,
        text_edit=types.TextEdit(place, offer.label if snippet is None else snippet),
        additional_text_edits=None if edit is None else [types.TextEdit(range_of(edit.span), edit.text)],
        data={"about": list(offer.about), "markdown": client.has_markdown} if offer.about else None,
    )
