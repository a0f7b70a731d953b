"""Tactics: schedules with parameters, checked by themselves for form, and read in the place of each `apply`.

    tactic strips(T, i, n: int = 8) { split T.i by n -> io, ii  parallel io }
    apply strips(Y, j, n=16)            reads as    split Y.j by 16 -> io, ii  parallel io

A parameter stands for a stage, the name of an index or a loop, or a value. The loops that a tactic makes keep their
names below the `apply`; its knobs and `let`s are its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any, TypeVar, cast

from tdl.language import forms, syntax
from tdl.language.diagnostic import Diagnostic
from tdl.language.dtypes import CLASSES, DTYPES
from tdl.language.forms import Symbol
from tdl.language.parameters import kind_of, match_arguments, symbolic
from tdl.language.report import Report
from tdl.language.schedules.loops import Loops
from tdl.language.schedules.operands import State
from tdl.language.schedules.settings import check_integer, check_value, names_in
from tdl.language.scope import Context, Declaration, Entity, Environment, Namespace, Scope, SizeEntity

NodeT = TypeVar("NodeT")


@lru_cache(maxsize=1024)
def check_tactic(declaration: Declaration) -> tuple[Diagnostic, ...]:
    """What is wrong with a tactic whatever it is applied to: spans relative to its item."""
    from tdl.language.schedules.reading import read_lines

    item = declaration.item
    assert isinstance(item, syntax.Tactic)
    context = Context(Report(), declaration.text)
    read_lines(item.body, state_of_tactic(declaration, context))
    return tuple(context.report.diagnostics)


def state_of_tactic(declaration: Declaration, context: Context) -> State:
    """What the lines of a tactic by itself are read in; what is wrong with its parameters goes to the report."""
    item = declaration.item
    assert isinstance(item, syntax.Tactic)
    names: dict[str, Entity] = {}
    for parameter in item.params:
        if parameter.name.text in names:
            context.error("duplicate-name", f"`{parameter.name.text}` is declared twice", parameter.name.span)
        names[parameter.name.text] = _parameter(parameter, Scope(context, declaration.environment, {}))
    scope = Scope(context, declaration.environment, {**_sizes(item, declaration, names), **names})
    return State(scope, Loops(is_open=True), {}, is_form=True)


def _parameter(parameter: syntax.Parameter, scope: Scope) -> Entity:
    """A parameter that takes a value is one; any other may be an integer where the lines use it so."""
    name = parameter.name.text
    if parameter.kind is not None:
        kind = kind_of(parameter, scope)
        if kind is not None:
            return symbolic(name, kind)
    return SizeEntity(forms.symbol(Symbol(name, "param")))


def _sizes(item: syntax.Tactic, declaration: Declaration, names: Mapping[str, Entity]) -> dict[str, Entity]:
    """Names that can only be sizes of the op that a tactic is applied to."""
    known = _made(item) | set(names) | set(DTYPES)
    return {
        ref.text: SizeEntity(forms.symbol(Symbol(ref.text, "dim")))
        for ref in _values_in(item)
        if len(ref.parts) == 1 and ref.text not in known and declaration.environment.find("value", ref.text) is None
    }


def _values_in(item: syntax.Tactic) -> Iterator[syntax.Ref]:
    """The names that stand where a value is expected."""
    for line in item.body:
        match line:
            case syntax.Line(_, _, clauses):
                for clause in clauses:
                    if clause.keyword.text in ("by", "into", "ahead", "pad"):
                        yield from names_in(clause.values)
            case syntax.Knob() | syntax.LetValue() | syntax.Require():
                yield from names_in(line)


def _made(item: syntax.Tactic) -> set[str]:
    """The names of a tactic's own values."""
    return {line.name.text for line in item.body if isinstance(line, syntax.Knob | syntax.LetValue)}


def apply_tactic(line: syntax.Line, state: State) -> None:
    """Check `apply name(...)`, and read the tactic's lines with its arguments in place of its parameters."""
    call = line.operands[0]
    assert isinstance(call, syntax.Call)
    declaration = _tactic(call, state)
    if declaration is None:
        state.loops = state.loops.opened()
        return
    item = declaration.item
    assert isinstance(item, syntax.Tactic)
    given = _arguments(call, item, state)
    if given is None or check_tactic(declaration):
        state.loops = state.loops.opened()
        return
    _expand(line, declaration, item, given, state)


def _tactic(call: syntax.Call, state: State) -> Declaration | None:
    environment, name = state.scope.environment, call.callee.text
    found = environment.find("tactic", name)
    if found is None and name not in environment.broken:
        callee = syntax.Name(name, span=call.callee.span)
        state.scope.unknown(callee, environment.names("tactic"), "tactic")
    return found


def _arguments(call: syntax.Call, item: syntax.Tactic, state: State) -> dict[str, syntax.Expr] | None:
    formals = [parameter.name.text for parameter in item.params]
    defaults = {parameter.name.text: parameter.default for parameter in item.params if parameter.default is not None}
    values = [argument.value for argument in call.args]
    named = {argument.name.text for argument in call.args if argument.name is not None}
    rest = [name for name in formals[sum(argument.name is None for argument in call.args) :] if name not in named]
    extra = [name for name in rest if name in defaults]
    arguments = [*call.args, *(syntax.Argument(syntax.Name(name), defaults[name]) for name in extra)]
    ordered = match_arguments(
        item.name.text, formals, arguments, [*values, *(defaults[name] for name in extra)], call.span, state.scope
    )
    if ordered is None:
        return None
    given = dict(zip(formals, ordered))
    fine = [_takes(parameter, given[parameter.name.text], state) for parameter in item.params]
    return given if all(fine) else None


