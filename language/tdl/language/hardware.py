"""What hardware a module declares: targets, memories and intrinsics.

    target npu for cpu { lanes 32 }
    memory scratch { capacity 48KiB  align 16 }
    intrinsic dot4(a: u8[4], b: i8[4], c0: i32) -> c: i32 for npu {
        c = c0 + sum(i32(a[k]) * i32(b[k]) for k)
        emit llvm "..."
    }

An intrinsic's meaning is checked as an op's is, at constant sizes. That its text does what it means is not checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from tdl.language import syntax
from tdl.language.check import check_op
from tdl.language.diagnostic import Diagnostic, Fix
from tdl.language.report import Report
from tdl.language.schedules.settings import check_integer
from tdl.language.scope import Context, Declaration, Scope, closest

TARGETS: dict[str, str | None] = {
    "cpu": None, "x86": "cpu", "aarch64": "cpu", "riscv": "cpu", "wasm": "cpu",
    "gpu": None, "opencl": "gpu", "ptx": "gpu",
}  # fmt: skip
"""The tree of targets that the language knows: each with its parent."""

MEMORIES: dict[str, str] = {
    "register": "the registers of one thread",
    "stack": "the stack of one thread, for copies of a small constant size",
    "arena": "memory that a thread keeps for its copies; what a copy takes unless the line says otherwise",
    "shared": "the memory shared by the threads of a GPU block",
}

EMITTED: tuple[str, ...] = ("llvm", "asm", "c", "opencl", "ptx")
"""What an intrinsic's text may be written in."""

PropertyKind = Literal["size", "count", "power", "name", "names"]
"""`size` and `count` are positive integers, `power` is a power of two."""


@dataclass(frozen=True, slots=True)
class PropertyForm:
    kind: PropertyKind
    summary: str


MEMORY_PROPERTIES: dict[str, PropertyForm] = {
    "capacity": PropertyForm("size", "how many bytes it holds"),
    "align": PropertyForm("power", "the alignment of what is stored there, in bytes"),
    "banks": PropertyForm("count", "how many accesses it serves at once"),
    "width": PropertyForm("power", "the bytes that one access moves"),
    "latency": PropertyForm("count", "the cycles from an access to its data"),
    "bandwidth": PropertyForm("count", "the bytes that it moves in a cycle"),
    "scope": PropertyForm("name", "who shares it: `thread`, `block` or `device`"),
    "copy": PropertyForm("names", "the intrinsics that copy into it and out of it"),
}

TARGET_PROPERTIES: dict[str, PropertyForm] = {
    "features": PropertyForm("names", "the instruction set extensions that it has"),
    "vector": PropertyForm("power", "the bits of a vector register"),
    "registers": PropertyForm("count", "how many vector registers there are"),
    "lanes": PropertyForm("count", "the threads that run in step"),
    "threads": PropertyForm("count", "how many threads run at once"),
    "line": PropertyForm("power", "the bytes of a cache line"),
    "l1": PropertyForm("size", "the bytes of the first cache"),
    "l2": PropertyForm("size", "the bytes of the second cache"),
    "l3": PropertyForm("size", "the bytes of the third cache"),
    "clock": PropertyForm("count", "cycles in a second"),
}

SCOPES = ("thread", "block", "device")


# ---- names


def find_target(ref: syntax.Ref, scope: Scope) -> bool:
    """Whether a target is known; an error where it is not."""
    environment = scope.environment
    if ref.text in TARGETS or ref.text in environment.broken or environment.find("target", ref.text) is not None:
        return True
    name = syntax.Name(ref.text, span=ref.span)
    scope.unknown(name, [*TARGETS, *environment.names("target")], "target")
    return False


def find_memory(ref: syntax.Ref, scope: Scope) -> bool:
    """Whether a memory is known, built in or declared; an error where it is not."""
    environment = scope.environment
    if ref.text in MEMORIES or ref.text in environment.broken or environment.find("memory", ref.text) is not None:
        return True
    name = syntax.Name(ref.text, span=ref.span)
    scope.unknown(name, [*MEMORIES, *environment.names("memory")], "memory")
    return False


def ancestors(target: str, scope: Scope) -> list[str]:
    """A target and what it is a kind of, the most specific first."""
    line: list[str] = []
    while target not in line:
        line.append(target)
        declared = scope.environment.find("target", target)
        parent = TARGETS.get(target)
        if declared is not None and isinstance(declared.item, syntax.TargetItem) and declared.item.parent is not None:
            parent = declared.item.parent.text
            scope = Scope(scope.context, declared.environment, {})
        if parent is None:
            break
        target = parent
    return line


# ---- items


@lru_cache(maxsize=1024)
def check_hardware(declaration: Declaration) -> tuple[Diagnostic, ...]:
    """What is wrong with a memory or target; spans relative to its item."""
    context = Context(Report(), declaration.text)
    scope = Scope(context, declaration.environment, {})
    match declaration.item:
        case syntax.Memory(_, body):
            _properties(body, MEMORY_PROPERTIES, "memory", scope)
        case syntax.TargetItem(name, parent, body):
            if name.text in TARGETS:
                scope.error("duplicate-name", f"the target `{name.text}` is built in", name.span)
            elif parent is not None:
                find_target(parent, scope)
            _properties(body, TARGET_PROPERTIES, "target", scope)
    return tuple(context.report.diagnostics)


