"""An op as the Schedule Studio shows it: its nest after so many lines, what each loop touches, and what bounds it.

Everything is plain data; spans are relative to the op, or to the schedule's item. With `assembly` the machine code is
made too, and what its hot loop is made of counts among the limits.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tdl.compiler.assembly import hot_loop
from tdl.compiler.backends.llvm.target import host
from tdl.compiler.limits import Facts, limits
from tdl.compiler.machine import cache_sizes, cores, measured, vector_bits
from tdl.compiler.runtime.threads import num_threads
from tdl.compiler.schedule.footprints import Footprint, extent, first_ranges, footprints
from tdl.compiler.schedule.initial import with_initialisations
from tdl.compiler.schedule.printer import Line, nest_lines
from tdl.compiler.schedule.tree import Buffer, Loop, Nest
from tdl.compiler.schedule.walk import path_to
from tdl.compiler.work import Work, work_of
from tdl.language import syntax
from tdl.language.binding import BindError
from tdl.language.cases import check_case
from tdl.language.dtypes import DType
from tdl.language.forms import Symbol
from tdl.lsp.worker.plan import Plan, plan_of
from tdl.lsp.worker.preview import hot_loop_of, lines_at
from tdl.lsp.worker.texts import Failed

Touched = dict[Symbol | None, tuple[Footprint, ...]]


def studio(payload: dict[str, Any], progress: object) -> dict[str, Any]:
    """What `docs/lsp.md` says of `tdl/studio`, with spans where that has places."""
    plan, step = plan_of(payload), payload.get("step")
    try:
        steps = plan.steps()
        nest = with_initialisations(steps.nest(step))
        assembly = _assembly(plan, step) if payload.get("assembly") else None
    except (BindError, ValueError) as error:
        raise Failed(str(error)) from None
    touched = footprints(nest)
    work = _work(plan)
    return {
        "words": plan.settings.words,
        "case": None if plan.case is None else plan.case.name,
        "cases": _cases(plan),
        "op": {"path": plan.op.path, "offset": plan.op.offset},
        "schedule": plan.schedule(),
        "texts": _texts(steps.schedule),
        "unchanged": [number - 1 for number, each in enumerate(steps.steps) if number and _is_same(steps, number)],
        "refused": [
            {"line": number - 1, "message": each.refusal.message}
            for number, each in enumerate(steps.steps)
            if each.refusal is not None
        ],
        "lines": [_line(nest, each, touched) for each in nest_lines(nest)],
        "total": _footprint(touched.get(None)),
        "work": None if work is None else {"flops": work.operations, "bytes": work.bytes},
        "machine": _machine(plan),
        "limits": [asdict(each) for each in limits(_facts(plan, nest, touched, work, assembly))],
        "hotLoop": None if assembly is None else hot_loop_of(assembly),
    }


def _assembly(plan: Plan, step: int | None) -> list[str]:
    return [line.text for line in lines_at(plan.op, plan.schedules, plan.settings, "asm", step)]


def _is_same(steps: Any, number: int) -> bool:
    return steps.steps[number].nest is steps.steps[number - 1].nest


def _texts(schedule: Any) -> list[str]:
    if schedule is None:
        return []
    assert isinstance(schedule.item, syntax.Schedule)
    return [schedule.text[line.span.start : line.span.end] for line in schedule.item.body]


def _cases(plan: Plan) -> list[dict[str, str]]:
    """The tests and benches of the op in the file, by which sizes can be chosen."""
    found = []
    for entry in plan.analysis.module.entries:
        item = entry.placed.item
        if isinstance(item, syntax.Test | syntax.Bench):
            case = check_case(entry.declaration).case
            if case is not None and case.op == plan.op:
                found.append({"name": case.name, "kind": "bench" if isinstance(item, syntax.Bench) else "test"})
    return found


def _work(plan: Plan) -> Work | None:
    try:
        return work_of(plan.steps().program, {})
    except KeyError:
        return None  # sizes are open


# ---- lines


def _line(nest: Nest, line: Line, touched: Touched) -> dict[str, Any]:
    text = line.text.lstrip()
    found: dict[str, Any] = {
        "depth": (len(line.text) - len(text)) // 4,
        "text": text,
        "kind": "statement",
        "line": line.line if line.line >= 0 else None,
        "span": None if line.span is None or line.definition < 0 else [line.span.start, line.span.end],
    }
    match line.node:
        case Buffer(memory=memory, tensor=tensor):
            return {**found, "kind": "buffer", "memory": memory, "tensor": tensor}
        case Loop() as loop:
            return {**found, **_loop(nest, loop, line, touched)}
    return found


def _loop(nest: Nest, loop: Loop, line: Line, touched: Touched) -> dict[str, Any]:
    around = first_ranges(path_to(nest.body, loop.symbol)[:-1])
    return {
        "kind": "loop" if loop.intrinsic is None else "call",
        "name": line.loop,
        "runs": loop.kind,
        "extent": None if around is None else extent(loop, around),
        "touches": _footprint(touched.get(loop.symbol)),
    }


def _footprint(found: tuple[Footprint, ...] | None) -> dict[str, Any] | None:
    if found is None:
        return None
    parts = [{"tensor": each.tensor, "bytes": each.bytes, "written": each.is_written} for each in found]
    return {"bytes": sum(each.bytes for each in found), "tensors": parts}


# ---- the machine


def _dtype(plan: Plan) -> str:
    program = plan.steps().program
    dtype = program.tensors[program.outputs[0]].dtype
    return str(dtype) if isinstance(dtype, DType) else "f32"


def _machine(plan: Plan) -> dict[str, Any]:
    known, target, threads = measured(), host(), num_threads()
    return {
        "cpu": target.cpu,
        "cores": cores(),
        "threads": threads,
        "vectorBits": vector_bits(target),
        "caches": list(cache_sizes()),
        "peak": None if known is None else known.peak(_dtype(plan), threads),
        "bandwidth": None if known is None else known.bandwidth,
    }


def _facts(plan: Plan, nest: Nest, touched: Touched, work: Work | None, assembly: list[str] | None) -> Facts:
    known = measured()
    return Facts(
        nest,
        touched,
        work,
        vector_bits(host()),
        num_threads(),
        cache_sizes(),
        None if known is None else known.peak(_dtype(plan)),
        None if known is None else known.bandwidth,
        None if assembly is None else hot_loop("\n".join(assembly)),
        assembly is not None,
    )
