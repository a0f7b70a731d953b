"""What an op leaves to be inferred: ranges of indices, and types of tensors that nothing declares.

S[i] = sum(X[i, k] for k)        reads as        S[i]: f32[M] = sum(X[i, k] for k in 0..K) for i in 0..M
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from tdl.language import syntax, tree
from tdl.language.check import check_op
from tdl.language.graphs import values_of
from tdl.language.scope import Declaration
from tdl.lsp.hints.hint import Hint
from tdl.lsp.hovers.names import binder_text, binders_of
from tdl.lsp.signatures import tensors_of, type_text


@lru_cache(maxsize=256)
def hints_of_op(declaration: Declaration) -> tuple[Hint, ...]:
    """Hints of an op or an intrinsic."""
    item = declaration.item
    assert isinstance(item, syntax.Op | syntax.Intrinsic)
    program = check_op(declaration).program
    definitions = {each.span: each for each in program.definitions}
    found = [*_types(item, declaration), *_reductions(program, item.body)]
    for statement in item.body:
        checked = definitions.get(statement.span)
        if isinstance(statement, syntax.Definition) and checked is not None:
            found.extend(_ranges(statement, checked))
    return tuple(sorted(found, key=lambda each: each.offset))


# ---- ranges


def _ranges(statement: syntax.Definition, checked: tree.Definition) -> Iterator[Hint]:
    """Of the indices on the left: behind `for`, or as the `for` that is not there."""
    written = {} if statement.clause is None else {each.name.text: each for each in statement.clause.binders}
    rest: list[str] = []
    for binder in checked.indices:
        text, listed = binder_text(binder), written.get(binder.index.name)
        if text is None or "." in binder.index.name:
            continue
        if listed is None:
            rest.append(text)
        elif listed.range is None:
            yield Hint(listed.name.span.end, text.removeprefix(binder.index.name), "ranges")
    if not rest:
        return
    if written:
        yield Hint(max(each.span.end for each in written.values()), f", {', '.join(rest)}", "ranges")
    else:
        yield Hint(statement.value.span.end, f" for {', '.join(rest)}", "ranges")


def _reductions(program: tree.Program, body: Iterable[syntax.Statement]) -> Iterator[Hint]:
    """Of the indices behind a reduction's `for`."""
    known = {binder.span.start: binder for binder in binders_of(program) if "." not in binder.index.name}
    for written in _binders(tuple(body)):
        binder = known.get(written.span.start)
        text = None if binder is None else binder_text(binder)
        if binder is not None and text is not None and written.range is None and not written.is_pack:
            yield Hint(written.name.span.end, text.removeprefix(binder.index.name), "ranges")


def _binders(node: object) -> Iterator[syntax.Binder]:
    """Every binder of a reduction in a tree."""
    if isinstance(node, syntax.Reduction):
        yield from node.clause.binders
    if isinstance(node, tuple):
        for each in node:
            yield from _binders(each)
    elif isinstance(node, syntax.Node):
        for name in node.__dataclass_fields__:
            yield from _binders(getattr(node, name))


# ---- types


def _types(item: syntax.Op | syntax.Intrinsic, declaration: Declaration) -> Iterator[Hint]:
    """Of intermediates, where they are first defined."""
    declared = {each.name.text for each in (*item.inputs, *item.outputs)}
    declared |= {each.name.text for each in item.body if isinstance(each, syntax.Let)}
    tensors = tensors_of(declaration)
    for statement in item.body:
        for target in statement.targets if isinstance(statement, syntax.Definition) else ():
            tensor = tensors.get(target.name.text)
            if target.name.text not in declared and tensor is not None and target.dtype is None:
                yield Hint(target.span.end, f": {type_text(tensor)}", "types")
            declared.add(target.name.text)


@lru_cache(maxsize=256)
def hints_of_graph(declaration: Declaration) -> tuple[Hint, ...]:
    """The types of a graph's values."""
    item = declaration.item
    assert isinstance(item, syntax.Graph)
    outputs = {each.name.text for each in item.outputs}
    flows = values_of(declaration)
    found: list[Hint] = []
    for statement in item.body:
        for target in statement.targets if isinstance(statement, syntax.Assign) else ():
            flow = flows.get(target.text)
            if flow is not None and flow.dtype is not None and target.text not in outputs:
                found.append(Hint(target.span.end, f": {flow}", "types"))
    return tuple(found)
