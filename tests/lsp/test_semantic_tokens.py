"""Colours by meaning: what each word is, and that the parts and the changes agree with the whole."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from lsprotocol import types
from tdl.lsp.features.semantic_tokens import semantic_tokens, semantic_tokens_delta, semantic_tokens_range
from tdl.lsp.positions import Encoding, offset_at
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.tokens import LEGEND
from tdl.lsp.workspace import Workspace

PROGRAMS = sorted((Path(__file__).parents[1] / "programs").glob("*.tdl"))
URI = "file:///a.tdl"
DOCUMENT = types.TextDocumentIdentifier(URI)


def snapshot_of(text: str, workspace: Workspace | None = None) -> Snapshot:
    workspace = workspace or Workspace()
    return Snapshot(workspace.open(URI, 1, text), workspace)


def decoded(snapshot: Snapshot, data: list[int] | tuple[int, ...]) -> list[tuple[int, int, str, str]]:
    """Line, character, the word and what it is."""
    found, line, character = [], 0, 0
    for at in range(0, len(data), 5):
        lines, characters, length, kind, bits = data[at : at + 5]
        line, character = line + lines, characters if lines else character + characters
        start = offset_at(snapshot.source, types.Position(line, character), snapshot.encoding)
        end = offset_at(snapshot.source, types.Position(line, character + length), snapshot.encoding)
        modifiers = [name for number, name in enumerate(LEGEND.token_modifiers) if bits >> number & 1]
        word = snapshot.source.text[start:end]
        found.append((line, character, word, ".".join([LEGEND.token_types[kind], *modifiers])))
    return found


def words_of(text: str) -> list[str]:
    snapshot = snapshot_of(text)
    data = semantic_tokens(snapshot, types.SemanticTokensParams(DOCUMENT)).data
    return [f"{word}: {what}" for _, _, word, what in decoded(snapshot, list(data))]


def test_the_words_of_an_op() -> None:
    text = """\
## Sums.
op rows[T: float](X: T[M, K]) -> Y: T[M] {
    Y[i] = T(2) * sum(X[i, k] for k)  # all of them
}
"""
    assert words_of(text) == [
        "## Sums.: comment.documentation",
        "op: keyword",
        "rows: function.declaration.op",
        "T: typeParameter.declaration",
        "float: type.defaultLibrary",
        "X: parameter.declaration.tensor",
        "T: typeParameter",
        "M: enumMember.declaration.dimension",
        "K: enumMember.declaration.dimension",
        "Y: variable.declaration.tensor",
        "T: typeParameter",
        "M: enumMember.dimension",
        "Y: variable.definition.tensor",
        "i: variable.declaration.index",
        "T: typeParameter",
        "2: number",
        "sum: function.defaultLibrary.reducer",
        "X: parameter.tensor",
        "i: variable.index",
        "k: variable.index",
        "for: keyword",
        "k: variable.declaration.index",
        "# all of them: comment",
    ]


def test_the_words_of_a_schedule() -> None:
    text = """\
