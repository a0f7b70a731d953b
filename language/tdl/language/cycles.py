"""The report of a tensor that depends on itself in no order, with elements that show it."""

from __future__ import annotations

from collections.abc import Iterator

from tdl.language import forms
from tdl.language.conditions import Formula, equal, every, forms_of, nature, substituted
from tdl.language.dependences import Dependence
from tdl.language.forms import Form, Symbol
from tdl.language.inequalities import Facts
from tdl.language.report import Report
from tdl.language.tree import Definition, Program
from tdl.language.witness import Point, find_witness, show_element, show_point, size_symbols

_PAIRS = 200


def report_cycle(
    program: Program, report: Report, facts: Facts, members: list[Definition], inside: list[Dependence]
) -> None:
    tensors = list(dict.fromkeys(member.targets[0].tensor for member in members))
    through = "" if len(tensors) == 1 else " through " + ", ".join(f"`{name}`" for name in tensors[1:])
    shown = _itself(program, facts, inside) or _pair(program, facts, inside) or _one(program, facts, inside)
    report.error(
        "cycle",
        f"`{tensors[0]}` depends on itself{through}, and no order of its elements works",
        members[0].span,
        *([shown] if shown else []),
        "let every element read only ones that come before it along some axis, or read another tensor",
    )


def _itself(program: Program, facts: Facts, inside: list[Dependence]) -> str | None:
    """An element that reads itself."""
    for each in inside:
        if each.reader.number == each.writer.number:
            same = [equal(a, b) for a, b in zip(each.element, _written(each))]
            point = _witness(program, facts, every((*_plain(each.formulas), *same)), each)
            if point is not None:
                element = show_element(each.access.tensor, _written(each), point)
                return f"{_sizes(point)}`{element}` reads itself"
    return None


def _pair(program: Program, facts: Facts, inside: list[Dependence]) -> str | None:
    """Two elements that read each other."""
    for first, second in _pairs(inside):
        renamed = _renaming(second)
        back = [substituted(formula, renamed) for formula in _plain(second.formulas)]
        back_element = tuple(forms.substitute(form, renamed) for form in second.element)
        middle = [forms.substitute(form, renamed) for form in _coordinates(second, first.access.tensor)]
        meet = [equal(a, b) for a, b in zip(first.element, middle)]
        meet += [equal(a, b) for a, b in zip(back_element, _coordinates(first, second.access.tensor))]
        point = _witness(program, facts, every((*_plain(first.formulas), *back, *meet)), first)
        if point is not None:
            one = show_element(second.access.tensor, _coordinates(first, second.access.tensor), point)
            other = show_element(first.access.tensor, middle, point)
            return f"{_sizes(point)}`{one}` reads `{other}`, and `{other}` reads `{one}`"
    return None


def _one(program: Program, facts: Facts, inside: list[Dependence]) -> str | None:
    """One of the reads."""
    for each in inside:
        point = _witness(program, facts, every(_plain(each.formulas)), each)
        if point is not None:
            reader = show_element(each.reader.targets[0].tensor, each.reader.targets[0].coordinates, point)
            return f"{_sizes(point)}`{reader}` reads `{show_element(each.access.tensor, each.element, point)}`"
    return None


def _pairs(inside: list[Dependence]) -> Iterator[tuple[Dependence, Dependence]]:
    pairs = 0
    for position, first in enumerate(inside):
        for second in inside[position:]:
            if first.writer.number == second.reader.number and second.writer.number == first.reader.number:
                yield first, second
                pairs += 1
                if pairs == _PAIRS:
                    return


def _witness(program: Program, facts: Facts, formula: Formula, each: Dependence) -> Point | None:
    symbols = {symbol for form in forms_of(formula) for symbol in form.symbols() if symbol.kind == "index"}
    own = [binder.index for binder in each.domain.binders]
    others = sorted(symbols.difference(own), key=lambda symbol: symbol.name)
    return find_witness(facts.formulas, formula, (*size_symbols(program), *own, *others), ())


def _plain(formulas: tuple[Formula, ...]) -> list[Formula]:
    """Those that say nothing of data: the same read at other indices is another value."""
    return [formula for formula in formulas if all(nature(form) != "data" for form in forms_of(formula))]


def _coordinates(each: Dependence, tensor: str) -> tuple[Form, ...]:
    """Where the reader of a dependence writes the tensor."""
    return next(target.coordinates for target in each.reader.targets if target.tensor == tensor)


def _written(each: Dependence) -> tuple[Form, ...]:
    return _coordinates(each, each.access.tensor)


def _renaming(each: Dependence) -> dict[Symbol, Form]:
    symbols = {
        symbol
        for form in (*each.element, *(form for formula in each.formulas for form in forms_of(formula)))
        for symbol in form.symbols()
        if symbol.kind == "index"
    }
    return {symbol: forms.symbol(Symbol(f"{symbol.name}'", "index")) for symbol in symbols}


def _sizes(point: Point) -> str:
    sizes = {symbol: value for symbol, value in point.items() if symbol.kind != "index"}
    return f"{show_point(sizes)}: " if sizes else ""
