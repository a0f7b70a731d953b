"""From a name to where it is declared: in the head of an item or by `let`, or by the import that brings it here."""

from __future__ import annotations

from lsprotocol import types
from tdl.language import occurrences, syntax
from tdl.language.occurrences import Definition
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.targets import Jump, Target, jump
from tdl.lsp.uses import definitions_at


def declaration(snapshot: Snapshot, params: types.DeclarationParams) -> Jump:
    """Where what stands at the cursor is declared."""
    document = snapshot.client.text_document
    found = [each for each in definitions_at(snapshot, params.position) if not each.is_builtin]
    targets = [_declared(snapshot, each) for each in found]
    return jump(snapshot, params.position, targets, None if document is None else document.declaration)


def _declared(snapshot: Snapshot, definition: Definition) -> Target:
    for entry in snapshot.analysis.module.entries:
        if isinstance(entry.placed.item, syntax.Import):
            for each in occurrences.of_item(snapshot.analysis, entry):
                if each.definition == definition:
                    return snapshot.source.path, each.span
    return definition.path, definition.span
