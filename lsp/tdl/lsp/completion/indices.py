"""Indices of the statement that is being typed, and the left-hand sides that it may begin with.

Y[i, j] = sum(X[i, k] for k if ‸        i, j and k are known
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lsprotocol.types import CompletionItemKind as Kind
from tdl.language import syntax
from tdl.language.mentions.heads import names_of
from tdl.lsp.completion import names
from tdl.lsp.completion.offer import Offer
from tdl.lsp.completion.place import Place, item_of
from tdl.lsp.signatures import tensors_of

_LETTERS = "ijklmn"


def indices(place: Place) -> Iterator[Offer]:
    """Those so far: in brackets on the left, and behind `for`."""
    texts, found = place.tokens, dict.fromkeys(_left(place.tokens))
    for number, text in enumerate(texts):
        if text == "for":
            found.update(dict.fromkeys(_binders(texts[number + 1 :])))
    yield from _offered(place, list(found))


def listed(place: Place) -> Iterator[Offer]:
    """Those that the `for` behind a definition may list: those on the left that it does not list yet."""
    texts = place.tokens
    if "for" not in texts or _depth(texts) != 0:
        return
    last = len(texts) - texts[::-1].index("for")
    known = set(_binders(texts[last:]))
    yield from _offered(place, [name for name in _left(texts) if name not in known])


def left_sides(place: Place) -> Iterator[Offer]:
    """Outputs and intermediates, with an index for each dimension where their number is known."""
    declaration = None if place.entry is None else place.entry.declaration
    tensors = {} if declaration is None or place.rest else tensors_of(declaration)
    has_packs = declaration is not None and any(each.kind == "pack" for each in names_of(declaration).values())
    for offer in names.own_names(place, ("output", "intermediate")):
        tensor = tensors.get(offer.label)
        rank = 0 if tensor is None or has_packs else len(tensor.shape)
        if isinstance(item_of(place), syntax.Op | syntax.Intrinsic) and 0 < rank <= len(_LETTERS):
            yield replace(offer, snippet=f"{offer.label}[${{1:{', '.join(_LETTERS[:rank])}}}] = $0")
        else:
            yield offer


def _left(texts: tuple[str, ...]) -> Iterator[str]:
    """The names in the subscripts of what is defined."""
    depth = 0
    for text in texts[: texts.index("=")] if "=" in texts else ():
        depth += (text == "[") - (text == "]")
        if depth and text.isidentifier():
            yield text


def _binders(texts: tuple[str, ...]) -> Iterator[str]:
    """`k` and `r` of `k, r in 0..3`."""
    depth = 0
    for number, text in enumerate(texts):
        depth += (text in ("(", "[")) - (text in (")", "]"))
        if depth < 0 or text == "if":
            return
        if depth == 0 and text.isidentifier() and texts[number - 1 : number] in ((), (",",), ("..",)):
            yield text


def _depth(texts: tuple[str, ...]) -> int:
    return sum((text in ("(", "[")) - (text in (")", "]")) for text in texts)


def _offered(place: Place, found: list[str]) -> Iterator[Offer]:
    known = set() if place.entry is None else set(names_of(place.entry.declaration))
    yield from (Offer(name, Kind.Variable, "index", rank=0) for name in found if name not in known)
