"""Names in expressions and types, as they are looked up: the item's own, then the module's, then the language's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tdl.language import syntax
from tdl.language.calls import BUILTIN_NAMES, REDUCER_NAMES
from tdl.language.dtypes import CLASSES, DTYPES
from tdl.language.mentions.data import Access, Key, Meaning, Mention, Names, builtin, item_meaning
from tdl.language.mentions.heads import names_of
from tdl.language.scope import Declaration, Namespace
from tdl.language.source import Span


@dataclass
class Reader:
    """Reads the text of one item; `found` fills up."""

    declaration: Declaration
    found: list[Mention] = field(default_factory=list)

    def add(self, name: syntax.Name, meaning: Meaning | None, *, is_written: bool = False) -> None:
        """A name, unless it means nothing."""
        if meaning is not None:
            is_own = meaning.span == name.span and not meaning.via and not meaning.is_builtin
            access: Access = "write" if is_written else "declare" if is_own else "read"
            self.found.append(Mention(name.span, meaning, access))

    # ---- names of the module

    def item(self, space: Namespace, ref: syntax.Ref) -> Declaration | None:
        """An item of the module by a name with dots, and the module that the dots lead to."""
        found = self.declaration.environment.find(space, ref.text)
        if found is None:
            return None
        self.add(ref.parts[-1], item_meaning(found).through((space, ref.text)))
        if len(ref.parts) > 1:
            self.module(ref.parts[:-1])
        return found

    def module(self, parts: tuple[syntax.Name, ...]) -> None:
        span = Span(parts[0].span.start, parts[-1].span.end)
        self.found.append(Mention(span, Meaning("module", ".".join(part.text for part in parts))))

    def callee(self, ref: syntax.Ref, names: Names) -> Declaration | None:
        """What stands before a `(`; the item, where it is one."""
        own = names.get(ref.text)
        if own is not None and own.kind == "dtype parameter":
            self.add(ref.parts[0], own)
        elif ref.text in DTYPES:
            self.add(ref.parts[0], builtin("dtype", ref.text))
        else:
            declaration = self.item("callable", ref)
            if declaration is None and ref.text in BUILTIN_NAMES:
                self.add(ref.parts[0], builtin("reducer" if ref.text in REDUCER_NAMES else "function", ref.text))
            return declaration
        return None

    def arguments(
        self, arguments: Iterable[syntax.Argument], callee: Declaration | None, key: Key, names: Names
    ) -> None:
        """Arguments of a call; the names that some are given by are the callee's."""
        formals = {} if callee is None else names_of(callee)
        for each in arguments:
            if each.name is not None and each.name.text in formals:
                self.add(each.name, formals[each.name.text].through(key))
            self.expression(each.value, names)

    # ---- expressions

    def expression(self, node: object, names: Names) -> None:
        match node:
            case syntax.Ref():
                self.value(node, names)
            case syntax.Index(base, subscripts, boundary):
                self.value(base, names)
                self.expression(subscripts, names)
                self.expression(None if boundary is None else boundary.value, names)
            case syntax.Pack(name):
                self.add(name, names.get(name.text))
            case syntax.Call(callee, params, args):
                declaration = self.callee(callee, names)
                self.arguments((*params, *args), declaration, ("callable", callee.text), names)
            case syntax.Reduction():
                self._reduction(node, names)
            case tuple():
                for each in node:
                    self.expression(each, names)
            case syntax.Node():
                for each in _parts(node):
                    self.expression(each, names)

    def value(self, ref: syntax.Ref, names: Names) -> None:
        """A name that stands for a value or a dtype."""
        own = names.get(ref.text)
        if own is not None:
            self.add(ref.parts[0], own)
        elif self.item("value", ref) is None and ref.text in DTYPES:
            self.add(ref.parts[0], builtin("dtype", ref.text))

    def _reduction(self, node: syntax.Reduction, names: Names) -> None:
        declaration = self.callee(node.callee, names)
        self.arguments(node.params, declaration, ("callable", node.callee.text), names)
        for binder in node.clause.binders:
            self.expression(binder.range, names)
            index = Meaning("index", binder.name.text, binder.name.span)
            self.add(binder.name, index)
            names = {**names, index.name: index}
        self.expression(node.clause.filter, names)
        self.expression(node.body, names)

    # ---- declarations

    def parameters(self, params: Iterable[syntax.Parameter], names: Names) -> None:
        for each in params:
            self.add(each.name, names[each.name.text])
            if each.kind is not None and (each.kind.text == "int" or each.kind.text in DTYPES):
                self.add(each.kind.parts[0], builtin("dtype", each.kind.text))
            elif each.kind is not None and each.kind.text in CLASSES:
                self.add(each.kind.parts[0], builtin("class", each.kind.text))
            self.expression(each.default, names)

    def declarations(self, declarations: Iterable[syntax.Declaration | syntax.Let], names: Names) -> None:
        for each in declarations:
            self.add(each.name, names[each.name.text])
            self.type(each.type, names)

    def type(self, type: syntax.TypeExpr, names: Names) -> None:
        self.value(type.dtype, names)
        for part in type.shape:
            self.expression(part, names)


def _parts(node: syntax.Node) -> Iterator[object]:
    """The direct sub-expressions of a node that means nothing of its own."""
    match node:
        case syntax.Unary(_, operand):
            yield operand
        case syntax.Binary(_, left, right) | syntax.Range(left, right):
            yield left
            yield right
        case syntax.Compare(first, rest):
            yield first
            yield from (operand for _, operand in rest)
        case syntax.Conditional(then, condition, other):
            yield from (then, condition, other)
        case syntax.Tuple(items) | syntax.Array(items):
            yield from items
