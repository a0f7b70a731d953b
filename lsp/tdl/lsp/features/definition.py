"""From a name to what defines it.

relu(...)           the op, in whatever file
Y in Y[i] + 1       the definitions of the tensor, as they say what it is; its declaration is `declaration`
i in split Y.i      the index of the op
io in unroll io     the line that made the loop, also inside a tactic
std.nn              the file
"""

from __future__ import annotations

from lsprotocol import types
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.targets import Jump, jump
from tdl.lsp.uses import definitions_at, written


def definition(snapshot: Snapshot, params: types.DefinitionParams) -> Jump:
    """Every place that defines what stands at the cursor."""
    document = snapshot.client.text_document
    found = [each for each in definitions_at(snapshot, params.position) if not each.is_builtin]
    targets = [(each.path, span) for each in found for span in written(snapshot.workspace, each)]
    return jump(snapshot, params.position, targets, None if document is None else document.definition)
