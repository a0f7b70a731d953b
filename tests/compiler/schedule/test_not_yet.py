"""Lines that this compiler does not apply: silence in schedules for other targets, a refusal in its own."""

from __future__ import annotations

import numpy as np
from tdl.compiler import load
from tdl.compiler.schedule.check import diagnose
from tdl.language.analysis import analyse
from tdl.language.source import Source

OP = "op twice(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] * 2 }\n"


def test_a_gpu_schedule_is_not_judged_by_a_cpu() -> None:
    text = OP + "schedule twice for gpu { split Y.i by 64 -> b, t\n bind b to block.x\n bind t to thread.x }\n"
    source = Source("g.tdl", text)
    assert diagnose(analyse(source)) == ()
    assert load(source).twice(np.ones(3, np.float32)).tolist() == [2, 2, 2]


def test_a_cpu_schedule_says_what_bind_is_for() -> None:
    (found,) = diagnose(analyse(Source("c.tdl", OP + "schedule twice for cpu { bind Y.i to block.x }\n")))
    assert "`gpu`" in found.message
