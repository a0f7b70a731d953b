"""A module: its declarations with keys, its imports followed, its own mistakes in names found.

A declaration's key digests its text and the keys of what it refers to. Declarations that refer to each other in a
circle are reported, and cannot be used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from tdl.language import syntax
from tdl.language.diagnostic import Diagnostic, Fix, Label
from tdl.language.dtypes import DTYPES
from tdl.language.references import components, uses
from tdl.language.scope import MAX_DEPTH, NAMESPACES, Declaration, Environment, Namespace, closest
from tdl.language.source import Source, Span

Key = tuple[Namespace, str]

_WORD = re.compile(r"\w+")
_PATH = re.compile(r"[\w.]+")


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
    names: tuple[str, ...]
    """Every name that can be used in it, in any namespace."""
    diagnostics: tuple[Diagnostic, ...]
    schedules: tuple[Declaration, ...] = ()
    """Those that hold for calls through it: its own, then those that came with what it imports."""

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


@dataclass
class _Builder:
    source: Source
    file: syntax.File
    load: Import
    diagnostics: list[Diagnostic] = field(default_factory=list)
    own: dict[Key, int] = field(default_factory=dict)  # the item's number in the file
    imported: dict[Key, Declaration] = field(default_factory=dict)
    named: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    absent: set[str] = field(default_factory=set)  # paths that could not be imported: all names in them are broken
    schedules: list[Declaration] = field(default_factory=list)
    known: frozenset[str] = frozenset()
    """All names of `own` and `imported`: of what an item mentions, most is its own."""

    def build(self) -> Module:
        for placed in self.file.items:
            if isinstance(placed.item, syntax.Import):
                self._import(placed)
        for number, placed in enumerate(self.file.items):
            self._name(number, placed)
        made = self._declare_all()
        entries = tuple(Entry(placed, made[number]) for number, placed in enumerate(self.file.items))
        exports = {key: declaration for key, declaration in self.imported.items() if key[1] in self.named}
        exports.update({key: made[number] for key, number in self.own.items()})
        names = tuple(dict.fromkeys(name for _, name in (*self.own, *self.imported)))
        own = [entry.declaration for entry in entries if isinstance(entry.declaration.item, syntax.Schedule)]
        schedules = tuple(dict.fromkeys([*own, *self.schedules]))
        return Module(self.source, entries, exports, names, tuple(self.diagnostics), schedules)

    def _error(self, code: str, message: str, span: Span, placed: syntax.PlacedItem, *notes: str) -> None:
        self.diagnostics.append(Diagnostic(code, message, span.shifted(placed.offset), notes))

    # ---- names of this module

    def _name(self, number: int, placed: syntax.PlacedItem) -> None:
        item = placed.item
        if isinstance(item, syntax.BrokenItem):
            if item.keyword in ("import", "from"):
                self.broken.update(_WORD.findall(placed.parsed.text))
                self.absent.update(_PATH.findall(placed.parsed.text))
            elif item.name is not None:
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
        if space == "callable" and name.text in DTYPES:
            message = f"`{name.text}` is a dtype: `{name.text}(x)` converts `x`"
            self._error("duplicate-name", message, name.span, placed, "give it a name of its own")
            return
        if key in self.own or (key in self.imported and name.text in self.named):
            self._duplicate(name, key, placed)
            return
        self.own[key] = number

    def _duplicate(self, name: syntax.Name, key: Key, placed: syntax.PlacedItem) -> None:
        secondary: tuple[Label, ...] = ()
        if key in self.own:
            earlier = self.file.items[self.own[key]]
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
            self.absent.add(path)
            self.broken.update(name.text for name in item.names or ())
            return
        self.schedules.extend(loaded.schedules)
        if item.names is None:
            for (space, name), declaration in loaded.exports.items():
                self.imported[space, f"{path}.{name}"] = declaration
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

    def _declare_all(self) -> dict[int, Declaration]:
        """Every item as a declaration, by number; those it refers to are made first."""
        items = self.file.items
        self.known = frozenset(name for _, name in (*self.own, *self.imported))
        needs = [list(self._needs(number, placed)) for number, placed in enumerate(items)]
        made: dict[int, Declaration] = {}
        for component in components(
            sorted(range(len(items)), key=lambda n: not is_inlined(items[n].item)), needs.__getitem__
        ):
            circle = sorted(component) if len(component) > 1 or component[0] in needs[component[0]] else []
            self._report_circle(circle)
            names = frozenset(_name_of(items[number].item) for number in circle)
            made.update({number: self._declare(number, names, made) for number in sorted(component)})
        return made

    def _needs(self, number: int, placed: syntax.PlacedItem) -> Iterator[int]:
        """The items of this file that one refers to. An op that calls its own name does not refer to itself."""
        is_itself = is_inlined(placed.item) or isinstance(placed.item, syntax.Graph | syntax.Tactic | syntax.TargetItem)
        for key in _keys(placed, self.known):
            target = self.own.get(key)
            if target is not None and (target != number or is_itself):
                yield target

    def _declare(self, number: int, circular: frozenset[str], made: Mapping[int, Declaration]) -> Declaration:
        placed = self.file.items[number]
        found: dict[Key, Declaration] = {}
        used = uses(placed.parsed)
        names = used.called | used.named
        for name in names & self.known:
            for space in SPACES:
                here: Key = (space, name)
                target = made.get(self.own[here]) if here in self.own else self.imported.get(here)
                if target is not None and name not in circular:
                    found[here] = target
        absent = {name for name in names if any(name.startswith(f"{path}.") for path in self.absent)}
        broken = (names & (circular | self.broken)) | absent
        environment = Environment(dict(sorted(found.items())), broken)
        depth = 1 + max((each.depth for each in found.values() if is_inlined(each.item)), default=0)
        parsed, key = placed.parsed, key_of(placed.parsed.text, environment)
        declaration = Declaration(parsed.item, parsed.text, self.source.path, placed.offset, key, environment, depth)
        if depth == MAX_DEPTH + 1 and is_inlined(placed.item):
            message = f"`{declaration.name}` refers to others more than {MAX_DEPTH} deep"
            self._error("definition", message, declaration.span, placed)
        return declaration

    def _report_circle(self, circle: Sequence[int]) -> None:
        if not circle:
            return
        placed, *others = (self.file.items[number] for number in circle)
        name = placed.item.name  # type: ignore[union-attr]
        assert isinstance(name, syntax.Name)
        through = " and ".join(f"`{_name_of(each.item)}`" for each in others)
        verb = "refers" if len(others) == 1 else "refer"
        what = f"{through}, which {verb} back to it" if others else "itself"
        note = "recursion over tensors is written as a recurrence: `S[t] = S[t - 1] + X[t]`"
        is_computed = isinstance(placed.item, syntax.Fn | syntax.Reducer | syntax.Graph)
        notes = (note,) if is_computed else ()
        self._error("definition", f"`{name.text}` refers to {what}", name.span, placed, *notes)


SPACES: tuple[Namespace, ...] = ("value", "callable", "tactic", "intrinsic", "memory", "target")


def _keys(placed: syntax.PlacedItem, known: frozenset[str]) -> Iterator[Key]:
    """What an item needs to be resolved. A function named without a `(` is a mistake, and nothing that it needs."""
    used = uses(placed.parsed)
    is_of_values = isinstance(placed.item, syntax.Const | syntax.Fn | syntax.Reducer | syntax.Op | syntax.Graph)
    for name in sorted(used.called & known):
        yield "callable", name
        yield "tactic", name
    for name in sorted(used.named & known):
        for space in ("value",) if is_of_values else SPACES:
            yield space, name


def is_inlined(item: syntax.Item) -> bool:
    """Whether an item is put in where it is used, so that a reference to itself would never end."""
    return isinstance(item, syntax.Const | syntax.Fn | syntax.Reducer)


def _name_of(item: syntax.Item) -> str:
    name = getattr(item, "name", None)
    return name.text if isinstance(name, syntax.Name) else ""


def key_of(text: str, environment: Environment) -> str:
    """The key of a declaration: of an item's text and what its names mean."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16)
    for (space, name), declaration in environment.declarations.items():
        digest.update(f"\0{space} {name} {declaration.key}".encode("utf-8", "surrogatepass"))
    for name in sorted(environment.broken):
        digest.update(f"\1{name}".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
