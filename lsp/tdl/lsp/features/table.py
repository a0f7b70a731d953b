"""Every method that the server answers, with the function that answers it: to add a feature is to add a line here.

Functions of a document take a `Snapshot`; those of no document in particular take the `Workspace`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lsprotocol import types
from tdl.lsp.features.call_hierarchy import incoming_calls, outgoing_calls, prepare_call_hierarchy
from tdl.lsp.features.code_action import OPTIONS, code_action
from tdl.lsp.features.code_lens import code_lens
from tdl.lsp.features.completion import OPTIONS as COMPLETION_OPTIONS
from tdl.lsp.features.completion import completion, resolve_completion
from tdl.lsp.features.declaration import declaration
from tdl.lsp.features.definition import definition
from tdl.lsp.features.diagnostics import diagnostic
from tdl.lsp.features.document_highlight import document_highlight
from tdl.lsp.features.document_link import document_link
from tdl.lsp.features.document_symbol import document_symbol
from tdl.lsp.features.folding_range import folding_range
from tdl.lsp.features.formatting import formatting, on_type_formatting, range_formatting
from tdl.lsp.features.hover import hover
from tdl.lsp.features.inlay_hint import inlay_hint
from tdl.lsp.features.references import references
from tdl.lsp.features.rename import prepare_rename, rename
from tdl.lsp.features.selection_range import selection_range
from tdl.lsp.features.semantic_tokens import semantic_tokens, semantic_tokens_delta, semantic_tokens_range
from tdl.lsp.features.signature_help import OPTIONS as SIGNATURE_OPTIONS
from tdl.lsp.features.signature_help import signature_help
from tdl.lsp.features.type_definition import type_definition
from tdl.lsp.features.workspace_diagnostics import workspace_diagnostics
from tdl.lsp.features.workspace_symbol import workspace_symbol
from tdl.lsp.tokens import LEGEND


@dataclass(frozen=True, slots=True)
class Feature:
    """A method, its answer `(snapshot or workspace, params) -> result`, and its options as pygls advertises them.

    The answer of a document may be one that is `Asking`.
    """

    method: str
    answer: Callable[[Any, Any], Any]
    options: object = None


DOCUMENT_FEATURES: tuple[Feature, ...] = (
    Feature(types.TEXT_DOCUMENT_CODE_ACTION, code_action, OPTIONS),
    Feature(types.TEXT_DOCUMENT_CODE_LENS, code_lens),
    Feature(types.TEXT_DOCUMENT_HOVER, hover),
    Feature(types.TEXT_DOCUMENT_COMPLETION, completion, COMPLETION_OPTIONS),
    Feature(types.TEXT_DOCUMENT_SIGNATURE_HELP, signature_help, SIGNATURE_OPTIONS),
    Feature(types.TEXT_DOCUMENT_INLAY_HINT, inlay_hint),
    Feature(types.TEXT_DOCUMENT_DEFINITION, definition),
    Feature(types.TEXT_DOCUMENT_DECLARATION, declaration),
    Feature(types.TEXT_DOCUMENT_TYPE_DEFINITION, type_definition),
    Feature(types.TEXT_DOCUMENT_REFERENCES, references),
    Feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, document_highlight),
    Feature(types.TEXT_DOCUMENT_PREPARE_RENAME, prepare_rename),
    Feature(types.TEXT_DOCUMENT_RENAME, rename),
    Feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, document_symbol),
    Feature(types.TEXT_DOCUMENT_DOCUMENT_LINK, document_link),
    Feature(types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY, prepare_call_hierarchy),
    Feature(types.TEXT_DOCUMENT_FOLDING_RANGE, folding_range),
    Feature(types.TEXT_DOCUMENT_SELECTION_RANGE, selection_range),
    Feature(types.TEXT_DOCUMENT_FORMATTING, formatting),
    Feature(types.TEXT_DOCUMENT_RANGE_FORMATTING, range_formatting),
    Feature(
        types.TEXT_DOCUMENT_ON_TYPE_FORMATTING, on_type_formatting, types.DocumentOnTypeFormattingOptions("}", ["\n"])
    ),
    Feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, semantic_tokens, LEGEND),
    Feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA, semantic_tokens_delta, LEGEND),
    Feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, semantic_tokens_range, LEGEND),
    Feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        diagnostic,
        types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=True, identifier="tdlc"),
    ),
)
"""Asked with a `textDocument` in the parameters; answered from a snapshot of it."""

WORKSPACE_FEATURES: tuple[Feature, ...] = (
    Feature(types.WORKSPACE_DIAGNOSTIC, workspace_diagnostics),
    Feature(types.WORKSPACE_SYMBOL, workspace_symbol),
    Feature(types.COMPLETION_ITEM_RESOLVE, resolve_completion),
    Feature(types.CALL_HIERARCHY_INCOMING_CALLS, incoming_calls),
    Feature(types.CALL_HIERARCHY_OUTGOING_CALLS, outgoing_calls),
)
"""Asked of the workspace as a whole."""
