"""Lines that were applied are not applied again after an edit below them; what is said of them follows the text."""

from __future__ import annotations

from tdl.compiler.schedule.apply import Step, apply_schedule
from tdl.language import syntax
from tdl.language.analysis import analyse
from tdl.language.check import check_op
from tdl.language.source import Source

OP = "op mm(A: f32[M, K], B: f32[K, N]) -> C: f32[M, N] { C[i, j] = sum(A[i, k] * B[k, j] for k) }\n"


def steps(lines: str, before: str = "") -> tuple[Step, ...]:
    analysis = analyse(Source("f.tdl", f"{before}{OP}schedule mm {{\n{lines}\n}}\n"), read={}.get)
    (schedule,) = (
        each.declaration for each in analysis.module.entries if isinstance(each.placed.item, syntax.Schedule)
    )
    return apply_schedule(check_op(analysis.module.ops["mm"]).program, schedule).steps


def test_lines_above_an_edit_keep_their_nests() -> None:
    old = steps("split C.i by 8 -> io, ii\nunroll ii\nparallel io")
    new = steps("split C.i by 8 -> io, ii  # rows\n\nunroll ii\nparallel C.j")
    assert all(a.nest is b.nest for a, b in zip(old[:3], new[:3]))
    assert old[3].nest is not new[3].nest


def test_a_refusal_stands_where_its_line_is_now() -> None:
    (_, old, _), (_, new, _) = steps("parallel C.k\nunroll C.j"), steps("  # sums\n parallel C.k\nunroll C.i")
    assert old.refusal is not None
    assert new.refusal is not None
    assert old.refusal.message == new.refusal.message
    assert (new.refusal.primary, new.span) == (new.span, new.refusal.primary)
    assert new.refusal.primary != old.refusal.primary


def test_values_are_those_of_the_lines_above() -> None:
    old = steps("let n = 4\nsplit C.i by n -> io, ii")
    new = steps("let n = 8\nsplit C.i by n -> io, ii")
    assert old[2].nest.body != new[2].nest.body


def test_what_names_mean_outside_counts() -> None:
    line = "split C.i by W -> io, ii"
    assert steps(line, "const W = 4\n")[1].nest.body != steps(line, "const W = 8\n")[1].nest.body
