"""Words of the grammar that fit at a place, with the rest of what they begin as snippets."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol.types import CompletionItemKind as Kind
from tdl.grammar.tables import load_tables
from tdl.language.schedules.lines import LINES
from tdl.lsp.completion.offer import Offer
from tdl.lsp.completion.place import Place
from tdl.lsp.glossary import ITEMS, describe, describe_clause

ITEM_SNIPPETS: dict[str, str] = {
    "import": "import ${1:std.nn}",
    "from": "from ${1:std.nn} import ${2:relu}",
    "const": "const ${1:NAME} = ${2:1}",
    "fn": "fn ${1:name}[T: float](${2:x}: T) -> T = ${0:x}",
    "reducer": "reducer ${1:name}[T: float](a: T, b: T) -> T {\n    identity ${2:0}\n    combine ${0:a + b}\n}",
    "op": "op ${1:name}(${2:X}: f32[${3:N}]) -> ${4:Y}: f32[${3:N}] {\n    ${4:Y}[i] = ${0:${2:X}[i]}\n}",
    "graph": "graph ${1:name}(${2:x}: f32[${3:N}]) -> ${4:y}: f32[${3:N}] {\n    ${4:y} = $0\n}",
    "schedule": "schedule ${1:op} for ${2:cpu} {\n    $0\n}",
    "tactic": "tactic ${1:name}(${2:T, i}) {\n    $0\n}",
    "intrinsic": (
        "intrinsic ${1:name}(${2:a: f32[8]}) -> ${3:c}: f32[8] for ${4:x86} {\n    ${3:c}[i] = ${5:a[i]}\n"
        '    emit llvm """\n        $0\n    """\n}'
    ),
    "memory": "memory ${1:name} {\n    capacity ${2:48KiB}\n    $0\n}",
    "target": "target ${1:name} for ${2:cpu} {\n    $0\n}",
    "test": "test ${1:name}: ${2:op}($0)",
    "bench": "bench ${1:name}: ${2:op}($0)",
}

LINE_SNIPPETS: dict[str, str] = {
    "knob": "knob ${1:n} = ${2:8} in [${0:4, 8, 16}]",
    "let": "let ${1:n} = $0",
    "split": "split ${1:loop} by ${2:8} -> ${3:io, ii}",
    "tile": "tile ${1:loop}, ${2:loop} by ${3:8, 32} -> ${4:io, jo, ii, ji}",
    "fuse": "fuse ${1:loop}, ${2:loop} -> ${3:t}",
    "skew": "skew ${1:loop}, ${2:loop} -> ${3:w, p}",
    "compute": "compute ${1:stage} at ${0:root}",
    "store": "store ${1:stage} at $0",
    "fold": "fold ${1:axis} by ${0:4}",
    "cache": "cache ${1:tensor} at ${2:loop} as ${0:copy}",
    "layout": "layout ${1:tensor}(${2:i, j}) [${0:j, i}]",
    "rfactor": "rfactor ${1:loop} -> ${0:P}",
    "prefetch": "prefetch ${1:tensor} at ${2:loop} ahead ${0:2}",
    "tensorize": "tensorize ${1:loop} with $0",
    "bind": "bind ${1:loop} to ${0:block.x}",
    "cooperate": "cooperate ${1:copy} over $0",
    "apply": "apply ${1:tactic}($0)",
}
"""Of lines that are more than a verb and what it is applied to."""


def item_words() -> Iterator[Offer]:
    """What begins an item."""
    for word, about in ITEMS.items():
        yield Offer(word, Kind.Keyword, about.summary, ITEM_SNIPPETS[word], 3, ("word", word))


def keywords(place: Place) -> Iterator[Offer]:
    """The keywords that fit; in lines of a schedule, those of schedules."""
    is_line = place.cursor.statement == "schedule_line" and not place.cursor.tokens
    kinds = load_tables().words
    wanted, is_in_line = place.cursor.words, place.cursor.statement == "schedule_line"
    if is_in_line and place.tokens[:1] != ("require",):
        wanted = wanted & {*kinds["lines"], *kinds["clauses"], "in"}
    for word in sorted(wanted):
        snippet = None
        if is_line and not place.rest:
            snippet = LINE_SNIPPETS.get(word, f"{word} $0" if word != "fast_math" else None)
        rank = 1 if word in kinds["modes"] else 4
        about = LINES.get(word) if is_line else describe_clause(word) if is_in_line else describe(word)
        yield Offer(word, Kind.Keyword, "" if about is None else about.summary, snippet, rank, ("word", word))
