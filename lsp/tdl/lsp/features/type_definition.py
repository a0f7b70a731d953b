"""From a value to what decides its type.

X: T[M, K]                          T, the dtype parameter
cache W at L in scratch as Wp       scratch, the memory that the copy is in
h = dense(x, w)   in a graph        the output of `dense` that h is
"""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types
from tdl.language import occurrences, syntax
from tdl.language.analysis import Analysis
from tdl.language.module import Entry
from tdl.language.occurrences import Definition
from tdl.language.source import Span
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.targets import Jump, Target, jump
from tdl.lsp.uses import definitions_at
from tdl.lsp.workspace import Workspace


def type_definition(snapshot: Snapshot, params: types.TypeDefinitionParams) -> Jump:
    """What decides the type of what stands at the cursor, unless that is the language's own."""
    document = snapshot.client.text_document
    found = [each for each in definitions_at(snapshot, params.position) if not each.is_builtin]
    targets = [target for each in found for target in _types(snapshot.workspace, each)]
    return jump(snapshot, params.position, targets, None if document is None else document.type_definition)


def _types(workspace: Workspace, definition: Definition) -> Iterator[Target]:
    source = workspace.read(definition.path)
    if source is None:
        return
    analysis = workspace.analysis(source)
    for entry in analysis.module.entries:
        offset = entry.placed.offset
        if offset <= definition.span.start < offset + len(entry.placed.parsed.text):
            item, name = entry.placed.item, definition.span.shifted(-offset)
            for ref in _deciding(item, name):
                yield from _places(analysis, entry, ref.parts[-1].span.shifted(offset))
            if isinstance(item, syntax.Graph):
                yield from _results(entry, name)


def _places(analysis: Analysis, entry: Entry, span: Span) -> Iterator[Target]:
    for each in occurrences.of_item(analysis, entry):
        if each.span == span and not each.definition.is_builtin:
            yield each.definition.path, each.definition.span


def _deciding(item: syntax.Item, name: Span) -> Iterator[syntax.Ref]:
    """The names that decide the type of what an item introduces at a place."""
    for declared in _declarations(item):
        if declared.name.span == name:
            yield declared.type.dtype
    for line in item.body if isinstance(item, syntax.Schedule | syntax.Tactic) else ():
        if isinstance(line, syntax.Line):
            clauses = {clause.keyword.text: clause.values for clause in line.clauses}
            if any(isinstance(each, syntax.Ref) and each.span == name for each in clauses.get("as", ())):
                yield from (each for each in clauses.get("in", ()) if isinstance(each, syntax.Ref))


def _declarations(item: syntax.Item) -> Iterator[syntax.Declaration | syntax.Let]:
    match item:
        case syntax.Op() | syntax.Graph() | syntax.Intrinsic():
            yield from (*item.inputs, *item.outputs)
            yield from (each for each in item.body if isinstance(each, syntax.Let))
        case syntax.Fn():
            yield from item.args
        case syntax.Reducer():
            yield from (*item.left, *item.right)


def _results(entry: Entry, name: Span) -> Iterator[Target]:
    """The output that a value of a graph is."""
    item = entry.placed.item
    assert isinstance(item, syntax.Graph)
    for each in item.body:
        if isinstance(each, syntax.Assign) and isinstance(each.value, syntax.Call):
            position = next((number for number, target in enumerate(each.targets) if target.span == name), None)
            callee = entry.declaration.environment.find("callable", each.value.callee.text)
            if position is None or callee is None or not isinstance(callee.item, syntax.Op | syntax.Graph):
                continue
            if position < len(callee.item.outputs):
                yield callee.path, callee.item.outputs[position].name.span.shifted(callee.offset)
