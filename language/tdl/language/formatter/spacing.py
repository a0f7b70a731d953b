"""Blanks between neighbouring tokens of a line.

What the author decides: whether an arithmetic operator hugs both its operands (`2*i + 1`), and whether two blanks set
off the `for` of a definition.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from tdl.language.formatter.tokens import Token

_OPENING = frozenset({"LPAR", "LSQB"})
_TIGHT_BEFORE = frozenset({"RPAR", "RSQB", "COMMA", "COLON", "DOT"})
_NAMES = frozenset({"NAME", "EMIT"})
_HUGGING = frozenset({"ADD", "MULTIPLY", "POWER"})


def blanks(tokens: Sequence[Token], breaks: Set[int], i: int, depth: int) -> int:
    """How many blanks stand before token `i`, inside `depth` brackets, where rows start at the tokens `breaks`."""
    previous, token = tokens[i - 1], tokens[i]
    if token.kind in _TIGHT_BEFORE or previous.kind in _OPENING or previous.kind == "DOT":
        return 0
    if token.kind == "EQUAL" or previous.kind == "EQUAL":
        return 0 if depth > 0 and _names_argument(tokens, i if token.kind == "EQUAL" else i - 1) else 1
    if token.kind == "DOTS" or previous.kind == "DOTS":
        return 1 if token.kind == "DOTS" and _starts_pack(previous) else 0
    if _is_sign(previous):
        return 0
    if token.kind in _OPENING and _is_applied(previous, token):
        return 0
    if (token.is_operator and _hugs(tokens, breaks, i)) or (previous.is_operator and _hugs(tokens, breaks, i - 1)):
        return 0
    if token.kind == "_FOR" and depth == 0 and token.gap > 1:
        return 2
    return 1


def _is_applied(previous: Token, bracket: Token) -> bool:
    """Whether `f(`, `X[` and `f[k](` are one expression; `layout [` and `W(k) [` are not."""
    if previous.kind == "RSQB":
        return bracket.kind == "LPAR"
    return previous.kind in _NAMES


def _starts_pack(previous: Token) -> bool:
    return previous.kind in ("COMMA", "_FOR")


def _names_argument(tokens: Sequence[Token], i: int) -> bool:
    """Whether the `=` at `i` is that of `f(x=1)`, not that of `k: int = 1`."""
    return i >= 2 and tokens[i - 2].kind in ("LPAR", "LSQB", "COMMA")


def _is_sign(token: Token) -> bool:
    return token.kind == "ADD" and not token.is_operator


def _hugs(tokens: Sequence[Token], breaks: Set[int], i: int) -> bool:
    """Whether the author wrote the operator at `i` without a blank on either side."""
    has_blank = tokens[i].gap or tokens[i + 1].gap or i in breaks or i + 1 in breaks
    return tokens[i].kind in _HUGGING and not has_blank
