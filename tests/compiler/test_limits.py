"""What is said to bound a nest, and which line is blamed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tdl.compiler.assembly import hot_loop
from tdl.compiler.limits import Facts, limits, size, traffic
from tdl.compiler.schedule.footprints import footprints
from tdl.compiler.schedule.initial import with_initialisations
from tdl.compiler.steps import steps_of
from tdl.compiler.work import Work
from tdl.language.analysis import analyse
from tdl.language.source import Source

PRODUCT = "op f(A: f32[M, K], B: f32[K, N]) -> C: f32[M, N] { C[i, j] = sum(A[i, k] * B[k, j] for k) }\n"
SIZES = {"M": 64, "K": 64, "N": 64}
SPILLING = """\
.LBB0_1:
\tvmovups\t(%rsp), %ymm3
\tvfmadd231ps\t%ymm1, %ymm2, %ymm3
\tjne\t.LBB0_1
"""


def facts(lines: str, sizes: dict[str, int] = SIZES, **more: object) -> Facts:
    text = PRODUCT + (f"schedule f for cpu {{\n{lines}\n}}\n" if lines else "")
    analysis = analyse(Source("f.tdl", text))
    steps = steps_of(analysis.module.ops["f"], analysis.module.schedules, sizes=sizes)
    assert not steps.refused
    nest = with_initialisations(steps.nest())
    given = {"work": None, "vector_bits": 512, "threads": 1, "caches": (1 << 15, 1 << 20)}
    return Facts(nest, footprints(nest), **{**given, **more})  # type: ignore[arg-type]


def kinds(of: Facts) -> list[tuple[str, int | None]]:
    return [(each.kind, each.line) for each in limits(of)]


def test_vectors_that_are_not_there_are_missed_until_a_line_makes_them() -> None:
    assert kinds(facts("reorder C.k, C.i, C.j")) == [("vectors", None)]
    assert kinds(facts("reorder C.k, C.i, C.j\nvectorize C.j by 16")) == []


def test_lanes_without_an_element_are_blamed_on_the_line_that_makes_vectors() -> None:
    sizes = {**SIZES, "N": 70}
    found = limits(facts("reorder C.k, C.i, C.j\nvectorize C.j by 16", sizes))
    assert [(each.kind, each.line) for each in found] == [("tail", 1)]
    assert found[0].words.startswith("88% of the lanes")  # 70 of 80


@pytest.mark.parametrize(("threads", "wanted"), [(1, []), (4, []), (5, [("cores", 2)]), (48, [("cores", 2)])])
def test_cores_without_an_iteration(threads: int, wanted: list[tuple[str, int]]) -> None:
    lines = "split C.i by 16 -> io, ii\nreorder io, C.k, ii, C.j\nparallel io\nvectorize C.j by 16"
    assert kinds(facts(lines, threads=threads)) == wanted


def test_no_parallel_loop_leaves_cores_idle() -> None:
    assert ("cores", None) in kinds(facts("vectorize C.j by 16", threads=2))


def test_spills_and_narrow_vectors_come_first_and_blame_the_lines_that_make_the_tile() -> None:
    lines = "split C.i by 8 -> io, ii\nreorder io, C.k, ii, C.j\nvectorize C.j by 8\nunroll ii"
    found = facts(lines, hot=hot_loop(SPILLING), has_assembly=True)
    assert kinds(found) == [("spills", 3), ("vectors", 2)]
    assert "256 bits" in limits(found)[1].words


def test_code_without_vectors() -> None:
    assert kinds(facts("vectorize C.j by 16", has_assembly=True)) == [("vectors", None)]


def test_what_does_not_fit_comes_in_again() -> None:
    of = facts("reorder C.i, C.k, C.j")
    all_of_it = 3 * 64 * 64 * 4
    assert traffic(of, 1 << 20) == (all_of_it, None)
    moved = traffic(of, 4096)  # B, of 16 KB, is read in each of 64 rounds
    assert moved is not None
    assert moved[0] >= 64 * 64 * 64 * 4
    assert moved[1] is not None
    assert moved[1].name == "i"
    assert traffic(facts("", {}), 4096) is None


def test_the_roof_that_is_lower() -> None:
    of = facts(
        "reorder C.k, C.i, C.j\nvectorize C.j by 16", work=Work(2 * 64**3, 3 * 64 * 64 * 4), peak=1e11, bandwidth=1e10
    )
    assert [each.kind for each in limits(of)] == ["compute"]
    slow = replace(of, bandwidth=1e9)
    assert [each.kind for each in limits(slow)] == ["memory"]
    assert "48 KB" in limits(slow)[0].words


def test_sizes_in_words() -> None:
    assert [size(each) for each in (12, 2048, 12.6 * 2**20, 3 * 2**30)] == ["12 B", "2 KB", "12.6 MB", "3 GB"]
