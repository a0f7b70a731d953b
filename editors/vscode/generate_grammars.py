"""Writes the TextMate grammars of TDL and of its previews. Their words come from `tdl.lark`, none is typed here.

    python editors/vscode/generate_grammars.py

A TextMate grammar colours a line before the server has read it; what a name means is the server's to say.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tdl.grammar.tables import load_tables
from tdl.language.dtypes import CLASSES, DTYPES

HERE = Path(__file__).parent / "syntaxes"

Rule = dict[str, Any]


def grammars() -> dict[str, str]:
    """The text of each file of `syntaxes/` by its name."""
    made = {
        "tdl.tmLanguage.json": _tdl(),
        "nest.tmLanguage.json": _nest(),
        "llvm.tmLanguage.json": _llvm(),
        "assembly.tmLanguage.json": _assembly(),
        "markdown.tmLanguage.json": _markdown(),
    }
    return {name: json.dumps(grammar, indent=2) + "\n" for name, grammar in made.items()}


def _tdl() -> Rule:
    words = load_tables().words
    reserved = words["reserved"]
    logical, constants = ("and", "or", "not"), ("true", "false", "inf", "nan")
    control = [word for word in reserved if word not in logical and word not in constants]
    return {
        "name": "TDL",
        "scopeName": "source.tdl",
        "patterns": [{"include": f"#{name}"} for name in ("comments", "schedule", "items", "statements", "terms")],
        "repository": {
            "comments": {
                "patterns": [
                    {"name": "comment.line.documentation.tdl", "match": "##.*$"},
                    {"name": "comment.line.number-sign.tdl", "match": "#.*$"},
                ]
            },
            "schedule": {
                "begin": rf"^\s*(schedule|tactic)\s+({_NAME}(?:\.{_NAME})*)",
                "beginCaptures": {"1": {"name": "storage.type.tdl"}, "2": {"name": "entity.name.function.tdl"}},
                "end": r"\}|(?=^(?:" + "|".join(words["items"]) + r")\b)",
                "patterns": [
                    {"include": "#comments"},
                    {
                        "match": rf"^\s*{_any(words['lines'])}\b(?!\s*[=.])",
                        "captures": _captures("keyword.other.schedule"),
                    },
                    {"name": "keyword.other.clause.tdl", "match": rf"(?<=\s){_any(words['clauses'])}(?=[\s\[#]|$)"},
                    {"name": "storage.modifier.memory.tdl", "match": r"(?<=\bin\s)(register|stack|arena|global)\b"},
                    {"include": "#heads"},
                    {"include": "#terms"},
                ],
            },
            "items": {
                "patterns": [
                    {
                        "match": rf"^\s*(import|from)\s+({_NAME}(?:\.{_NAME})*)(?:\s+(import)\b)?",
                        "captures": {
                            "1": {"name": "keyword.control.import.tdl"},
                            "2": {"name": "entity.name.namespace.tdl"},
                            "3": {"name": "keyword.control.import.tdl"},
                        },
                    },
                    {
                        "match": rf"^\s*(const)\s+({_NAME})",
                        "captures": {
                            "1": {"name": "storage.type.tdl"},
                            "2": {"name": "variable.other.constant.tdl"},
                        },
                    },
                    {
                        "match": rf"^\s*{_any(_declaring(words['items']))}\s+({_NAME})",
                        "captures": {"1": {"name": "storage.type.tdl"}, "2": {"name": "entity.name.function.tdl"}},
                    },
                ]
            },
            "heads": {"name": "keyword.control.tdl", "match": rf"\b{_any(words['heads'])}\b(?!\s*[=:,)\].])"},
            "statements": {
                "match": rf"^\s*{_any(words['statements'])}\b(?!\s*[=\[.,])",
                "captures": _captures("storage.modifier"),
            },
            "terms": {
                "patterns": [
                    {"include": "#comments"},
                    {
                        "name": "string.quoted.triple.tdl",
                        "begin": '"""',
                        "end": '"""',
                    },
                    {"name": "string.quoted.double.tdl", "match": '"[^"\\r\\n]*"'},
                    {
                        "match": rf"(\|)\s*{_any(words['modes'])}\s*(?=\])",
                        "captures": {"1": {"name": "keyword.operator.tdl"}, "2": {"name": "constant.language.tdl"}},
                    },
                    {"name": "keyword.operator.logical.tdl", "match": rf"\b{_any(logical)}\b"},
                    {"name": "constant.language.tdl", "match": rf"\b{_any(constants)}\b"},
                    {"name": "keyword.control.tdl", "match": rf"\b{_any(control)}\b"},
                    {
                        "name": "support.type.tdl",
                        "match": rf"(?<![\w.]){_any([*DTYPES, *CLASSES])}(?=\s*[\[(),={{]|\s*$)",
                    },
                    {
                        "name": "constant.numeric.tdl",
                        "match": r"(?<![\w])\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d[\d_]*)?",
                    },
                    {"match": rf"\b({_NAME})(?=\()", "captures": {"1": {"name": "support.function.tdl"}}},
                    {"name": "keyword.operator.range.tdl", "match": r"\.\."},
                    {"name": "keyword.operator.arrow.tdl", "match": "->"},
                    {"name": "keyword.operator.tdl", "match": r"\*\*|//|[=!<>]=|[-+*/%<>=|]"},
                ]
            },
        },
    }


def _declaring(items: Iterable[str]) -> list[str]:
    """The words that a name follows which they declare."""
    return [word for word in items if word not in ("import", "from", "const", "schedule", "tactic")]


