"""`mentions`: every name in an item, and what it means. A name that means nothing is left out."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from tdl.language import syntax
from tdl.language.hardware import MEMORY_PROPERTIES, TARGET_PROPERTIES, TARGETS
from tdl.language.mentions.data import KINDS, Key, Meaning, Mention, Names, builtin, item_meaning
from tdl.language.mentions.heads import names_of
from tdl.language.mentions.reader import Reader
from tdl.language.scope import Declaration, SizeEntity
from tdl.language.signature import Instance, head_of


@lru_cache(maxsize=2048)
def mentions(declaration: Declaration) -> tuple[Mention, ...]:
    """All names of an item in order of place; memoised on what it and all it refers to say."""
    from tdl.language.mentions.schedules import read_schedule, read_tactic

    reader, item = Reader(declaration), declaration.item
    names = names_of(declaration)
    if type(item) in KINDS and declaration.name:
        reader.found.append(Mention(declaration.span, item_meaning(declaration), "declare"))
    match item:
        case syntax.Const():
            reader.expression((item.type, item.value), names)
        case syntax.Fn():
            _function(item, names, reader)
        case syntax.Reducer():
            _reducer(item, names, reader)
        case syntax.Op() | syntax.Intrinsic() | syntax.Graph():
            _op(item, names, reader)
        case syntax.Test() | syntax.Bench():
            _case(item, reader)
        case syntax.Memory() | syntax.TargetItem():
            _hardware(item, reader)
        case syntax.Schedule():
            read_schedule(item, reader)
        case syntax.Tactic():
            read_tactic(item, names, reader)
    return tuple(sorted(dict.fromkeys(reader.found), key=lambda each: (each.span.start, each.span.end)))


def _function(item: syntax.Fn, names: Names, reader: Reader) -> None:
    reader.parameters(item.params, names)
    reader.declarations(item.args, names)
    reader.type(item.result, names)
    reader.expression(item.body, names)


def _reducer(item: syntax.Reducer, names: Names, reader: Reader) -> None:
    reader.parameters(item.params, names)
    reader.declarations((*item.left, *item.right), names)
    for result in item.results:
        reader.type(result, names)
    reader.expression((item.identity, item.combine), names)


def _case(item: syntax.Test | syntax.Bench, reader: Reader) -> None:
    if item.call is None:
        return
    callee = reader.callee(item.call.callee, {})
    expect = item.expect if isinstance(item, syntax.Test) else ()
    key: Key = ("callable", item.call.callee.text)
    reader.arguments((*item.call.params, *item.call.args, *expect), callee, key, {})


# ---- ops, intrinsics and graphs


def _op(item: syntax.Op | syntax.Intrinsic | syntax.Graph, names: Names, reader: Reader) -> None:
    reader.parameters(item.params, names)
    reader.declarations((*item.inputs, *item.outputs), names)
    if isinstance(item, syntax.Intrinsic):
        read_target(item.target, reader)
    else:
        reader.expression(item.facts, names)
    sizes = _sizes(reader.declaration)
    for statement in item.body:
        match statement:
            case syntax.Let():
                reader.declarations((statement,), names)
            case syntax.Definition():
                _definition(statement, sizes, names, reader)
            case syntax.Assign(targets, value):
                for target in targets:
                    reader.add(target, names[target.text], is_written=True)
                reader.expression(value, names)
            case syntax.Broken(defines):
                for name in defines:
                    reader.add(name, names[name.text], is_written=True)


def _sizes(declaration: Declaration) -> frozenset[str]:
    """The names that are sizes on a left-hand side, where any other name is an index."""
    entities = head_of(declaration, Instance()).scope.names
    return frozenset(name for name, entity in entities.items() if isinstance(entity, SizeEntity))


def _definition(statement: syntax.Definition, sizes: frozenset[str], names: Names, reader: Reader) -> None:
    indices = _indices(statement, sizes, names, reader.declaration)
    inside = {**names, **indices}
    for target in statement.targets:
        reader.add(target.name, names[target.name.text], is_written=True)
        if target.dtype is not None:
            reader.value(target.dtype, names)
        for subscript in target.subscripts:
            _left_side(subscript, indices, inside, reader)
    clause = statement.clause
    for binder in () if clause is None else clause.binders:
        reader.add(binder.name, indices.get(binder.name.text))
        reader.expression(binder.range, inside)
    reader.expression(None if clause is None else clause.filter, inside)
    reader.expression(statement.value, inside)


def _left_side(subscript: syntax.Expr | syntax.Pack, indices: Names, names: Names, reader: Reader) -> None:
    name = _alone(subscript)
    index = None if name is None else indices.get(name.text)
    if name is not None and index is not None:
        reader.add(name, index)
    else:
        reader.expression(subscript, names)


def _indices(
    statement: syntax.Definition, sizes: frozenset[str], names: Names, declaration: Declaration
) -> dict[str, Meaning]:
    """The names that a left-hand side introduces."""
    listed = {binder.name.text for binder in statement.clause.binders} if statement.clause is not None else set()
    found: dict[str, Meaning] = {}
    for subscript in (each for target in statement.targets for each in target.subscripts):
        name = _alone(subscript)
        if name is None or name.text in names:
            continue
        is_fixed = name.text in sizes or declaration.environment.find("value", name.text) is not None
        if isinstance(subscript, syntax.Pack) or name.text in listed or not is_fixed:
            found.setdefault(name.text, Meaning("index", name.text, name.span))
    return found


def _alone(subscript: syntax.Expr | syntax.Pack) -> syntax.Name | None:
    """The name that a subscript is, if it is nothing else."""
    match subscript:
        case syntax.Pack(name) | syntax.Ref((name,)):
            return name
    return None


# ---- hardware


def read_target(ref: syntax.Ref | None, reader: Reader) -> None:
    """The target after `for`."""
    if ref is not None and reader.item("target", ref) is None and ref.text in TARGETS:
        reader.add(ref.parts[0], builtin("target", ref.text))


def _hardware(item: syntax.Memory | syntax.TargetItem, reader: Reader) -> None:
    known = MEMORY_PROPERTIES if isinstance(item, syntax.Memory) else TARGET_PROPERTIES
    if isinstance(item, syntax.TargetItem):
        read_target(item.parent, reader)
    for line in item.body:
        if not isinstance(line, syntax.Property):
            continue
        if line.name.text in known:
            reader.add(line.name, builtin("property", line.name.text))
        if line.name.text == "copy":
            _intrinsics(line.values, reader)
        else:
            reader.expression(line.values, {})


def _intrinsics(values: Iterable[syntax.Expr], reader: Reader) -> None:
    for value in values:
        if isinstance(value, syntax.Ref):
            reader.item("intrinsic", value)
