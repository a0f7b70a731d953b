"""What can be typed in a line of a schedule or tactic: the loops, stages and values that there are at that line.

split ‸                 the loops that are there
compute rows at ‸       the loops at which it may be computed
split C.i by ‸          factors that divide, knobs
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from lsprotocol.types import CompletionItemKind as Kind
from tdl.language import syntax
from tdl.language.hardware import MEMORIES
from tdl.language.mentions.heads import names_of
from tdl.language.report import Report
from tdl.language.schedules.check import state_after
from tdl.language.schedules.lines import LINES, THREADS, ClauseKind, LineForm
from tdl.language.schedules.loops import Loop
from tdl.language.schedules.operands import State
from tdl.language.schedules.reading import read_lines
from tdl.language.schedules.tactics import state_of_tactic
from tdl.language.scope import Context, Declaration, SizeEntity, TypeEntity
from tdl.lsp.completion import names
from tdl.lsp.completion.factors import factors
from tdl.lsp.completion.legal import legal
from tdl.lsp.completion.offer import Offer
from tdl.lsp.completion.place import Place, up_to

TRIED = frozenset({"compute", "store", "cache", "prefetch", "parallel", "vectorize", "unroll", "peel", "inline"})
"""The verbs of which only what is legal is offered."""


@dataclass(frozen=True)
class Here:
    """A line that is being typed, with what may be named in it. `op` is None in a tactic."""

    place: Place
    before: Declaration
    op: Declaration | None
    state: State
    form: LineForm | None

    @property
    def texts(self) -> tuple[str, ...]:
        return self.place.tokens

    @property
    def clause(self) -> str | None:
        """The keyword that the last operands belong to."""
        if self.form is None:
            return None
        keywords = {clause.keyword for clause in self.form.clauses}
        tokens = self.place.cursor.tokens[1:]
        found = [each.text for each in tokens if each.kind != "NAME" and each.text in (*keywords, "->")]
        return found[-1] if found else None

    @property
    def tensors(self) -> dict[str, str]:
        return {} if self.op is None else dict(names.types_of(self.op))


def here_at(place: Place) -> Here | None:
    """The line at a place of a schedule or tactic whose head makes sense."""
    before = place.before_statement()
    form = LINES.get(place.tokens[0]) if place.tokens else None
    match None if before is None else before.item:
        case syntax.Schedule() as item:
            assert before is not None
            op = before.environment.find("callable", item.op.text)
            if op is not None and isinstance(op.item, syntax.Op):
                return Here(place, before, op, state_after(before, op), form)
        case syntax.Tactic() as item:
            assert before is not None
            state = state_of_tactic(before, Context(Report(), before.text))
            read_lines(item.body, state)
            return Here(place, before, None, state, form)
    return None


def in_line(place: Place) -> Iterator[Offer]:
    """What a line can go on with."""
    here = here_at(place)
    if here is None or here.form is None:
        return
    if here.clause == "->":
        yield from _results(here)
    elif here.form.operands == "value" or here.clause is not None:
        kind = None if here.clause is None else _kind(here)
        yield from _values(here) if kind is None else _of_clause(kind, here)
    elif place.takes_value:
        yield from _operands(here)


def _kind(here: Here) -> ClauseKind | None:
    assert here.form is not None
    row = here.form.clause(here.clause or "")
    return None if row is None else row.kind


# ---- what a line is applied to


def _operands(here: Here) -> Iterator[Offer]:
    assert here.form is not None
    match here.form.operands:
        case "loop":
            yield from _legal(here, _loops(here))
        case "axis":
            yield from _loops(here, is_any=True)
        case "stage":
            yield from _legal(here, _stages(here))
        case "tensor" | "storage":
            yield from _legal(here, _stages(here, has_inputs=True))
        case "tactic" if "(" not in here.texts:
            yield from names.module_names(here.place, (syntax.Tactic,))
        case "tactic":
            yield from _arguments(here)


def _loops(here: Here, *, is_any: bool = False) -> Iterator[Offer]:
    """The loops that are there, or all there ever were; those that the line names already are left out."""
    found = here.state.loops.loops if is_any else here.state.loops.live
    named = _named(here)
    made = {stage.name for stage in here.state.loops.stages if stage.made is not None}
    for loop in found:
        if loop.name not in named and (loop.stage in made or not loop.has_double):
            yield from _dotted(here, loop.name, _about(loop, here))
    if here.op is None:
        yield from names.own_names(here.place, ("parameter", "dtype parameter"))


def _named(here: Here) -> set[str]:
    return {part.strip() for part in "".join(here.texts[1:]).split(",")}


def _about(loop: Loop, here: Here) -> str:
    what = "reduction loop" if loop.is_reduction else "loop"
    return f"{what} of {loop.stage}" if loop.stage else what


def _dotted(here: Here, name: str, detail: str, kind: Kind = Kind.Field) -> Iterator[Offer]:
    """A name, or what is left of it behind the dot."""
    prefix = f"{here.place.head}." if here.place.head else ""
    if name.startswith(prefix) and name != prefix:
        yield Offer(name[len(prefix) :], kind, detail, rank=1)


def _stages(here: Here, *, has_inputs: bool = False) -> Iterator[Offer]:
    types, named = here.tensors, _named(here)
    found = [each.name for each in here.state.loops.stages if each.fate is None]
    for name in dict.fromkeys((*found, *(here.state.loops.inputs if has_inputs else ()))):
        if name not in named:
            yield from _dotted(here, name, f"tensor {types.get(name, '')}".rstrip(), Kind.Variable)
    if here.op is None:
        yield from names.own_names(here.place, ("parameter",))


def _arguments(here: Here) -> Iterator[Offer]:
    """Of a tactic: its parameters by name, and what may be handed to it."""
    if here.texts[-1] in ("(", ","):
        name = up_to(here.texts[1:], "(")
        own = here.before.environment.find("tactic", name)
        tactic = own or here.place.snapshot.analysis.module.find("tactic", name)
        types = {} if tactic is None else names.types_of(tactic)
        given = {text for text, following in pairwise(here.texts) if following == "="}
        for each in () if tactic is None else names_of(tactic):
            if each not in given:
                yield Offer(each, Kind.Field, f"parameter {types.get(each, '')}".rstrip(), f"{each}=$0", 3)
    yield from _stages(here, has_inputs=True)
    axes = dict.fromkeys(loop.axis for loop in here.state.loops.live if loop.axis and not here.place.head)
    yield from (Offer(axis, Kind.Field, "index or loop", rank=1) for axis in axes)
    yield from _values(here)


# ---- clauses


def _of_clause(kind: ClauseKind, here: Here) -> Iterator[Offer]:
    match kind:
        case "factors" | "count":
            yield from factors(here.before, here.texts, here.place.snapshot.analysis, is_count=kind == "count")
            yield from _values(here)
        case "loop":
            yield from _legal(here, _loops(here))
        case "place":
            root = [Offer("root", Kind.Keyword, "outside all loops", rank=2, about=("word", "root"))]
            yield from _legal(here, (*_loops(here), *(root if here.texts[0] == "compute" else ())))
        case "memory":
            yield from names.known(MEMORIES, Kind.Struct)
            yield from names.declared(here.place, "memory")
        case "name":
            yield Offer(f"{here.texts[1]}p", Kind.Variable, "a name for the copy", rank=1)
        case "order":
            yield from (each for each in _loops(here) if "." not in each.label)
            if here.texts[0] == "layout" and "(" in here.texts:
                inside = here.texts[here.texts.index("(") + 1 :]
                yield from (Offer(each, Kind.Variable, "index", rank=0) for each in _until_closed(inside))
        case "value":
            yield Offer("0", Kind.Value, rank=1)
        case "intrinsic":
            yield from names.declared(here.place, "intrinsic")
        case "thread":
            yield from (_thread(name, here) for name in THREADS if name.startswith(here.place.head))


def _until_closed(texts: tuple[str, ...]) -> Iterator[str]:
    for text in texts:
        if text == ")":
            return
        if text.isidentifier():
            yield text


def _thread(name: str, here: Here) -> Offer:
    prefix = f"{here.place.head}." if here.place.head else ""
    return Offer(name.removeprefix(prefix), Kind.EnumMember, "threads", rank=1, about=("word", name))


def _values(here: Here) -> Iterator[Offer]:
    """Sizes, parameters, knobs and constants."""
    if here.place.head or not here.place.takes_value:
        return
    for name, entity in here.state.scope.names.items():
        if not isinstance(entity, TypeEntity) or here.texts[0] == "require":
            what = f"value {entity.form}" if isinstance(entity, SizeEntity) else "value"
            yield Offer(name, Kind.Constant, what if what != f"value {name}" else "size or parameter", rank=2)
    yield from names.module_names(here.place, names.CONSTANTS)


# ---- names that a line makes


def _results(here: Here) -> Iterator[Offer]:
    """Names after what is split: `io, ii`."""
    verb = here.texts[0]
    if here.texts[-1] != "->" or here.place.head:
        return
    loops = up_to(here.texts[1:], "by", "into", "->")
    axes = [part.rpartition(".")[2] for part in loops.split(",")]
    match verb:
        case "split":
            levels = "oi" if _factor_count(here) < 2 else "prsi" if _factor_count(here) > 2 else "pri"
            made = [f"{axes[0]}{level}" for level in levels]
        case "tile":
            made = [f"{axis}{level}" for level in "oi" for axis in axes]
        case "fuse":
            made = ["".join(axes)]
        case _:
            return
    yield Offer(", ".join(made), Kind.Field, "names for the loops that are made", rank=0)


def _factor_count(here: Here) -> int:
    texts = here.texts
    return texts[texts.index("[") : texts.index("]")].count(",") + 1 if "[" in texts and "]" in texts else 1


# ---- legality


def _legal(here: Here, offers: Iterable[Offer]) -> Iterator[Offer]:
    """Of the verbs that are tried, only what is legal; where that cannot be said, everything."""
    found = tuple(offers)
    verb = here.texts[0]
    if verb not in TRIED or here.op is None or (here.form is not None and here.form.clauses and here.clause is None):
        yield from found
        return
    place = here.place
    typed = place.snapshot.source.text[place.begin + place.cursor.start : place.start]
    yield from legal(here.before, place.snapshot.analysis, typed, found)
