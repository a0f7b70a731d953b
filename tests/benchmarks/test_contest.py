"""Who takes turns when, who is chosen, and what the table says. Times are made up: nothing is timed."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from contest.passes import Result, choose, take_turns
from contest.report import MEAN, lines, markdown, notes, table
from contest.worker import Worker
from contest.workers import environment
from contest.workloads import ROWS, Workload, error, find, matching
from rich.console import Console

SMALL = Workload("square", (6, 6, 6))


# ---- turns


def test_every_call_has_a_turn_in_every_round_and_the_order_moves_on() -> None:
    asked: list[str] = []

    def turn(name: str, seconds: float) -> dict[str, Any]:
        asked.append(name)
        return {"seconds": float(len(asked))}

    assert take_turns(["a", "b", "c"], 3, turn, []) == {
        "a": [1.0, 6.0, 8.0],
        "b": [2.0, 4.0, 9.0],
        "c": [3.0, 5.0, 7.0],
    }
    assert "".join(asked) == "abcbcacab"


def test_what_fails_is_named_and_left_out() -> None:
    answers: Iterator[dict[str, Any]] = iter(
        [{"seconds": 1.0}, {"seconds": 2.0}, {"fault": "it is wrong\n  at length"}, {"seconds": 3.0}, {"seconds": 4.0}]
    )
    faults: list[str] = []
    assert take_turns(["a", "b"], 3, lambda name, seconds: next(answers), faults) == {"a": [1.0, 3.0, 4.0]}
    assert faults == ["b: it is wrong"]


def test_the_fastest_of_each_column_is_chosen() -> None:
    first = {"numpy": 3.0, "torch": 2.0, "onnxruntime": 2.5, "oneDNN": 1.5, "halide panels": 1.0}
    columns = {name: "packed" if name in ("oneDNN", "halide panels") else "plain" for name in first}
    assert choose(first, columns) == {"baseline": "numpy", "plain": "torch", "packed": "halide panels"}


def test_blur_has_the_automatic_schedules_as_its_baseline() -> None:
    first = {"halide Adams2019": 2.0, "halide Li2018": 3.0, "numba direct": 1.0}
    assert choose(first, dict.fromkeys(first, "plain")) == {"baseline": "halide Adams2019", "plain": "numba direct"}


def test_nobody_is_chosen_of_nobody() -> None:
    assert choose({}, {}) == {}


# ---- workers


class Contender:
    """A product by NumPy, which writes its answer `times` times and no more."""

    def __init__(self, times: int) -> None:
        self.times = times

    def prepare(self, workload: Workload, inputs: list[np.ndarray[Any, Any]], threads: int) -> list[Any]:
        from contest.peers import Call

        a, b = inputs
        out = a @ b

        def run() -> None:
            self.times -= 1
            if self.times >= 0:
                np.matmul(a, b, out=out)

        return [Call("it", run, lambda: out)]


def test_a_turn_is_timed_and_checked() -> None:
    worker = Worker(Contender(10**9), 1)
    assert worker.prepare(SMALL) == {"calls": [{"name": "it", "column": "plain"}]}
    assert worker.turn("it", 0.0) > 0


def test_an_old_answer_does_not_pass() -> None:
    """Only the call before the array is spoilt writes it."""
    worker = Worker(Contender(1), 1)
    worker.prepare(SMALL)
    with pytest.raises(ValueError, match="it is wrong: an error of inf"):
        worker.turn("it", 0.0)


def test_errors_are_shares_of_the_greatest_element() -> None:
    reference = np.array([1.0, -4.0])
    assert error(np.array([1.0, -4.0]), reference) == 0.0
    assert error(np.array([1.4, -4.0]), reference) == pytest.approx(0.1)
    assert error(np.array([1.0, np.nan]), reference) == float("inf")
    assert error(np.array([1.0]), reference) == float("inf")


def test_workers_have_their_threads_and_no_kernels_of_other_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    found = environment(2)
    assert "OPENBLAS_CORETYPE" not in found
    assert {found[f"{name}_NUM_THREADS"] for name in ("OMP", "OPENBLAS", "TDL", "HL", "NUMBA")} == {"2"}


@pytest.mark.parametrize("name", ["square 256", "skinny 1x1024x1024", "f64 1024x1024x1024"])
def test_inputs_are_the_same_in_every_process(name: str) -> None:
    first, second = find(name).inputs(), find(name).inputs()
    assert all(np.array_equal(one, other) for one, other in zip(first, second, strict=True))


def test_the_reference_of_blur_is_the_mean_of_nine() -> None:
    image = np.arange(12, dtype=np.float32).reshape(3, 4)
    blurred = Workload("blur", (3, 4), variant="/ 3").reference([image])
    assert blurred == pytest.approx(np.array([[image[:, :3].mean(), image[:, 1:].mean()]]))


def test_rows_are_found_by_pattern() -> None:
    assert [row.name for row in matching("square 10")] == ["square 1000", "square 1023", "square 1024"]
    assert matching("nothing like it") == []


# ---- the table


def result(row: str, threads: int = 1, packed: bool = False, speed: float = 1.1) -> Result:
    """Ours takes a second, every rival `speed` seconds."""
    times = {"ours": [1.0] * 30, "numpy": [speed] * 30, "oneDNN": [speed] * 30}
    if packed:
        times["ours packed"] = [1.0] * 30
    rivals = {"baseline": "numpy", "plain": "numpy", "packed": "oneDNN"}
    return Result(row, threads, {"numpy": speed, "oneDNN": speed}, rivals, times)


def test_a_column_that_was_not_measured_is_missing_and_not_zero() -> None:
    (line,) = lines([result("square 256")])
    assert line.ratios["packed"] is None
    assert line.verdict == "packed missing"
    assert "| missing | oneDNN | packed missing |" in markdown([result("square 256")], [])


def test_a_verdict_names_the_bars_that_are_not_reached() -> None:
    (line,) = lines([result("skinny 4x1024x1024", packed=True, speed=0.9)])
    assert line.verdict == "below best 1, packed 1"
    (line,) = lines([result("skinny 4x1024x1024", packed=True)])
    assert line.verdict == "met"


def test_the_mean_follows_the_squares_and_needs_all_of_them() -> None:
    squares = [result(row.name, packed=True) for row in ROWS if row.family == "square"]
    others = [result("skinny 4x1024x1024")]
    assert [line.name for line in lines([*others, *squares])][-2:] == [MEAN, "skinny 4x1024x1024"]
    assert MEAN not in [line.name for line in lines([*others, *squares[1:]])]
    mean = next(line for line in lines(squares) if line.name == MEAN)
    assert mean.verdict == "met"
    assert mean.ratios["packed"] is not None
    assert mean.ratios["packed"].median == pytest.approx(1.1)


def test_a_mean_without_all_of_its_rows_is_missing() -> None:
    squares = [result(row.name, packed=row.sizes[0] != 512) for row in ROWS if row.family == "square"]
    mean = next(line for line in lines(squares) if line.name == MEAN)
    assert mean.ratios["packed"] is None
    assert mean.verdict == "packed missing"


def test_the_terminal_says_what_markdown_says() -> None:
    results = [result("square 256"), result("square 256", threads=2), result("blur / 3")]
    screen = io.StringIO()
    Console(file=screen, width=150).print(table(results, ["a foot"]))
    for said in ("1 thread", "2 threads", "square 256", "1.100 1.10..1.10", "missing", "oneDNN", "a foot"):
        assert said in screen.getvalue()
        assert said in markdown(results, ["a foot"])


def test_rates_are_work_by_the_median_time() -> None:
    assert f"| square 1000 | {2 * 1000**3 / 1e9:.1f} |" in markdown([result("square 1000")], [])


def test_the_foot_names_who_is_missing_and_what_failed() -> None:
    failed = Result("square 256", 2, {}, {}, {}, ["torch: it is wrong"])
    assert notes({"halide": "No module named 'halide'"}, [failed]) == [
        "not measured: halide (No module named 'halide')",
        "square 256, threads: 2: torch: it is wrong",
    ]
