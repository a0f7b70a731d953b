"""What a name is: its type, its range, its doc comment.

X in Y[i] = X[i]        input X: f32[N]
i                       i in 0..N
relu                    op relu(X: f32[N]) -> Y: f32[N], and what its doc comment says
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tdl.language import syntax, tree
from tdl.language.analysis import Analysis
from tdl.language.cases import check_case
from tdl.language.check import check_op
from tdl.language.mentions.data import Kind
from tdl.language.module import Entry
from tdl.language.occurrences import Definition
from tdl.language.schedules.stages import reductions_of
from tdl.language.scope import Declaration
from tdl.language.source import Span
from tdl.language.tree import Binder, Program
from tdl.lsp.completion.names import types_of
from tdl.lsp.documentation import code, joined, of_item, of_word, opening_comment
from tdl.lsp.glossary import describe
from tdl.lsp.signatures import head
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.units import bytes_text, operations_text

ITEMS: frozenset[Kind] = frozenset(
    {"const", "fn", "reducer", "op", "graph", "tactic", "intrinsic", "memory", "target", "test", "bench"}
)
TENSORS: frozenset[Kind] = frozenset({"input", "output", "intermediate"})


def of_name(snapshot: Snapshot, definition: Definition) -> str | None:
    """What a name is; None of loops and copies, which depend on the line that speaks of them."""
    kind = definition.kind
    if definition.is_builtin:
        word = describe(definition.name)
        return None if word is None else of_word(definition.name, word)
    if kind == "module":
        source = snapshot.workspace.read(definition.path)
        return None if source is None else joined(code(f"module {definition.name}"), opening_comment(source.text))
    if kind in ITEMS:
        found = of_item(snapshot.workspace, definition.path, definition.span.start)
        more = _MORE.get(kind)
        return found if found is None or more is None else joined(found, more(snapshot, definition))
    owner = owner_of(snapshot, definition)
    if owner is None:
        return None
    declaration = owner.declaration
    types = types_of(declaration)
    if kind in TENSORS:
        return _tensor(definition, declaration, types.get(definition.name))
    if kind == "index":
        found = range_of(definition, owner)
        return code(f"index {definition.name}" if found is None else f"{definition.name} in {found}")
    if kind in ("dimension", "pack"):
        return joined(code(f"{kind} {definition.name}"), _at_cases(snapshot.analysis, declaration, definition.name))
    detail = types.get(definition.name)
    text = f"{kind} {definition.name}"
    if kind in ("knob", "value"):
        return code(_line_text(owner, definition.span) or text)
    return code(text if not detail else f"{text}: {detail}")


def owner_of(snapshot: Snapshot, definition: Definition) -> Entry | None:
    """The item in whose text something is introduced."""
    source = snapshot.source if definition.path == snapshot.source.path else snapshot.workspace.read(definition.path)
    if source is None:
        return None
    analysis = snapshot.analysis if source is snapshot.source else snapshot.workspace.analysis(source)
    for entry in reversed(analysis.module.entries):
        if entry.placed.offset <= definition.span.start:
            return entry
    return None


def _case(snapshot: Snapshot, definition: Definition) -> str:
    """What a test or bench makes, and how much work that is."""
    owner = owner_of(snapshot, definition)
    case = None if owner is None else check_case(owner.declaration).case
    if case is None:
        return ""
    from tdl.compiler.work import work_of

    program, sizes = case.bound.program, case.bound.sizes
    work = work_of(program, sizes)
    shapes = case.bound.output_shapes
    outputs = [f"`{name}: {program.tensors[name].dtype}{list(shapes[name]) or ''}`" for name in program.outputs]
    ratio = f", {work.operations / work.bytes:.3g} a byte" if work.bytes else ""
    amounts = f"{operations_text(work.operations)} on {bytes_text(work.bytes)} of inputs and outputs"
    return f"{', '.join(outputs)}. {amounts}{ratio}."


def _schedules(snapshot: Snapshot, definition: Definition) -> str:
    """The schedules of an op that this file knows."""
    found = []
    for each in snapshot.analysis.module.schedules:
        item = each.item
        assert isinstance(item, syntax.Schedule)
        op = each.environment.find("callable", item.op.text)
        if op is not None and (op.path, op.span.shifted(op.offset)) == (definition.path, definition.span):
            found.append(f"- `{head(each.text, item)}`")
    return "\n".join(("Its schedules are", *found)) if found else ""


_MORE: dict[Kind, Callable[[Snapshot, Definition], str]] = {"test": _case, "bench": _case, "op": _schedules}


# ---- tensors and indices


def _tensor(definition: Definition, declaration: Declaration, type: str | None) -> str:
    head = f"{definition.kind} {definition.name}"
    program = program_of(declaration)
    ranges = [] if program is None else list(_ranges(program, definition.name))
    docs = [] if program is None else list(dict.fromkeys(each.doc for each in _written(program, definition.name)))
    inferred = "" if not ranges else code("\n".join(ranges))
    return joined(code(head if type is None else f"{head}: {type}"), inferred, *(doc for doc in docs if doc))


def program_of(declaration: Declaration) -> Program | None:
    if not isinstance(declaration.item, syntax.Op | syntax.Intrinsic):
        return None
    return check_op(declaration).program


def _written(program: Program, tensor: str) -> Iterator[tree.Definition]:
    return (each for each in program.definitions if any(target.tensor == tensor for target in each.targets))


def _ranges(program: Program, tensor: str) -> Iterator[str]:
    """`S[t, j]  for t in 1..T, j in 0..N`, a definition a line."""
    for each in _written(program, tensor):
        target = next(target for target in each.targets if target.tensor == tensor)
        left = f"{tensor}[{', '.join(map(str, target.coordinates))}]" if target.coordinates else tensor
        over = [text for binder in each.indices if (text := binder_text(binder)) is not None]
        yield f"{left}  for {', '.join(over)}" if over else left


def binder_text(binder: Binder) -> str | None:
    """`i in 0..N`; None where the range is not known."""
    text = f"{binder.index} in {binder.lo}..{binder.hi}"
    return None if "?" in text else text


def binders_of(program: Program) -> Iterator[Binder]:
    """Every index of an op, of reductions as well, in text order."""
    for each in program.definitions:
        yield from each.indices
        for reduction in reductions_of(each):
            yield from reduction.binders


def range_of(definition: Definition, owner: Entry) -> str | None:
    """`0..N`: what an index runs over, as inferred."""
    program = program_of(owner.declaration)
    place = definition.span.shifted(-owner.placed.offset)
    for binder in () if program is None else binders_of(program):
        if (
            binder.span.start <= place.start < binder.span.end
            and binder.index.name.partition(".")[0] == definition.name
        ):
            text = binder_text(binder)
            return None if text is None else text.partition(" in ")[2]
    return None


# ---- sizes and values


def _at_cases(analysis: Analysis, op: Declaration, name: str) -> str:
    """The values of a size at the tests and benches of its op."""
    found: list[str] = []
    for entry in analysis.module.entries:
        if isinstance(entry.placed.item, syntax.Test | syntax.Bench):
            case = check_case(entry.declaration).case
            if case is not None and case.op == op:
                size = [
                    str(value) for symbol, value in case.bound.sizes.items() if symbol.name.partition(".")[0] == name
                ]
                found.append(f"{', '.join(size)} in `{case.name}`")
    return "; ".join(found)


def _line_text(owner: Entry, span: Span) -> str | None:
    """The line of a schedule that introduces a value."""
    item, place = owner.placed.item, span.start - owner.placed.offset
    for line in item.body if isinstance(item, syntax.Schedule | syntax.Tactic) else ():
        if line.span.start <= place < line.span.end:
            return " ".join(owner.declaration.text[line.span.start : line.span.end].split())
    return None