def _nest() -> Rule:
    """Loops as `tdlc show` prints them, named or lowered; statements in them are TDL."""
    return {
        "name": "TDL loops",
        "scopeName": "source.tdl-nest",
        "patterns": [
            {
                "match": r"^\s*(?:(parallel|vector|unrolled)\s+)?(for)\s+([\w.]+)",
                "captures": {
                    "1": {"name": "storage.modifier.tdl-nest"},
                    "2": {"name": "keyword.control.tdl-nest"},
                    "3": {"name": "variable.other.loop.tdl-nest"},
                },
            },
            {
                "match": r"^\s*(lanes)\s+([\w.]+)\s+(of)\b",
                "captures": {
                    "1": {"name": "storage.modifier.tdl-nest"},
                    "2": {"name": "variable.other.loop.tdl-nest"},
                    "3": {"name": "keyword.control.tdl-nest"},
                },
            },
            {
                "match": r"^\s*(register|stack|arena|global)\s+([\w.]+)",
                "captures": {
                    "1": {"name": "storage.type.tdl-nest"},
                    "2": {"name": "variable.other.tensor.tdl-nest"},
                },
            },
            {"name": "keyword.control.tdl-nest", "match": r"\b(layout|descending|prefetch|stream|twice|the first)\b"},
            {"include": "source.tdl#items"},
            {"include": "source.tdl#statements"},
            {"include": "source.tdl#terms"},
        ],
    }


def _llvm() -> Rule:
    types = r"\b(void|ptr|half|bfloat|float|double|label|i\d+)\b"
    return {
        "name": "LLVM",
        "scopeName": "source.tdl-llvm",
        "patterns": [
            {"name": "comment.line.semicolon.tdl-llvm", "match": ";.*$"},
            {"name": "string.quoted.double.tdl-llvm", "match": '"[^"]*"'},
            {"name": "entity.name.function.tdl-llvm", "match": r'@(?:[\w.$-]+|"[^"]*")'},
            {"name": "variable.other.tdl-llvm", "match": r'%(?:[\w.$-]+|"[^"]*")'},
            {"name": "entity.name.label.tdl-llvm", "match": r"^[\w.$-]+:"},
            {"name": "storage.type.tdl-llvm", "match": types},
            {"name": "storage.modifier.tdl-llvm", "match": r"^(define|declare|attributes|source_filename|target)\b"},
            {"name": "keyword.control.tdl-llvm", "match": r"\b(br|ret|switch|unreachable|call|phi|select)\b"},
            {
                "name": "keyword.other.instruction.tdl-llvm",
                "match": r"(?<== )[a-z]\w*|^\s+(store|fence|call|tail)\b",
            },
            {"name": "constant.numeric.tdl-llvm", "match": r"(?<![\w.%@])-?(0x[0-9A-Fa-f]+|\d+(\.\d+(e[+-]?\d+)?)?)"},
            {
                "name": "constant.language.tdl-llvm",
                "match": r"\b(true|false|null|undef|poison|zeroinitializer|splat)\b",
            },
        ],
    }


def _assembly() -> Rule:
    return {
        "name": "Assembly",
        "scopeName": "source.tdl-assembly",
        "patterns": [
            {"name": "comment.line.number-sign.tdl-assembly", "match": "#.*$|//.*$"},
            {"name": "string.quoted.double.tdl-assembly", "match": '"[^"]*"'},
            {"name": "entity.name.function.tdl-assembly", "match": r"^[\w.$]+:"},
            {"name": "keyword.other.directive.tdl-assembly", "match": r"^\s*\.\w+"},
            {"name": "keyword.control.tdl-assembly", "match": r"^\s+(j[a-z]+|call\w*|ret\w*|b(\.[a-z]+)?|cbn?z)\b"},
            {"name": "support.function.vector.tdl-assembly", "match": r"^\s+v[a-z0-9]+\b"},
            {"name": "keyword.other.instruction.tdl-assembly", "match": r"^\s+[a-z][a-z0-9.]*\b"},
            {"name": "variable.language.register.vector.tdl-assembly", "match": r"%[xyz]mm\d+"},
            {"name": "variable.other.register.tdl-assembly", "match": r"%\w+"},
            {"name": "constant.numeric.tdl-assembly", "match": r"\$?-?\b(0x[0-9A-Fa-f]+|\d+)\b"},
            {"name": "entity.name.label.tdl-assembly", "match": r"\.L\w+"},
        ],
    }


def _markdown() -> Rule:
    """A fenced block of TDL in Markdown."""
    return {
        "scopeName": "markdown.tdl.codeblock",
        "injectionSelector": "L:text.html.markdown",
        "patterns": [
            {
                "begin": r"(^|\G)(\s*)(`{3,}|~{3,})\s*(?i:(tdl)(?=\s|$))[^`]*$",
                "end": r"(^|\G)(\2|\s{0,3})(\3)\s*$",
                "name": "markup.fenced_code.block.markdown",
                "beginCaptures": {
                    "3": {"name": "punctuation.definition.markdown"},
                    "4": {"name": "fenced_code.block.language.markdown"},
                },
                "endCaptures": {"3": {"name": "punctuation.definition.markdown"}},
                "patterns": [
                    {
                        "begin": r"(^|\G)(\s*)(.*)",
                        "while": r"(^|\G)(?!\s*([`~]{3,})\s*$)",
                        "contentName": "meta.embedded.block.tdl",
                        "patterns": [{"include": "source.tdl"}],
                    }
                ],
            }
        ],
    }


_NAME = r"[^\W\d]\w*"


def _any(words: Iterable[str]) -> str:
    """One of some words."""
    return f"({'|'.join(sorted(words))})"


def _captures(scope: str) -> Rule:
    return {"1": {"name": f"{scope}.tdl"}}


if __name__ == "__main__":
    for name, text in grammars().items():
        (HERE / name).write_text(text, encoding="utf-8")
