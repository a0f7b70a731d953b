"""A tensorized loop becomes a call whose operands are runs of elements in buffers.

    C[i, 16*jo..16*jo + 16] = vpdpbusd(A[i, 4*ko..4*ko + 4], Wp[4*ko..4*ko + 4, 16*jo..16*jo + 16], C[...])

    C[N*i + 16*jo..] = vpdpbusd(A[K*i + 4*ko..], Wp[64*ko + ...], C[...])        64 bytes of Wp side by side: one run

Each element has an offset of its own, whatever the layout is; elements that follow each other in even steps are a run,
which a back-end reads at once where the step is 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tdl.compiler.kernel.tree import Invoke, Operand, Origin, Run
from tdl.compiler.lower.known import Known
from tdl.compiler.lower.storage import Storage
from tdl.compiler.schedule import operands
from tdl.compiler.schedule.calls import Invocation
from tdl.language.forms import Form


def invoke(call: Invocation, storages: Mapping[str, Storage], known: Known, origin: Origin) -> Invoke:
    """The call on buffers."""
    inputs = tuple(_operand(each, storages, known) for each in call.inputs)
    return Invoke(call.intrinsic, inputs, _operand(call.output, storages, known), origin)


def _operand(operand: operands.Operand, storages: Mapping[str, Storage], known: Known) -> Operand:
    storage = storages[operand.tensor]
    offsets = {step: storage.offset(element, known) for step, element in zip(operand.steps, operand.elements())}
    return Operand(storage.buffer.name, tuple(_runs([offsets[step] for step in operand.steps])))


def _runs(offsets: Sequence[Form]) -> list[Run]:
    """The offsets in order, as few runs of them as follow from the first on."""
    found: list[Run] = []
    for offset in offsets:
        last = found[-1] if found else None
        step = None if last is None else _step(last, offset)
        if last is None or step is None:
            found.append(Run(offset, 1))
        else:
            found[-1] = Run(last.offset, last.count + 1, step)
    return found


def _step(run: Run, offset: Form) -> int | None:
    """The step with which a run goes on to an offset; a run of one element goes on with any."""
    ahead = offset - run.offset
    if not ahead.is_constant:
        return None
    if run.count == 1:
        return ahead.constant
    return run.step if ahead.constant == run.count * run.step else None
