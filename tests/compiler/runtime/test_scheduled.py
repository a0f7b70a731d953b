"""Calls under schedules: which schedule holds, what is refused and how that is said, how many kernels are kept."""

from __future__ import annotations

import numpy as np
import pytest
from tdl.compiler import ProgramError, ScheduleError, load
from tdl.compiler.runtime import compile, kernels
from tdl.language.source import Source

OP = """op f(A: f32[M, N]) -> B: f32[M, N] {
    B[i, j] = 2 * A[i, j]
}
"""
RACE = """op total(A: f32[N]) -> s: f32 { s = sum(A[k] for k) }
schedule total for cpu {
    parallel s.k
}
"""


def module(text: str, **options: bool):
    return load(Source("f.tdl", text), **options)


def ones(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


@pytest.fixture
def made(monkeypatch):
    """The sizes of the kernels that were made, `None` where they were left open."""
    sizes: list[tuple[int, ...] | None] = []
    real = kernels.compile_nest

    def record(nest):
        shape = nest.tensors["B"].shape
        sizes.append(tuple(each.constant for each in shape) if all(each.is_constant for each in shape) else None)
        return real(nest)

    monkeypatch.setattr(kernels, "compile_nest", record)
    return sizes


# ---- refusals


def test_a_file_with_a_refused_line_is_not_loaded():
    with pytest.raises(ProgramError) as raised:
        module(RACE)
    assert "f.tdl:3:5" in str(raised.value)
    assert "parallel s.k" in str(raised.value)


def test_without_schedules_it_is():
    assert module(RACE, schedules=False).total(ones(5)) == 5


def test_a_line_refused_at_the_sizes_of_a_call():
    f = module(OP + "schedule f for cpu {\n    require N % 8 == 0\n    vectorize B.j by 8\n}\n").f
    np.testing.assert_array_equal(f(ones(3, 16)), 2 * ones(3, 16))
    with pytest.raises(ScheduleError) as raised:
        f(ones(3, 7))
    said = str(raised.value)
    assert "f.tdl:5:5" in said
    assert "`f` is called with M = 3, N = 7" in said
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.code == "fact"
    np.testing.assert_array_equal(f(ones(2, 8)), 2 * ones(2, 8))


def test_a_refusal_is_of_the_file_that_has_the_schedule(tmp_path):
    (tmp_path / "lib.tdl").write_text(OP + "schedule f { require M == 1 }\n")
    (tmp_path / "main.tdl").write_text("from lib import f\n")
    with pytest.raises(ScheduleError, match=r"lib\.tdl:4:14"):
        load(tmp_path / "main.tdl").f(ones(2, 2))
    (tmp_path / "lib.tdl").write_text("# another text\n")
    changed = load(Source(str(tmp_path / "main.tdl"), OP + "schedule f { require M == 1 }\n"))
    with pytest.raises(ScheduleError, match=r"main\.tdl:4:14"):
        changed.f(ones(2, 2))


# ---- which schedule


@pytest.mark.parametrize(
    ("schedules", "holds"),
    [
        ("schedule f for gpu { require M == 0 }", True),
        ("schedule f { require M == 0 }", False),
        ("schedule f for cpu { require M == 0 }", False),
        ("schedule f when M > 9 { require M == 0 }", True),
        ("schedule f when M > 9 { require M == 0 }\nschedule f when M > 1 { require M == 0 }", False),
        ("schedule f when M > 1 { parallel B.i }\nschedule f { require M == 0 }", True),
    ],
)
def test_the_first_that_holds(schedules, holds):
    f = module(OP + schedules + "\n").f
    if holds:
        np.testing.assert_array_equal(f(ones(2, 3)), 2 * ones(2, 3))
    else:
        with pytest.raises(ScheduleError):
            f(ones(2, 3))


# ---- kernels for exact sizes


def test_a_kernel_for_each_size_and_then_one_for_all(made):
    f = module(OP + "schedule f { parallel B.i }\n").f
    for _ in range(2):
        for size in range(1, kernels.KEPT + 1):
            f(ones(size, 2))
    assert made == [(size, 2) for size in range(1, kernels.KEPT + 1)]
    for size in range(30, 40):
        np.testing.assert_array_equal(f(ones(size, 3)), 2 * ones(size, 3))
    assert made[kernels.KEPT :] == [None]
    f(ones(4, 2))
    assert len(made) == kernels.KEPT + 1


def test_the_last_sizes_are_kept_where_lines_need_numbers(made):
    f = module(OP + "schedule f { split B.i by max(1, M // 2) -> io, ii }\n").f
    sizes = [*range(1, kernels.KEPT + 4)]
    for size in sizes:
        np.testing.assert_array_equal(f(ones(size, 2)), 2 * ones(size, 2))
    assert made == [(size, 2) for size in sizes]
    f(ones(sizes[-1], 2)), f(ones(sizes[0], 2))


def test_parameters_are_part_of_the_key(made):
    f = module("op f[T: float](A: T[N]) -> B: T[N] { B[i] = A[i] / 3 }\nschedule f { parallel B.i }\n").f
    assert f(np.ones(3, np.float32)).dtype == np.float32
    assert f(np.ones(3, np.float64)).dtype == np.float64
    assert made == [(3,), (3,)]


# ---- records


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TDL_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compile, "_linked", {})
    return tmp_path


GATHER = """op f(A: f32[M, N], I: i32[K]) -> B: f32[K, N] {
    B[i, j] = A[I[i], j]
}
schedule f { parallel B.i }
"""


def test_a_kernel_of_an_earlier_run_is_not_made_again(folder, made):
    inputs = np.arange(12, dtype=np.float32).reshape(4, 3), np.array([3, 0], np.int32)
    for _ in range(3):
        compile._linked.clear()
        f = module(GATHER).f
        np.testing.assert_array_equal(f(*inputs), inputs[0][[3, 0]])
        with pytest.raises(IndexError, match="A has 4 elements along dimension 0, and is read at 4") as raised:
            f(inputs[0], np.array([1, 4], np.int32))
        start = GATHER.index("A[I[i], j]")
        assert (raised.value.span.start, raised.value.span.end) == (start, start + len("A[I[i], j]"))
    assert made == [(2, 3)]
    module(GATHER.replace("parallel B.i", "parallel B.j")).f(*inputs)
    module(GATHER.replace("A[I[i], j]", "A[I[i], j] + 1")).f(*inputs)
    assert made == [(2, 3)] * 3


@pytest.mark.parametrize("spoiled", ["record", "code"])
def test_a_record_without_its_code_is_no_record(folder, made, spoiled):
    a = ones(4, 3)
    for _ in range(2):
        compile._linked.clear()
        np.testing.assert_array_equal(module(OP + "schedule f { parallel B.i }\n").f(a), 2 * a)
        for file in folder.iterdir():
            if (b'"exports"' in file.read_bytes()) == (spoiled == "record"):
                file.write_bytes(file.read_bytes()[:-3])
    assert made == [(4, 3)] * 2
