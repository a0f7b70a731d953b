"""A plan as a block of TDL: laid out as the formatter does it, the reason of each line in a comment behind it.

## Automatic, at M=1024, N=1024.
schedule total for cpu {
    vectorize s.k by 64    # 4 vectors of partial results
}
"""

from __future__ import annotations

from tdl.compiler.schedule.planner.draft import Draft, Written
from tdl.language.binding import describe_sizes
from tdl.language.format import format_text
from tdl.language.forms import Symbol


def block(draft: Draft) -> str:
    """The text of a plan, to be pasted below the op."""
    lines = "".join(f"    {_line(line)}\n" for line in draft.lines)
    return format_text(
        f"## Automatic, {_sizes(draft)}.\nschedule {draft.op.name} for cpu{_when(draft)} {{\n{lines}}}\n"
    )


def _line(line: Written) -> str:
    return f"{line.text}  # {line.reason}" if line.reason else line.text


def _sizes(draft: Draft) -> str:
    if not draft.assumed:
        return "for the one size there is"
    fixed = f"for {describe_sizes(draft.sizes)}" if draft.sizes else "for all sizes"
    guessed = {symbol: size for symbol, size in draft.assumed.items() if symbol not in draft.sizes}
    return f"{fixed}, its numbers chosen at {describe_sizes(guessed)}" if guessed else fixed


def _when(draft: Draft) -> str:
    """The condition under which lines that were proved for some sizes hold; nobody can write one about a pack."""
    named = [f"{symbol.name} == {size}" for symbol, size in draft.sizes.items() if _is_plain(symbol)]
    return f" when {' and '.join(named)}" if named else ""


def _is_plain(symbol: Symbol) -> bool:
    return symbol.kind == "dim" and "." not in symbol.name
