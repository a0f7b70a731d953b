"""The loops, stages and tensors that a line names, found or refused with what there is.

unroll iii        there is no loop `iii` here: did you mean `ii`? the loops are `io`, `ii`, `C.j`, `C.k`
unroll C.i        `C.i` was split into `io`, `ii`
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from tdl.language import syntax
from tdl.language.diagnostic import Fix
from tdl.language.schedules.loops import Loop, Loops, Several, Stage
from tdl.language.scope import Scope, closest

_SHOWN = 16


@dataclass
class State:
    """What the lines read so far have made: names of values in `scope`, loops and stages in `loops`.

    `ranks` holds the op's tensors; None where it depends on a pack. `is_form` is set in a tactic by itself, where it is
    not known what its parameters stand for; `is_applied` in one that is applied, whose names hide earlier ones.
    `within` names the tactics that are being applied, outermost first. `watch` is told of every line before it is read.
    """

    scope: Scope
    loops: Loops
    ranks: Mapping[str, int | None]
    is_form: bool = False
    is_applied: bool = False
    within: tuple[str, ...] = ()
    watch: Watch | None = None


Watch = Callable[[syntax.ScheduleLine, State], None]


def find_loop(ref: syntax.Expr, state: State) -> Loop | None:
    """The loop of a name, or None after an error."""
    if not isinstance(ref, syntax.Ref):
        state.scope.error("schedule", "a loop is expected here", ref.span)
        return None
    found = state.loops.find(ref.text)
    if isinstance(found, Several):
        names = listed(loop.name for loop in found.loops)
        state.scope.error(
            "unknown-loop", f"`{ref.text}` may be any of {names}", ref.span, "write the one that is meant"
        )
        return None
    if found is not None and found.fate is not None:
        children = listed(found.fate.children)
        message = f"`{ref.text}` was {' '.join(filter(None, (found.fate.past, children)))}"
        count = len(found.fate.children)
        note = "use one of those" if count > 1 else "use that" if count else "it has no loops of its own any more"
        state.scope.error("unknown-loop", message, ref.span, note)
        return None
    if found is None:
        _unknown_loop(ref, state)
    return found


def _unknown_loop(ref: syntax.Ref, state: State) -> None:
    stage = state.loops.stage(ref.text)
    if stage is not None or ref.text in state.ranks:
        own = [loop.name for loop in state.loops.live if loop.name.startswith(f"{ref.text}.")]
        notes = (f"its loops are {listed(own)}",) if own else ()
        state.scope.error("unknown-loop", f"`{ref.text}` is a tensor, not a loop", ref.span, *notes)
        return
    if ref.text in state.scope.names:
        state.scope.error("unknown-loop", f"`{ref.text}` is a value, not a loop", ref.span)
        return
    names = [loop.name for loop in state.loops.live]
    _unknown(ref, "loop", names, state)


def find_stage(ref: syntax.Expr, state: State) -> Stage | None:
    """The stage of a name: something that is computed or copied. None after an error."""
    if not isinstance(ref, syntax.Ref):
        state.scope.error("schedule", "a stage is expected here", ref.span)
        return None
    if ref.text in state.loops.inputs:
        message = f"`{ref.text}` is an input: it is given, not computed"
        state.scope.error("unknown-loop", message, ref.span, f"the stages are {listed(_stages(state))}")
        return None
    stage = state.loops.stage(ref.text)
    if stage is None:
        _unknown(ref, "stage", _stages(state), state)
    elif stage.fate is not None:
        state.scope.error("unknown-loop", f"`{ref.text}` was {stage.fate.past} by a line above", ref.span)
        return None
    return stage


def find_tensor(ref: syntax.Expr, state: State) -> str | None:
    """The name of an input or a stage, or None after an error."""
    if isinstance(ref, syntax.Ref):
        if ref.text in state.loops.inputs:
            return ref.text
        if state.loops.stage(ref.text) is None:
            _unknown(ref, "tensor", [*state.loops.inputs, *_stages(state)], state)
            return None
    stage = find_stage(ref, state)
    return None if stage is None else stage.name


def find_axis(ref: syntax.Expr, state: State) -> None:
    """Check a dimension such as `rows.i`; a loop over it need not be there any more."""
    found = state.loops.find(ref.text) if isinstance(ref, syntax.Ref) else None
    if not isinstance(found, Loop) or found.fate is None:
        find_loop(ref, state)


def _stages(state: State) -> list[str]:
    return [stage.name for stage in state.loops.stages if stage.fate is None]


def _unknown(ref: syntax.Ref, what: str, names: list[str], state: State) -> None:
    by_axis = [name for name in names if name.rpartition(".")[2] == ref.parts[-1].text]
    suggestion = by_axis[0] if len(by_axis) == 1 else closest(ref.text, names)
    notes = [f"did you mean `{suggestion}`?"] if suggestion else []
    notes.append(f"the {what}s here are {listed(names)}" if names else f"there are no {what}s here")
    fixes = (Fix(f"change to `{suggestion}`", ref.span, suggestion),) if suggestion else ()
    state.scope.error("unknown-loop", f"there is no {what} `{ref.text}` here", ref.span, *notes, fixes=fixes)


def listed(names: Iterable[str]) -> str:
    """Names for a sentence, not too many."""
    unique = list(dict.fromkeys(names))
    shown = ", ".join(f"`{name}`" for name in unique[:_SHOWN])
    return f"{shown} and {len(unique) - _SHOWN} more" if len(unique) > _SHOWN else shown
