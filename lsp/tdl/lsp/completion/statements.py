"""What can be typed in the heads of items, and in the bodies of ops, graphs, functions, tests and hardware."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from lsprotocol.types import CompletionItemKind as Kind
from tdl.language import syntax
from tdl.language.dtypes import CLASSES
from tdl.language.hardware import MEMORY_PROPERTIES, SCOPES, TARGET_PROPERTIES, TARGETS
from tdl.language.mentions.heads import names_of
from tdl.lsp.completion import names
from tdl.lsp.completion.arguments import arguments, callee_of
from tdl.lsp.completion.indices import indices, left_sides, listed
from tdl.lsp.completion.offer import Offer
from tdl.lsp.completion.place import Place, up_to
from tdl.lsp.completion.unimported import unimported
from tdl.lsp.glossary import builtins

_VALUES = ("parameter", "dimension", "argument", "input", "output", "intermediate")
_SIZES = ("parameter", "dimension", "pack")


def in_head(place: Place) -> Iterator[Offer]:
    """Of an item."""
    match place.keyword:
        case "import":
            yield from names.module_paths(place)
        case "from" if "import" in place.tokens:
            yield from _imported_names(place)
        case "from":
            yield from names.module_paths(place)
        case "schedule" | "target" | "intrinsic" if place.tokens[-1:] == ("for",):
            yield from names.known(TARGETS, Kind.EnumMember)
            yield from names.declared(place, "target")
        case "schedule" if "when" not in place.tokens and place.takes_value:
            yield from names.module_names(place, names.OPS)
        case "schedule" if "when" in place.tokens:
            yield from _condition(place)
        case "tactic" if place.tokens[-1:] == (":",):
            yield from names.parameter_kinds()
            yield from names.dtypes()
        case _ if place.takes_value:
            yield from _declaration(place)


def _imported_names(place: Place) -> Iterator[Offer]:
    texts = place.tokens
    path = "".join(texts[1 : texts.index("import")])
    module = names.imported(place, path)
    known = set(texts[texts.index("import") :])
    for (_, name), declaration in module.exports.items() if module is not None else ():
        if name not in known:
            yield names.offer_of(declaration, name, is_called=False)


def _condition(place: Place) -> Iterator[Offer]:
    """Behind `when`: sizes and parameters of the op, dtypes, constants."""
    name = up_to(place.tokens[1:], "for", "when")
    op = place.snapshot.analysis.module.find("callable", name)
    for each, meaning in names_of(op).items() if op is not None else ():
        if meaning.kind in ("parameter", "dtype parameter", "dimension"):
            yield Offer(each, Kind.EnumMember, meaning.kind, rank=1)
    yield from names.dtypes()
    yield from names.module_names(place, names.CONSTANTS)


def _declaration(place: Place) -> Iterator[Offer]:
    """In the head of an op, graph, function, reducer or intrinsic, or in a constant."""
    last = place.tokens[-1:]
    if last == (":",) or (last in (("->",), ("(",), (",",)) and "type_expr" in place.cursor.begins):
        if _is_in_parameters(place):
            yield from names.parameter_kinds()
        yield from names.own_names(place, ("dtype parameter",))
        yield from _written(place, is_class=True)
        yield from names.dtypes()
        return
    found = [*names.own_names(place, _VALUES if place.keyword == "fn" else _SIZES)]
    yield from found
    yield from (each for each in _written(place, is_class=False) if each.label not in {old.label for old in found})
    yield from names.module_names(place, names.CONSTANTS)
    if place.keyword == "const":
        yield from names.functions(place)
    if last == ("=",):
        yield from names.dtypes()


def _is_in_parameters(place: Place) -> bool:
    """Whether this is between the brackets behind the name of an item."""
    texts = place.tokens
    return texts[2:3] == ("[",) and texts.count("[") > texts.count("]") and "(" not in texts


def _written(place: Place, *, is_class: bool) -> Iterator[Offer]:
    """Parameters and dimensions in a head that does not parse yet."""
    if place.entry is not None and not isinstance(place.entry.placed.item, syntax.BrokenItem):
        return
    texts = place.tokens
    opened = 0
    for number, text in enumerate(texts[2:], 2):
        opened += (text == "[") - (text == "]")
        if not text.isidentifier() or not opened or text in builtins():
            continue
        is_parameter = texts[number + 1 : number + 2] == (":",)
        of_dtypes = is_parameter and bool({*texts[number + 2 : number + 3]} & {*CLASSES})
        if of_dtypes == is_class:
            kind = Kind.TypeParameter if of_dtypes else Kind.EnumMember
            yield Offer(text, kind, "parameter" if is_parameter else "dimension", rank=1)


# ---- bodies


def in_op(place: Place) -> Iterator[Offer]:
    """A definition, or a `let`."""
    texts = place.tokens
    if not place.takes_value:
        if not texts:
            yield from left_sides(place)
        elif texts == ("let",):
            yield from names.own_names(place, ("intermediate",))
        else:
            yield from listed(place)
            yield from arguments(place)
        return
    if "type_expr" in place.cursor.begins or (texts[-1:] == (":",) and "=" not in texts):
        yield from names.own_names(place, ("dtype parameter",))
        yield from names.dtypes()
        return
    if "=" not in texts and texts[:1] != ("let",):  # a subscript on the left introduces a name
        yield from names.own_names(place, _SIZES)
        return
    yield from indices(place)
    yield from values(place)


def values(place: Place) -> Iterator[Offer]:
    """What an expression can speak of."""
    if not place.head:
        yield from names.own_names(place, (*_VALUES, "dtype parameter"))
    yield from arguments(place)
    yield from names.module_names(place, (*names.CONSTANTS, *names.FUNCTIONS))
    if not place.head:
        yield from names.functions(place)
        yield from names.dtypes()
        yield from unimported(place, names.FUNCTIONS)


def in_graph(place: Place) -> Iterator[Offer]:
    """`h = dense(x, w, b)`."""
    if not place.takes_value:
        yield from arguments(place) if place.tokens else left_sides(place)
        return
    if not place.head:
        yield from names.own_names(place, ("input", "output", "intermediate", "parameter"))
    yield from arguments(place)
    yield from names.module_names(place, names.OPS_AND_GRAPHS)
    yield from unimported(place, names.OPS)


def in_case(place: Place) -> Iterator[Offer]:
    """`relu(N=37) expect Y = ...` of a test or bench: the op, then the names of its sizes and inputs."""
    texts = place.tokens
    if "(" not in texts:
        yield from names.module_names(place, names.OPS)
    elif "expect" not in texts:
        yield from arguments(place)
    elif texts[-1] in ("expect", ","):
        op = callee_of(place, up_to(texts, "(", "["))
        types = {} if op is None else names.types_of(op)
        given = {text for text, following in pairwise(texts) if following == "="}
        for name, meaning in names_of(op).items() if op is not None else ():
            if meaning.kind == "output" and name not in given:
                yield Offer(f"{name} =", Kind.Field, f"output {types.get(name, '')}".rstrip(), rank=0)


def in_property(place: Place) -> Iterator[Offer]:
    """A line of a memory or target."""
    table = MEMORY_PROPERTIES if place.keyword == "memory" else TARGET_PROPERTIES
    if not place.tokens:
        for name, form in table.items():
            yield Offer(name, Kind.Property, form.summary, f"{name} $0", 1, ("word", name))
    elif place.tokens[0] == "scope":
        yield from (Offer(name, Kind.EnumMember, rank=1) for name in SCOPES)
    elif place.tokens[0] == "copy":
        yield from names.declared(place, "intrinsic")
