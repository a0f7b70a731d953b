"""What a line of a schedule can be applied to: loops, stages and tensors that there are, the arguments of tactics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lsprotocol.types import CompletionItemKind as Kind
from tdl.language import syntax
from tdl.language.schedules.loops import Loop
from tdl.lsp.completion import names
from tdl.lsp.completion.arguments import arguments
from tdl.lsp.completion.here import Here, dotted, values
from tdl.lsp.completion.legal import legal, range_of
from tdl.lsp.completion.offer import Offer
from tdl.lsp.completion.unimported import unimported

TRIED = frozenset({"compute", "store", "cache", "prefetch", "parallel", "vectorize", "unroll", "peel", "inline"})
"""The verbs of which only what is legal is offered."""


def operands(here: Here) -> Iterator[Offer]:
    """What may stand behind the verb."""
    match here.form.operands:
        case "loop":
            found = loops(here, is_reduction=here.verb == "rfactor")
            yield from only_legal(here, found)
        case "axis":
            yield from loops(here, is_any=True)
        case "stage":
            yield from only_legal(here, _stages(here))
        case "tensor" | "storage":
            yield from only_legal(here, _stages(here, has_inputs=True))
        case "tactic" if "(" not in here.texts:
            yield from names.module_names(here.place, (syntax.Tactic,))
            yield from unimported(here.place, (syntax.Tactic,))
        case "tactic":
            yield from _arguments(here)


def loops(here: Here, *, is_any: bool = False, is_reduction: bool = False) -> Iterator[Offer]:
    """The loops that are there, or all there ever were; those that the line names already are left out."""
    found = here.state.loops.loops if is_any else here.state.loops.live
    made = {stage.name for stage in here.state.loops.stages if stage.made is not None}
    named = here.named
    for loop in found:
        is_wanted = loop.is_reduction or not is_reduction or here.op is None
        if is_wanted and loop.name not in named and (loop.stage in made or not loop.has_double):
            yield from dotted(here, loop.name, _about(loop, here))
    if here.op is None:
        yield from names.own_names(here.place, ("parameter", "dtype parameter"))


def _about(loop: Loop, here: Here) -> str:
    """`reduction loop of C, 0..K`."""
    what = "reduction loop" if loop.is_reduction else "loop"
    extent = None if here.op is None else range_of(here.before, loop.name)
    return f"{what}{f' of {loop.stage}' if loop.stage else ''}{f', {extent}' if extent else ''}"


def _stages(here: Here, *, has_inputs: bool = False) -> Iterator[Offer]:
    types = {} if here.op is None else names.types_of(here.op)
    found = [each.name for each in here.state.loops.stages if each.fate is None]
    named = here.named
    for name in dict.fromkeys((*found, *(here.state.loops.inputs if has_inputs else ()))):
        if name not in named:
            yield from dotted(here, name, f"tensor {types.get(name, '')}".rstrip(), Kind.Variable)
    if here.op is None:
        yield from names.own_names(here.place, ("parameter",))


def _arguments(here: Here) -> Iterator[Offer]:
    """Of a tactic: its parameters by name, and what may be handed to it."""
    yield from arguments(here.place)
    yield from _stages(here, has_inputs=True)
    axes = dict.fromkeys(loop.axis for loop in here.state.loops.live if loop.axis and not here.place.head)
    yield from (Offer(axis, Kind.Field, "index or loop", rank=1) for axis in axes)
    yield from values(here)


def only_legal(here: Here, offers: Iterable[Offer]) -> Iterator[Offer]:
    """Of the verbs that are tried, only what is legal; where that cannot be said, everything.

    A line that must go on behind its operand, as `cache` does, is tried when it has a place.
    """
    needs_place = here.form.clause("at") is not None and here.clause is None
    if here.verb not in TRIED or here.op is None or needs_place:
        yield from offers
        return
    place = here.place
    typed = place.snapshot.source.text[place.begin + place.cursor.start : place.start]
    endings = ("", " by 16") if here.verb == "vectorize" else ("",)  # with lanes where the loop is of any length
    yield from legal(here.before, place.snapshot.analysis, typed, offers, endings)