op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] }
schedule f for cpu when N > 3 {
    knob w = 4 in [4, 8]
    split Y.i by w -> io, ii
    cache X at io in stack as Xp
    bind io to block.x
}
bench b: f(N=8)
"""
    assert words_of(text)[words_of(text).index("schedule: keyword") :] == [
        "schedule: keyword",
        "f: function.op",
        "for: keyword",
        "cpu: enum.defaultLibrary",
        "when: keyword",
        "N: enumMember.dimension",
        "3: number",
        "knob: keyword.schedule",
        "w: variable.declaration.knob",
        "4: number",
        "in: keyword",
        "4: number",
        "8: number",
        "split: keyword.schedule",
        "Y: variable.tensor",
        "i: variable.index",
        "by: keyword.schedule",
        "w: variable.knob",
        "io: variable.declaration.loop",
        "ii: variable.declaration.loop",
        "cache: keyword.schedule",
        "X: parameter.tensor",
        "at: keyword.schedule",
        "io: variable.loop",
        "in: keyword",
        "stack: struct.defaultLibrary",
        "as: keyword.schedule",
        "Xp: variable.declaration.tensor",
        "bind: keyword.schedule",
        "io: variable.loop",
        "to: keyword.schedule",
        "block.x: enumMember.defaultLibrary",
        "bench: keyword",
        "b: event.declaration.bench",
        "f: function.op",
        "N: enumMember.dimension",
        "8: number",
    ]


def test_a_word_is_a_keyword_only_where_the_grammar_takes_it_for_one() -> None:
    found = words_of("op f(split: f32[N]) -> Y: f32[N] { Y[i] = split[i] }\n")
    assert [each for each in found if each.startswith("split")] == [
        "split: parameter.declaration.tensor",
        "split: parameter.tensor",
    ]


def test_what_goes_over_several_lines_is_a_token_in_each() -> None:
    text = 'intrinsic f(a: f32[4]) -> c: f32[4] for x86 {\n    c[n] = a[n]\n    emit llvm """one\n    two"""\n}\n'
    assert [each for each in words_of(text) if each.endswith("string")] == ['"""one: string', '    two""": string']


def test_a_statement_that_does_not_parse_leaves_the_others_their_colours() -> None:
    found = words_of("op f(X: f32[N]) -> Y: f32[N] {\n    Z[i] = X[ +  # why\n    Y[j] = X[j]\n}\n")
    assert found.count("X: parameter.tensor") >= 1
    assert "# why: comment" in found
    assert "j: variable.declaration.index" in found


@pytest.mark.parametrize("encoding", [Encoding.Utf8, Encoding.Utf16, Encoding.Utf32])
def test_characters_are_counted_as_the_client_counts(encoding: Encoding) -> None:
    text = "# 𝄞\nop f(größe: f32[N]) -> Y: f32[N] { Y[i] = größe[i] }  # 𝄞 é\n"
    snapshot = snapshot_of(text, Workspace(encoding=encoding))
    data = list(semantic_tokens(snapshot, types.SemanticTokensParams(DOCUMENT)).data)
    words = [word for _, _, word, _ in decoded(snapshot, data)]
    assert words[0] == "# 𝄞"
    assert words[-1] == "# 𝄞 é"
    assert words.count("größe") == 2


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_tokens_stand_in_order_and_apart(path: Path) -> None:
    snapshot = snapshot_of(path.read_text(encoding="utf-8"))
    end = (0, 0)
    for line, character, word, _ in decoded(
        snapshot, list(semantic_tokens(snapshot, types.SemanticTokensParams(DOCUMENT)).data)
    ):
        assert (line, character) >= end
        end = line, character + len(word)


def test_a_range_has_the_tokens_of_its_lines() -> None:
    snapshot = snapshot_of(PROGRAMS[0].read_text(encoding="utf-8"))
    whole = decoded(snapshot, list(semantic_tokens(snapshot, types.SemanticTokensParams(DOCUMENT)).data))
    place = types.Range(types.Position(3, 0), types.Position(9, 5))
    part = semantic_tokens_range(snapshot, types.SemanticTokensRangeParams(DOCUMENT, place))
    assert decoded(snapshot, list(part.data)) == [each for each in whole if 3 <= each[0] <= 9]


def test_changes_make_the_new_tokens_of_the_old() -> None:
    rng, workspace = random.Random(4), Workspace()
    text = PROGRAMS[0].read_text(encoding="utf-8")
    before = semantic_tokens(snapshot_of(text, workspace), types.SemanticTokensParams(DOCUMENT))
    for _ in range(60):
        place = rng.randrange(len(text))
        text = text[:place] + rng.choice(["x", "\n", " # a\n", ""]) + text[place + rng.randrange(3) :]
        snapshot = snapshot_of(text, workspace)
        assert before.result_id is not None
        answer = semantic_tokens_delta(snapshot, types.SemanticTokensDeltaParams(DOCUMENT, before.result_id))
        after = semantic_tokens(snapshot, types.SemanticTokensParams(DOCUMENT))
        assert isinstance(answer, types.SemanticTokensDelta)
        data = list(before.data)
        for edit in answer.edits:
            data[edit.start : edit.start + edit.delete_count] = edit.data or []
        assert data == list(after.data)
        assert answer.result_id == after.result_id
        before = after


def test_after_an_answer_that_is_forgotten_everything_is_sent() -> None:
    snapshot = snapshot_of("const N = 8\n")
    answer = semantic_tokens_delta(snapshot, types.SemanticTokensDeltaParams(DOCUMENT, "gone"))
    assert isinstance(answer, types.SemanticTokens)
