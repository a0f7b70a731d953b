"""Turns and their figures; what times come out is the machine's business."""

from __future__ import annotations

from tdl.compiler.measure import Timing, take_turns


def test_every_contender_runs_in_every_round() -> None:
    calls = {"a": 0, "b": 0}

    def run(name: str) -> None:
        calls[name] += 1

    timings = take_turns({"a": lambda: run("a"), "b": lambda: run("b")}, seconds=0)
    assert len(timings["a"].samples) == len(timings["b"].samples) >= 3
    assert all(count > 3 for count in calls.values())


def test_ratios_are_of_neighbours() -> None:
    fast, slow = Timing((1.0, 2.0, 4.0)), Timing((2.0, 4.0, 8.0))
    assert fast.against(slow) == 2
    assert slow.against(fast) == 0.5
    assert fast.median == 2.0
