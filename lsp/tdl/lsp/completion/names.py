"""Names that mean something at a place: those of the item, then those of the module."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePath

from lsprotocol.types import CompletionItemKind as Kind
from tdl.language import mentions, syntax
from tdl.language.analysis import locate
from tdl.language.dtypes import CLASSES, DTYPES
from tdl.language.graphs import values_of
from tdl.language.mentions.heads import names_of
from tdl.language.module import Module
from tdl.language.scope import Declaration, Namespace
from tdl.lsp.completion.offer import Offer
from tdl.lsp.completion.place import Place, item_of
from tdl.lsp.glossary import builtins
from tdl.lsp.signatures import behind_name, head, tensors_of, type_text

_KINDS: dict[mentions.data.Kind, Kind] = {
    "parameter": Kind.Constant,
    "dtype parameter": Kind.TypeParameter,
    "dimension": Kind.EnumMember,
    "pack": Kind.EnumMember,
    "input": Kind.Variable,
    "output": Kind.Variable,
    "intermediate": Kind.Variable,
    "argument": Kind.Variable,
}
ITEMS: dict[type[syntax.Item], Kind] = {
    syntax.Const: Kind.Constant,
    syntax.Fn: Kind.Function,
    syntax.Reducer: Kind.Operator,
    syntax.Op: Kind.Method,
    syntax.Graph: Kind.Module,
    syntax.Tactic: Kind.Function,
    syntax.Intrinsic: Kind.Function,
    syntax.Memory: Kind.Struct,
    syntax.TargetItem: Kind.Struct,
}

Kinds = Collection[type[syntax.Item]]
FUNCTIONS: Kinds = (syntax.Fn, syntax.Reducer)
OPS: Kinds = (syntax.Op,)
OPS_AND_GRAPHS: Kinds = (syntax.Op, syntax.Graph)
CONSTANTS: Kinds = (syntax.Const,)


# ---- of the item


def own_names(place: Place, kinds: Collection[str] = tuple(_KINDS)) -> Iterator[Offer]:
    """What the item declares, with its type."""
    if place.entry is None:
        return
    declaration = place.entry.declaration
    types = types_of(declaration)
    for name, meaning in names_of(declaration).items():
        if meaning.kind in kinds:
            detail = types.get(name, "")
            yield Offer(name, _KINDS[meaning.kind], f"{meaning.kind} {detail}".rstrip(), rank=1)


def types_of(declaration: Declaration) -> Mapping[str, str]:
    """The types of what an item declares, as far as they are known."""
    item = declaration.item
    match item:
        case syntax.Op() | syntax.Intrinsic():
            found = {name: type_text(tensor) for name, tensor in tensors_of(declaration).items()}
        case syntax.Graph():
            flows = {name: flow for name, flow in values_of(declaration).items() if flow is not None}
            found = {name: str(flow) for name, flow in flows.items()}
            found |= {each.name.text: _written(each.type, declaration) for each in item.outputs}
        case syntax.Fn(_, _, args):
            found = {each.name.text: _written(each.type, declaration) for each in args}
        case syntax.Reducer(_, _, left, right):
            found = {each.name.text: _written(each.type, declaration) for each in (*left, *right)}
        case _:
            found = {}
    params = getattr(item, "params", ())
    return {**found, **{each.name.text: _parameter(each, declaration) for each in params}}


def _written(node: syntax.Node, declaration: Declaration) -> str:
    return " ".join(declaration.text[node.span.start : node.span.end].split())


def _parameter(parameter: syntax.Parameter, declaration: Declaration) -> str:
    return declaration.text[parameter.name.span.end : parameter.span.end].lstrip(": ").strip()


# ---- of the module


def module_names(place: Place, kinds: Kinds) -> Iterator[Offer]:
    """Items of the module and of those it imports that are of some kinds, behind their dot where one is typed."""
    if place.head:
        module = imported(place, place.head)
        if module is not None:
            yield from _exports(module, kinds, place)
        yield from _parts(place)
        return
    yield from _exports(place.snapshot.analysis.module, kinds, place)
    yield from _parts(place)


def _exports(module: Module, kinds: Kinds, place: Place) -> Iterator[Offer]:
    own = item_of(place)
    for (_, name), declaration in module.exports.items():
        item = declaration.item
        if type(item) in kinds and item is not own:
            yield offer_of(declaration, name, is_called=not place.rest.startswith(("(", "[")))


def offer_of(declaration: Declaration, name: str, *, is_called: bool) -> Offer:
    """An item, with the brackets of a call where it is one."""
    item = declaration.item
    is_callable = isinstance(item, syntax.Fn | syntax.Reducer | syntax.Op | syntax.Graph | syntax.Tactic)
    detail = behind_name(declaration) if is_callable else head(declaration.text, item)
    snippet = f"{name}($0)" if is_callable and is_called else None
    about = (declaration.path, declaration.offset + declaration.span.start)
    return Offer(name, ITEMS[type(item)], detail, snippet, 2, about)


def _parts(place: Place) -> Iterator[Offer]:
    """The next part of the paths of modules that are imported as a whole."""
    prefix = f"{place.head}." if place.head else ""
    found = dict.fromkeys(
        path[len(prefix) :].partition(".")[0] for path in _imports(place) if path.startswith(prefix) and path != prefix
    )
    yield from (Offer(part, Kind.Module, "module", rank=3) for part in found if part)


def _imports(place: Place) -> Iterator[str]:
    for entry in place.snapshot.analysis.module.entries:
        item = entry.placed.item
        if isinstance(item, syntax.Import) and item.names is None:
            yield item.path.text


def imported(place: Place, path: str) -> Module | None:
    """The module that a path names, if the file imports it or is about to."""
    workspace = place.snapshot.workspace
    if place.keyword != "from" and path not in _imports(place):
        return None
    source = workspace.read(locate(path, place.snapshot.source.path))
    return None if source is None else workspace.analysis(source).module


def module_paths(place: Place) -> Iterator[Offer]:
    """Modules that can be imported: of the standard library, and files beside this one and below."""
    from importlib.resources import files

    standard = [f"std.{each.name[:-4]}" for each in files("tdl.language").joinpath("std").iterdir()]
    paths = sorted(each for each in standard if not each.startswith("std.__"))
    prefix = f"{place.head}." if place.head else ""
    for path in dict.fromkeys((*sorted(_beside(place)), *paths)):
        if path.startswith(prefix):
            about = (locate(path, place.snapshot.source.path), -1)
            yield Offer(path[len(prefix) :], Kind.Module, "module", rank=1, about=about)


def _beside(place: Place) -> Iterator[str]:
    own = PurePath(place.snapshot.source.path)
    for file in place.snapshot.workspace.files():
        path = PurePath(file)
        if path != own and path.is_relative_to(own.parent) and path.suffix == ".tdl":
            parts = path.relative_to(own.parent).with_suffix("").parts
            if all(part.isidentifier() for part in parts):
                yield ".".join(parts)


# ---- of the language


def functions(place: Place) -> Iterator[Offer]:
    """What the language can compute, and reduce with."""
    from tdl.language.calls import BUILTIN_NAMES, REDUCER_NAMES

    is_called = not place.rest.startswith("(")
    for name in sorted(BUILTIN_NAMES):
        kind = Kind.Operator if name in REDUCER_NAMES else Kind.Function
        yield Offer(name, kind, builtins()[name].summary, f"{name}($0)" if is_called else None, 3, ("word", name))


def dtypes() -> Iterator[Offer]:
    yield from (_builtin(name, Kind.Class) for name in DTYPES)


def parameter_kinds() -> Iterator[Offer]:
    """What a compile-time parameter can be."""
    for name in ("int", *CLASSES):
        yield Offer(name, Kind.Interface, builtins()[name].summary, rank=1, about=("word", name))


def known(names: Collection[str], kind: Kind) -> Iterator[Offer]:
    """Names of the language."""
    yield from (_builtin(name, kind) for name in names)


def _builtin(name: str, kind: Kind) -> Offer:
    return Offer(name, kind, builtins()[name].summary, rank=2, about=("word", name))


def declared(place: Place, space: Namespace) -> Iterator[Offer]:
    """Items of a namespace: memories, targets, intrinsics, tactics."""
    for (each, name), declaration in place.snapshot.analysis.module.exports.items():
        if each == space:
            yield offer_of(declaration, name, is_called=not place.rest.startswith("("))