def _properties(
    body: tuple[syntax.Property | syntax.Broken, ...], known: Mapping[str, PropertyForm], what: str, scope: Scope
) -> None:
    seen: set[str] = set()
    for line in body:
        if not isinstance(line, syntax.Property):
            continue
        name = line.name.text
        form = known.get(name)
        if form is None:
            _unknown_property(line.name, known, what, scope)
        elif name in seen:
            scope.error("duplicate-name", f"`{name}` is given twice", line.name.span)
        else:
            _property(line, form, scope)
        seen.add(name)


def _unknown_property(name: syntax.Name, known: Mapping[str, PropertyForm], what: str, scope: Scope) -> None:
    suggestion = closest(name.text, known)
    notes = [f"did you mean `{suggestion}`?"] if suggestion else []
    notes.append(f"it has {', '.join(f'`{each}`' for each in known)}")
    fixes = (Fix(f"change to `{suggestion}`", name.span, suggestion),) if suggestion else ()
    scope.error("unknown-name", f"a {what} has no property `{name.text}`", name.span, *notes, fixes=fixes)


def _property(line: syntax.Property, form: PropertyForm, scope: Scope) -> None:
    name = line.name.text
    if form.kind == "names":
        if not line.values:
            scope.error("definition", f"`{name}` takes names", line.span, form.summary)
        for value in line.values:
            _name_value(name, value, scope)
        return
    if len(line.values) != 1:
        scope.error("definition", f"`{name}` takes one value, not {len(line.values)}", line.span, form.summary)
        return
    if form.kind == "name":
        _name_value(name, line.values[0], scope)
    else:
        _number(name, line.values[0], form, scope)


def _name_value(name: str, value: syntax.Expr, scope: Scope) -> None:
    if not isinstance(value, syntax.Ref):
        scope.error("definition", f"`{name}` takes names", value.span)
        return
    environment = scope.environment
    known: dict[str, tuple[str, ...]] = {"scope": SCOPES}
    if name == "copy" and environment.find("intrinsic", value.text) is None and value.text not in environment.broken:
        scope.unknown(syntax.Name(value.text, span=value.span), environment.names("intrinsic"), "intrinsic")
    elif name in known and value.text not in known[name]:
        scope.unknown(syntax.Name(value.text, span=value.span), known[name], "scope")


def _number(name: str, value: syntax.Expr, form: PropertyForm, scope: Scope) -> None:
    result = check_integer(value, scope, f"`{name}`", 1, "definition")
    if result is None:
        return
    if not result.is_constant:
        scope.error("definition", f"`{name}` is a constant", value.span)
    elif form.kind == "power" and result.constant & (result.constant - 1):
        near = 1 << result.constant.bit_length()
        note = f"for example {near // 2} or {near}"
        scope.error("definition", f"`{name}` is a power of two, not {result.constant}", value.span, note)


def check_intrinsic(declaration: Declaration) -> Iterator[Diagnostic]:
    """What is wrong with an intrinsic; spans relative to its item."""
    yield from _intrinsic_head(declaration)
    yield from check_op(declaration).diagnostics


@lru_cache(maxsize=1024)
def _intrinsic_head(declaration: Declaration) -> tuple[Diagnostic, ...]:
    item = declaration.item
    assert isinstance(item, syntax.Intrinsic)
    context = Context(Report(), declaration.text)
    scope = Scope(context, declaration.environment, {})
    if item.target is not None:
        find_target(item.target, scope)
    seen: set[str] = set()
    for feature in item.features:
        if feature.text in seen:
            scope.error("duplicate-name", f"the feature `{feature.text}` is listed twice", feature.span)
        seen.add(feature.text)
    _emits(item, scope)
    program = check_op(declaration).program
    if program.dims:
        dimension = program.dims[0].name.partition(".")[0]
        part = next(each for each in item.inputs if any(dimension in _names(shape) for shape in each.type.shape))
        note = "an instruction works on a fixed number of elements; use a constant or a compile-time parameter"
        scope.error("shape", f"the size `{dimension}` of an intrinsic is not known", part.type.span, note)
    return tuple(context.report.diagnostics)


def _names(part: syntax.Expr | syntax.Pack) -> set[str]:
    from tdl.language.signature import free_names

    return {part.name.text} if isinstance(part, syntax.Pack) else {name.text for name in free_names(part)}


def _emits(item: syntax.Intrinsic, scope: Scope) -> None:
    seen: set[str] = set()
    for line in item.body:
        if not isinstance(line, syntax.Emit):
            continue
        kind = line.kind.text
        if kind not in EMITTED:
            scope.unknown(line.kind, EMITTED, "language to emit:")
        elif kind in seen:
            scope.error("duplicate-name", f"`emit {kind}` is given twice", line.kind.span)
        seen.add(kind)
