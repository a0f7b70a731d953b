"""The brackets that a place is in: whose they are, and which argument is being written.

mix(X[i], t=‸       in the brackets of `mix`, the argument 1, which is given to `t`
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tdl.language.parser.cursor import Token


@dataclass
class Bracket:
    """`callee` is what stands before it, empty where nothing does. `inside` are the tokens in it that are in no bracket
    of its own."""

    opening: str
    callee: str
    position: int = 0
    name: str | None = None
    inside: list[str] = field(default_factory=list)


def brackets_at(tokens: tuple[Token, ...]) -> list[Bracket]:
    """The brackets that are open behind some tokens, the innermost first."""
    opened: list[Bracket] = []
    last_closed = ""
    for number, token in enumerate(tokens):
        text = token.text
        if text in ("(", "["):
            callee = last_closed if text == "(" and tokens[number - 1].text == "]" else _name_before(tokens, number)
            opened.append(Bracket(text, callee))
        elif text in (")", "]"):
            last_closed = opened.pop().callee if opened else ""
        elif opened:
            _inside(opened[-1], tokens, number)
    return opened[::-1]


def _inside(bracket: Bracket, tokens: tuple[Token, ...], number: int) -> None:
    text = tokens[number].text
    bracket.inside.append(text)
    if text == "," and "for" not in bracket.inside:
        bracket.position += 1
        bracket.name = None
    elif text == "=" and tokens[number - 1].kind == "NAME":
        bracket.name = tokens[number - 1].text


def _name_before(tokens: tuple[Token, ...], number: int) -> str:
    """A name with its dots, up to a token."""
    return "".join(reversed(list(_back(tokens, number))))


def _back(tokens: tuple[Token, ...], number: int) -> Iterator[str]:
    wants_name = True
    for token in reversed(tokens[:number]):
        is_name = token.kind in ("NAME", "EMIT")
        if is_name != wants_name or not (is_name or token.text == "."):
            return
        yield token.text
        wants_name = not wants_name
