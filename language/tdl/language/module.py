"""A module: its declarations with keys, its imports followed, its own mistakes in names found.

A declaration's key digests its text and the keys of what it refers to. Declarations that refer to each other in a
circle are reported, and cannot be used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import lru_cache
from hashlib import blake2b

from tdl.language import syntax
from tdl.language.diagnostic import Diagnostic, Fix, Label
from tdl.language.scope import NAMESPACES, Declaration, Environment, Namespace, closest
from tdl.language.source import Source, Span

Key = tuple[Namespace, str]


@dataclass(frozen=True)
class Entry:
    """An item in its place, as a declaration."""

    placed: syntax.PlacedItem
    declaration: Declaration


@dataclass(frozen=True, eq=False)
class Module:
    """`exports` are the names other modules see: its own and those it imports by name."""

    source: Source
    entries: tuple[Entry, ...]
    exports: Mapping[Key, Declaration]
    diagnostics: tuple[Diagnostic, ...]
    broken: frozenset[str]

    def find(self, namespace: Namespace, name: str) -> Declaration | None:
        return self.exports.get((namespace, name))

    @property
    def ops(self) -> dict[str, Declaration]:
        """Every op by name, imported ones included."""
        return {
            name: declaration
            for (space, name), declaration in self.exports.items()
            if space == "callable" and isinstance(declaration.item, syntax.Op)
        }


Import = Callable[[str], "Module | str"]
"""The module a dotted path names, or why there is none."""


def build_module(source: Source, file: syntax.File, load: Import) -> Module:
    """Resolve a parsed file's own names and imports. `load` is asked for each import path."""
    return _Builder(source, file, load).build()


@lru_cache(maxsize=8192)
def free_names(parsed: syntax.ParsedItem) -> frozenset[str]:
    """Every dotted name that an item refers to, whatever it turns out to mean."""
    return frozenset(_refs(parsed.item))


def _refs(node: object) -> Iterator[str]:
    if isinstance(node, syntax.Ref):
        yield node.text
    elif isinstance(node, tuple):
        for each in node:
            yield from _refs(each)
    elif is_dataclass(node):
        for part in fields(node):
            if part.name != "span":
                value = getattr(node, part.name)
                if not isinstance(value, str | bool | None):
                    yield from _refs(value)


