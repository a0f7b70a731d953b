"""Colours by meaning: of a whole document, of what changed since the client last asked, or of some lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lsprotocol import types
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.tokens import Token, tokens


def semantic_tokens(snapshot: Snapshot, params: types.SemanticTokensParams) -> types.SemanticTokens:
    """Every token of the document."""
    data = encoded(tokens(snapshot.analysis, snapshot.encoding))
    return types.SemanticTokens(data, snapshot.workspace.tokens.keep(data))


def semantic_tokens_delta(
    snapshot: Snapshot, params: types.SemanticTokensDeltaParams
) -> types.SemanticTokens | types.SemanticTokensDelta:
    """The one stretch of numbers that is not as it was; every token, where it is not known how it was."""
    before = snapshot.workspace.tokens.find(params.previous_result_id)
    now = semantic_tokens(snapshot, types.SemanticTokensParams(params.text_document))
    if before is None:
        return now
    return types.SemanticTokensDelta(difference(before, now.data), now.result_id)


def semantic_tokens_range(snapshot: Snapshot, params: types.SemanticTokensRangeParams) -> types.SemanticTokens:
    """The tokens of the lines of a range."""
    first, last = params.range.start.line, params.range.end.line
    found = tokens(snapshot.analysis, snapshot.encoding)
    return types.SemanticTokens(encoded(each for each in found if first <= each[0] <= last))


def encoded(found: Iterable[Token]) -> list[int]:
    """Tokens as LSP sends them: each by how far it is from the one before."""
    data: list[int] = []
    last_line = last_character = 0
    for line, character, length, kind, modifiers in found:
        data += (
            line - last_line,
            character - last_character if line == last_line else character,
            length,
            kind,
            modifiers,
        )
        last_line, last_character = line, character
    return data


def difference(before: Sequence[int], after: Sequence[int]) -> list[types.SemanticTokensEdit]:
    """One edit that makes the second of the first; none where they are the same."""
    shorter = min(len(before), len(after))
    start = next((number for number in range(shorter) if before[number] != after[number]), shorter)
    if start == len(before) == len(after):
        return []
    kept = next((n for n in range(shorter - start) if before[-1 - n] != after[-1 - n]), shorter - start)
    return [
        types.SemanticTokensEdit(start, len(before) - start - kept, list(after[start : len(after) - kept])),
    ]
