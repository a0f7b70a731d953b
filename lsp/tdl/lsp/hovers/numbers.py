"""What a number does: a factor to the loop that it divides, a literal to the type that it has.

split C.i by 8      8 divides the extent M only where M % 8 == 0; at M = 37 the last tile has 5
X[i] * 0.5          f32, as what it is multiplied with
"""

from __future__ import annotations

from collections.abc import Iterator

from tdl.compiler.schedule.text import form_text
from tdl.compiler.schedule.views import most, view_of
from tdl.language import syntax, tree
from tdl.language.forms import Form
from tdl.language.module import Entry
from tdl.language.schedules.clauses import clause_of, factors
from tdl.language.source import Span
from tdl.lsp.documentation import code, joined, of_word
from tdl.lsp.glossary import describe_clause
from tdl.lsp.hovers.lines import AtLine, found_loop
from tdl.lsp.hovers.names import program_of


def of_number(at: AtLine, span: Span) -> str | None:
    """What a number in a line of a schedule is for."""
    match at.line:
        case syntax.Knob(name, value, choices):
            if value.span == span:
                return code(f"{name.text} = {_number(value)} until a tuner chooses")
            is_choice = any(each.span == span for each in choices)
            return code(f"a choice of {name.text}") if is_choice else None
        case syntax.Line():
            return _factor_at(at, span) or _of_clause(at.line, span)
    return None


def _of_clause(line: syntax.Line, span: Span) -> str | None:
    """By the word that it stands behind."""
    for clause in line.clauses:
        if clause.span.start <= span.start and span.end <= clause.span.end:
            if line.verb.text == "fold":
                ring = ", ".join(each.text for each in line.operands if isinstance(each, syntax.Ref))
                return code(f"a ring along {ring}")
            word = describe_clause(clause.keyword.text)
            return None if word is None else of_word(clause.keyword.text, word)
    return None


def _factor_at(at: AtLine, span: Span) -> str | None:
    """What a number behind `by` or `into` does to its loop."""
    line = at.line
    if not isinstance(line, syntax.Line) or line.verb.text not in ("split", "tile", "vectorize") or at.before is None:
        return None
    for keyword in ("by", "into"):
        clause = clause_of(line, keyword)
        values = () if clause is None else factors(clause)
        for position, value in enumerate(values):
            if value.span == span and isinstance(value, syntax.Number):
                return _factor(at, line, keyword, [_number(each) for each in values], position)
    return None


def _number(expr: syntax.Expr) -> int:
    """What is written, 0 where it is no number."""
    digits = expr.text.replace("_", "") if isinstance(expr, syntax.Number) else ""
    return int(digits) if digits.isdecimal() else 0


def _factor(at: AtLine, line: syntax.Line, keyword: str, values: list[int], position: int) -> str | None:
    operand = line.operands[min(position, len(line.operands) - 1)]
    factor = values[position]
    if not isinstance(operand, syntax.Ref) or factor < 1 or at.before is None:
        return None
    name, what = operand.text, f"{factor} parts of" if keyword == "into" else f"tiles of {factor} of"
    outer = values[position - 1] if position and len(line.operands) == 1 else None
    if outer:
        return joined(code(f"tiles of {factor} inside tiles of {outer}"), _divides(outer, factor, str(outer)))
    loop = found_loop(at.before, name)
    if loop is None:
        return None
    extent = loop.hi - loop.lo
    verdicts = [] if extent.is_constant else list(_at_cases(at, extent, factor, keyword))
    known = _verdict(view_of(at.before, loop).extent, factor, keyword)
    return joined(code(f"{what} {name}"), known, "\n".join(f"- {each}" for each in verdicts))


def _verdict(extent: Form, factor: int, keyword: str) -> str:
    if extent.is_constant:
        return _parts(extent.constant, factor) if keyword == "into" else _divides(extent.constant, factor)
    if all(count % factor == 0 for _, count in extent.terms) and extent.constant % factor == 0:
        return f"{factor} divides the extent `{form_text(extent)}`."
    if keyword == "into":
        return f"The extent is `{form_text(extent)}`; where {factor} does not divide it, the last part is shorter."
    return f"The extent is `{form_text(extent)}`; where {factor} does not divide it, the last tile is shorter."


def _at_cases(at: AtLine, extent: Form, factor: int, keyword: str) -> Iterator[str]:
    for case in at.checked():
        whole, is_exact = most(extent, case.bound.sizes)
        if whole is not None and is_exact:
            text = _parts(whole, factor) if keyword == "into" else _divides(whole, factor)
            yield f"`{case.name}`: {text}"


def _divides(extent: int, factor: int, shown: str | None = None) -> str:
    count, rest = divmod(extent, factor)
    shown = shown or str(extent)
    if extent < factor:
        return f"{shown} < {factor}: one tile, of {extent}."
    return (
        f"{shown} = {count} × {factor}." if rest == 0 else f"{shown} = {count} × {factor} + {rest}: a tail of {rest}."
    )


def _parts(extent: int, count: int) -> str:
    size = -(-extent // count)
    return f"{extent} in parts of {size}." if extent % count == 0 else f"{extent} in parts of at most {size}."


# ---- literals


def of_literal(entry: Entry, span: Span) -> str | None:
    """The type of a literal in an op."""
    program = program_of(entry.declaration)
    text = entry.declaration.text[span.start : span.end]
    for each in () if program is None else program.definitions:
        if not each.value.span.start <= span.start < max(each.value.span.end, span.end):
            continue
        for node in tree.walk(each.value):
            if isinstance(node, tree.Number) and node.span == span:
                return code(f"{text}: {node.dtype}")
    return None
