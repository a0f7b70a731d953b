"""Which instances of an op a library holds, and what their functions are called.

op conv2d[stride: int = 1, T: float = f32](...)         conv2d
bench half: conv2d(stride=2, N=1, ...)                  conv2d_stride2
test odd: relu(S=[3, 5], T=f64)                         relu_f64_2d         (T has no default)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tdl.compiler.schedule.check import cases_of
from tdl.language import syntax
from tdl.language.analysis import Analysis
from tdl.language.binding import BindError, Bound, instance_of
from tdl.language.cases import check_case
from tdl.language.check import check_op
from tdl.language.scope import Declaration
from tdl.language.signature import Instance

Extra = tuple[Declaration, Instance]
"""An op, and an instance of it that is wanted besides."""


@dataclass
class InstanceOf:
    """`specialised` are the sizes for which kernels of their own are made."""

    name: str
    instance: Instance
    specialised: list[Bound] = field(default_factory=list)


def instances_of(analysis: Analysis, op: Declaration, extra: Sequence[Extra] = ()) -> tuple[list[InstanceOf], str]:
    """The instances, and why there are none."""
    found: dict[tuple[object, ...], InstanceOf] = {}
    try:
        _add(found, op, instance_of(op, {}, {}))
        why = ""
    except BindError as error:
        why = error.message
    for declaration in cases_of(analysis, op):
        case = check_case(declaration).case
        if case is None:
            continue
        program = case.bound.program
        parameters = {name: value for name, value in program.parameters.items() if value is not None}
        entry = _add(found, op, Instance.of(parameters, program.packs))
        if entry is not None and isinstance(declaration.item, syntax.Bench):
            entry.specialised.append(case.bound)
    for other, instance in extra:
        if other == op and _add(found, op, instance) is None:
            why = "the parameters and ranks that it is given do not make it whole"
            return [], why
    if found:
        return list(found.values()), ""
    return [], why or "its parameters or ranks have no values; a `test` line gives some"


def _add(found: dict[tuple[object, ...], InstanceOf], op: Declaration, instance: Instance) -> InstanceOf | None:
    """The entry of an instance, new or not; None for one that is not whole."""
    instance = replace(instance, sizes=())
    checked = check_op(op, instance)
    program = checked.program
    ranks = dict(instance.ranks)
    if not checked.is_sound or any(value is None for value in program.parameters.values()):
        return None
    if any(pack not in ranks for pack in program.packs):
        return None
    key = (
        tuple(sorted((name, repr(value)) for name, value in program.parameters.items())),
        tuple(sorted(ranks.items())),
    )
    if key not in found:
        found[key] = InstanceOf("_".join((op.name, *_suffixes(op, program.parameters, ranks))), instance)
    return found[key]


def _suffixes(op: Declaration, parameters: Mapping[str, object], ranks: Mapping[str, int]) -> Iterator[str]:
    """What tells an instance from the plain one: values that are no defaults, and ranks."""
    item = op.item
    assert isinstance(item, syntax.Op)
    plain = check_op(op).program.parameters
    for parameter in item.params:
        name, value = parameter.name.text, parameters[parameter.name.text]
        if parameter.default is not None and repr(plain.get(name)) == repr(value):
            continue
        yield _named(name, value)
    yield from (f"{rank}d" for rank in ranks.values())


def _named(name: str, value: object) -> str:
    if isinstance(value, bool):
        return name if value else f"not_{name}"
    text = re.sub(r"\W", "_", str(value).replace("-", "m").replace("+", ""))
    return f"{name}{text}" if isinstance(value, int | float) else text
