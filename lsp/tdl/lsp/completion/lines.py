"""What can be typed in a line of a schedule or tactic.

split ‸                 the loops that are there
compute rows at ‸       the loops at which it may be computed
split C.i by ‸          factors that divide, knobs
split C.i by 8 -> ‸     names for the loops
"""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol.types import CompletionItemKind as Kind
from tdl.language.hardware import MEMORIES
from tdl.language.schedules.lines import THREADS, ClauseKind
from tdl.lsp.completion import names
from tdl.lsp.completion.arguments import arguments
from tdl.lsp.completion.factors import POWERS, factors
from tdl.lsp.completion.here import Here, here_at, values
from tdl.lsp.completion.offer import Offer
from tdl.lsp.completion.operands import loops, only_legal, operands
from tdl.lsp.completion.place import Place, up_to


def in_line(place: Place) -> Iterator[Offer]:
    """What a line can go on with."""
    here = here_at(place)
    if here is None:
        return
    clause = None if here.clause is None else here.form.clause(here.clause)
    if here.clause == "->":
        yield from _results(here)
    elif not place.takes_value:
        yield from arguments(place)  # behind one by name, only more of these
    elif here.verb == "knob":
        yield from (Offer(str(number), Kind.Value, rank=1) for number in POWERS)
        yield from names.module_names(place, names.CONSTANTS)
    elif here.form.operands == "value":
        yield from values(here)
    elif clause is not None:
        yield from _of_clause(clause.kind, here)
    else:
        yield from operands(here)


# ---- clauses


def _of_clause(kind: ClauseKind, here: Here) -> Iterator[Offer]:
    match kind:
        case "factors" | "count":
            yield from factors(here.before, here.texts, here.place.snapshot.analysis)
            yield from values(here)
        case "loop":
            yield from only_legal(here, loops(here))
        case "place":
            root = [Offer("root", Kind.Keyword, "outside all loops", rank=2, about=("word", "root"))]
            yield from only_legal(here, (*loops(here), *(root if here.verb == "compute" else ())))
        case "memory":
            yield from names.known(MEMORIES, Kind.Struct)
            yield from names.declared(here.place, "memory")
        case "name":
            yield Offer(f"{here.texts[1]}p", Kind.Variable, "a name for the copy", rank=1)
        case "order" if here.verb == "layout":
            axes = up_to(here.texts[here.texts.index("(") + 1 :], ")").split(",") if "(" in here.texts else []
            yield from (Offer(axis, Kind.Variable, "index", rank=0) for axis in axes if axis.isidentifier())
        case "order":
            yield from (each for each in loops(here) if "." not in each.label)
        case "value":
            yield Offer("0", Kind.Value, rank=1)
        case "intrinsic":
            yield from names.declared(here.place, "intrinsic")
        case "thread":
            yield from (_thread(name, here) for name in THREADS if name.startswith(here.place.head))


def _thread(name: str, here: Here) -> Offer:
    prefix = f"{here.place.head}." if here.place.head else ""
    return Offer(name.removeprefix(prefix), Kind.EnumMember, "threads", rank=1, about=("word", name))


# ---- names that a line makes


def _results(here: Here) -> Iterator[Offer]:
    """Names after what is split: `io, ii`."""
    if here.texts[-1] != "->" or here.place.head:
        return
    axes = [part.rpartition(".")[2] for part in up_to(here.texts[1:], "by", "into", "->").split(",")]
    count = _factor_count(here)
    match here.verb:
        case "split":
            made = [f"{axes[0]}{level}" for level in ("oi" if count < 2 else "pri" if count == 2 else "prsi")]
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