def _takes(parameter: syntax.Parameter, value: syntax.Expr, state: State) -> bool:
    """Whether an argument is of the kind that its parameter declares."""
    if parameter.kind is None or parameter.default is value or state.is_form:
        return True
    kind = parameter.kind.text
    if kind == "int":
        return check_integer(value, state.scope, f"`{parameter.name.text}`") is not None
    if kind in CLASSES:
        is_dtype = isinstance(value, syntax.Ref) and (value.text in DTYPES or value.text in state.scope.names)
        if not is_dtype:
            state.scope.error("parameter", f"`{parameter.name.text}` takes a dtype", value.span)
        return is_dtype
    return check_value(value, state.scope) is not None


def expanded(line: syntax.Line, environment: Environment) -> tuple[syntax.ScheduleLine, ...]:
    """The lines that a checked `apply` stands for, tactics inside the tactic not yet expanded."""
    call = line.operands[0]
    assert isinstance(call, syntax.Call)
    declaration = environment.find("tactic", call.callee.text)
    assert declaration is not None
    assert isinstance(declaration.item, syntax.Tactic)
    formals = declaration.item.params
    given = {formal.name.text: formal.default for formal in formals if formal.default is not None}
    positional = [argument.value for argument in call.args if argument.name is None]
    given.update(zip((formal.name.text for formal in formals), positional))
    given.update({argument.name.text: argument.value for argument in call.args if argument.name is not None})
    return _body(declaration, given)


# ---- reading a tactic where it is applied


def _expand(
    line: syntax.Line, declaration: Declaration, item: syntax.Tactic, given: Mapping[str, syntax.Expr], state: State
) -> None:
    from tdl.language.schedules.reading import read_lines

    context = Context(Report(), declaration.text)
    sizes = _sizes(item, declaration, {}) if state.is_form else {}
    names = {**sizes, **state.scope.names}
    scope = Scope(context, _with_arguments(declaration.environment, given, state.scope.environment), names)
    call = line.operands[0]
    assert isinstance(call, syntax.Call)
    within = (*state.within, call.callee.text)
    inside = State(scope, state.loops, state.ranks, state.is_form, True, within, state.watch)
    for each, made in zip(item.body, _body(declaration, given)):
        before = len(context.report.diagnostics)
        read_lines([made], inside)
        for found in context.report.diagnostics[before:]:
            text = declaration.text[each.span.start : each.span.end]
            note = f"in the tactic `{item.name.text}`: `{' '.join(text.split())}`"
            state.scope.error(found.code, found.message, line.span, *found.notes, note)
    state.loops = inside.loops


def _with_arguments(own: Environment, given: Mapping[str, syntax.Expr], caller: Environment) -> Environment:
    """What names mean in a tactic that is given intrinsics and memories by name: these mean what they do outside."""
    spaces: tuple[Namespace, ...] = ("intrinsic", "memory")
    passed = {
        (space, value.text): found
        for value in given.values()
        if isinstance(value, syntax.Ref)
        for space in spaces
        if (found := caller.find(space, value.text)) is not None
    }
    return replace(own, declarations={**passed, **own.declarations})


def _body(declaration: Declaration, given: Mapping[str, syntax.Expr]) -> tuple[syntax.ScheduleLine, ...]:
    """The lines of a tactic with arguments in place of parameters, its own values under names of their own."""
    item = declaration.item
    assert isinstance(item, syntax.Tactic)
    own = {name: syntax.Ref((syntax.Name(f"{declaration.path}:{declaration.name}.{name}"),)) for name in _made(item)}
    lines = (substituted(line, {**given, **own}) for line in item.body)
    return tuple(_with_name(line, own) for line in lines)


def _with_name(line: syntax.ScheduleLine, own: Mapping[str, syntax.Ref]) -> syntax.ScheduleLine:
    if isinstance(line, syntax.Knob | syntax.LetValue) and line.name.text in own:
        return replace(line, name=replace(line.name, text=own[line.name.text].text))
    return line


def substituted(node: NodeT, given: Mapping[str, syntax.Expr]) -> NodeT:
    """A line or expression with the arguments of a tactic in place of its parameters."""
    return cast(NodeT, _substituted(node, given))


def _substituted(node: object, given: Mapping[str, syntax.Expr]) -> object:
    match node:
        case syntax.Ref():
            return _ref(node, given)
        case syntax.Name():
            return node
        case tuple():
            return tuple(_substituted(each, given) for each in node)
        case syntax.Line(_, _, _, results):
            node = replace(node, results=tuple(_result(name, given) for name in results))
    if not isinstance(node, syntax.Node):
        return node
    parts = {part.name: getattr(node, part.name) for part in fields(node) if part.name != "span"}
    changed: dict[str, Any] = {name: _substituted(value, given) for name, value in parts.items()}
    return replace(node, **changed)


def _result(name: syntax.Name, given: Mapping[str, syntax.Expr]) -> syntax.Name:
    """A loop that a tactic makes under a name it is given."""
    value = given.get(name.text)
    if not isinstance(value, syntax.Ref):
        return name
    return value.parts[0] if len(value.parts) == 1 else replace(name, text=value.text)


def _ref(ref: syntax.Ref, given: Mapping[str, syntax.Expr]) -> syntax.Expr:
    """`T.i` with the stage for `T` and the index for `i`; a value only where the parameter stands alone."""
    if len(ref.parts) == 1 and ref.text in given:
        return replace(given[ref.text], span=ref.span)
    parts: list[syntax.Name] = []
    for part in ref.parts:
        value = given.get(part.text)
        parts.extend(value.parts if isinstance(value, syntax.Ref) else (part,))
    return replace(ref, parts=tuple(parts))
