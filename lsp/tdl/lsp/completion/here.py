"""A line of a schedule or tactic that is being typed, with what may be named in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lsprotocol.types import CompletionItemKind as Kind
from tdl.language import syntax
from tdl.language.report import Report
from tdl.language.schedules.check import state_after
from tdl.language.schedules.lines import LINES, LineForm
from tdl.language.schedules.operands import State
from tdl.language.schedules.reading import read_lines
from tdl.language.schedules.tactics import state_of_tactic
from tdl.language.scope import Context, Declaration, SizeEntity, TypeEntity
from tdl.lsp.completion import names
from tdl.lsp.completion.offer import Offer
from tdl.lsp.completion.place import Place


@dataclass(frozen=True)
class Here:
    """`before` is the item as it would be without the line and what follows; `op` is None in a tactic."""

    place: Place
    before: Declaration
    op: Declaration | None
    state: State
    form: LineForm

    @property
    def texts(self) -> tuple[str, ...]:
        return self.place.tokens

    @property
    def verb(self) -> str:
        return self.texts[0]

    @property
    def clause(self) -> str | None:
        """The keyword that the last operands belong to; of `layout W(k, j) [`, the verb itself."""
        keywords = {clause.keyword for clause in self.form.clauses}
        tokens = self.place.cursor.tokens[1:]
        found = [each.text for each in tokens if each.kind != "NAME" and each.text in (*keywords, "->")]
        if not found and self.verb == "layout" and "[" in self.texts:
            return "layout"
        return found[-1] if found else None

    @property
    def named(self) -> set[str]:
        """What the line names already."""
        return {part.strip() for part in "".join(self.texts[1:]).split(",")}


def here_at(place: Place) -> Here | None:
    """The line at a place of a schedule or tactic whose head makes sense; None before its first word."""
    form = LINES.get(place.tokens[0]) if place.tokens else None
    before = None if form is None else place.before_statement()
    if form is None or before is None:
        return None
    match before.item:
        case syntax.Schedule() as item:
            op = before.environment.find("callable", item.op.text)
            if op is not None and isinstance(op.item, syntax.Op):
                return Here(place, before, op, state_after(before, op), form)
        case syntax.Tactic() as item:
            state = state_of_tactic(before, Context(Report(), before.text))
            read_lines(item.body, state)
            return Here(place, before, None, state, form)
    return None


def dotted(here: Here, name: str, detail: str, kind: Kind = Kind.Field) -> Iterator[Offer]:
    """A name, or what is left of it behind the dot."""
    prefix = f"{here.place.head}." if here.place.head else ""
    if name.startswith(prefix) and name != prefix:
        yield Offer(name[len(prefix) :], kind, detail, rank=1)


def values(here: Here) -> Iterator[Offer]:
    """Sizes, parameters, knobs and constants."""
    if here.place.head or not here.place.takes_value:
        return
    for name, entity in here.state.scope.names.items():
        if not isinstance(entity, TypeEntity) or here.verb == "require":
            what = f"value {entity.form}" if isinstance(entity, SizeEntity) else "value"
            yield Offer(name, Kind.Constant, what if what != f"value {name}" else "size or parameter", rank=2)
    yield from names.module_names(here.place, names.CONSTANTS)