@dataclass
class _Builder:
    source: Source
    file: syntax.File
    load: Import
    diagnostics: list[Diagnostic] = field(default_factory=list)
    own: dict[Key, syntax.PlacedItem] = field(default_factory=dict)
    imported: dict[Key, Declaration] = field(default_factory=dict)
    named: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    made: dict[int, Declaration] = field(default_factory=dict)
    making: list[int] = field(default_factory=list)

    def build(self) -> Module:
        for placed in self.file.items:
            if isinstance(placed.item, syntax.Import):
                self._import(placed)
        for placed in self.file.items:
            self._name(placed)
        entries = tuple(Entry(placed, self._declare(placed)) for placed in self.file.items)
        exports = {key: declaration for key, declaration in self.imported.items() if key[1] in self.named}
        exports.update({key: self._declare(placed) for key, placed in self.own.items()})
        return Module(self.source, entries, exports, tuple(self.diagnostics), frozenset(self.broken))

    def _error(self, code: str, message: str, span: Span, placed: syntax.PlacedItem, *notes: str) -> None:
        self.diagnostics.append(Diagnostic(code, message, span.shifted(placed.offset), notes))

    # ---- names of this module

    def _name(self, placed: syntax.PlacedItem) -> None:
        item = placed.item
        if isinstance(item, syntax.BrokenItem):
            if item.name is not None:
                self.broken.add(item.name.text)
            return
        space = NAMESPACES.get(type(item))
        if space is None:
            return
        name = item.name  # type: ignore[union-attr]
        assert isinstance(name, syntax.Name)
        if not name.text:
            return
        key = (space, name.text)
        if key in self.own or (key in self.imported and name.text in self.named):
            self._duplicate(name, key, placed)
            return
        self.own[key] = placed

    def _duplicate(self, name: syntax.Name, key: Key, placed: syntax.PlacedItem) -> None:
        secondary: tuple[Label, ...] = ()
        earlier = self.own.get(key)
        if earlier is not None:
            first = earlier.item.name  # type: ignore[union-attr]
            assert isinstance(first, syntax.Name)
            secondary = (Label(first.span.shifted(earlier.offset), "first declared here"),)
        message = f"`{name.text}` is declared twice in this module"
        self.diagnostics.append(
            Diagnostic("duplicate-name", message, name.span.shifted(placed.offset), secondary=secondary)
        )

    # ---- imports

    def _import(self, placed: syntax.PlacedItem) -> None:
        item = placed.item
        assert isinstance(item, syntax.Import)
        path = item.path.text
        loaded = self.load(path)
        if isinstance(loaded, str):
            self._error("import", loaded, item.path.span, placed)
            self.broken.update(name.text for name in item.names or ())
            return
        if item.names is None:
            for (space, name), declaration in loaded.exports.items():
                self.imported[space, f"{path}.{name}"] = declaration
            self.broken.update(f"{path}.{name}" for name in loaded.broken)
            return
        for name_ in item.names:
            self._import_name(name_, path, loaded, placed)

    def _import_name(self, name: syntax.Name, path: str, loaded: Module, placed: syntax.PlacedItem) -> None:
        found = {key: each for key, each in loaded.exports.items() if key[1] == name.text}
        if name.text in self.named:
            self._error("duplicate-name", f"`{name.text}` is imported twice", name.span, placed)
        elif found:
            self.named.add(name.text)
            self.imported.update(found)
        elif name.text in loaded.broken:
            self.broken.add(name.text)
        else:
            suggestion = closest(name.text, [each for _, each in loaded.exports])
            notes = () if suggestion is None else (f"did you mean `{suggestion}`?",)
            fixes = (
                ()
                if suggestion is None
                else (Fix(f"change to `{suggestion}`", name.span.shifted(placed.offset), suggestion),)
            )
            message = f"`{path}` declares no `{name.text}`"
            self.diagnostics.append(Diagnostic("import", message, name.span.shifted(placed.offset), notes, fixes=fixes))
            self.broken.add(name.text)

    # ---- keys and environments

    def _declare(self, placed: syntax.PlacedItem) -> Declaration:
        identity = id(placed)
        if identity in self.made:
            return self.made[identity]
        self.making.append(identity)
        found: dict[Key, Declaration] = {}
        circular: set[str] = set()
        for name in free_names(placed.parsed):
            for space in ("value", "callable", "tactic", "intrinsic", "memory", "target"):
                key: Key = (space, name)
                target = self.own.get(key)
                if target is not None:
                    if target is placed and not _may_be_recursive(placed.item):
                        continue
                    if id(target) in self.making:
                        circular.add(name)
                        continue
                    found[key] = self._declare(target)
                elif key in self.imported:
                    found[key] = self.imported[key]
        self.making.pop()
        self._report_circle(placed, circular)
        broken = frozenset(circular | (self.broken & free_names(placed.parsed)))
        environment = Environment(dict(sorted(found.items())), broken)
        made = Declaration(
            placed.item, placed.parsed.text, self.source.path, placed.offset, _key(placed, environment), environment
        )
        self.made[identity] = made
        return made

    def _report_circle(self, placed: syntax.PlacedItem, circular: set[str]) -> None:
        item = placed.item
        if not circular or not _may_be_recursive(item):
            return
        name = item.name  # type: ignore[union-attr]
        assert isinstance(name, syntax.Name)
        others = ", ".join(f"`{each}`" for each in sorted(circular))
        what = "itself" if circular == {name.text} else f"{others}, which refers back to it"
        note = "recursion over tensors is written as a recurrence: `S[t] = S[t - 1] + X[t]`"
        self._error("definition", f"`{name.text}` refers to {what}", name.span, placed, note)


def _may_be_recursive(item: syntax.Item) -> bool:
    """Whether a reference to its own name would be recursion, and not another thing of that name."""
    return isinstance(item, syntax.Const | syntax.Fn | syntax.Reducer)


def _key(placed: syntax.PlacedItem, environment: Environment) -> str:
    digest = blake2b(placed.parsed.text.encode("utf-8", "surrogatepass"), digest_size=16)
    for (space, name), declaration in environment.declarations.items():
        digest.update(f"\0{space} {name} {declaration.key}".encode("utf-8", "surrogatepass"))
    for name in sorted(environment.broken):
        digest.update(f"\1{name}".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
