"""How many threads there are, who says so, and what kernels are called with."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import pytest
from tdl.compiler import num_threads, set_num_threads
from tdl.compiler.runtime import threads


@pytest.fixture(autouse=True)
def as_before():
    before = num_threads()
    yield
    threads.use_parallel_for(0)
    set_num_threads(before)


def number_at(team: threads.Team) -> int:
    return ctypes.c_int64.from_address(team.number_at).value


def test_one_thread_is_serial():
    set_num_threads(1)
    assert threads.team().parallel_for == 0
    assert num_threads() == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no POSIX threads")
def test_each_number_has_its_team():
    set_num_threads(3)
    three = threads.team()
    assert (three.threads, number_at(three)) == (3, three.number)
    set_num_threads(2)
    assert number_at(three) == -1
    two = threads.team()
    assert (two.threads, two.parallel_for) == (2, three.parallel_for)
    assert number_at(three) == number_at(two) == two.number
    assert two.state != three.state
    set_num_threads(3)
    assert threads.team() == three


def test_a_host_has_its_own():
    threads.use_parallel_for(0x1000, 0x2000, 7)
    team = threads.team()
    assert (team.parallel_for, team.state, team.threads, num_threads()) == (0x1000, 0x2000, 7, 7)
    threads.use_parallel_for(0)
    assert threads.team().parallel_for != 0x1000


@pytest.mark.parametrize("count", [0, -1, 10**6])
def test_numbers_that_cannot_be_meant(count):
    with pytest.raises(ValueError, match="1 to 1024"):
        set_num_threads(count)
    with pytest.raises(ValueError, match="1 to 1024"):
        threads.use_parallel_for(0x1000, 0, count)


@pytest.mark.parametrize("count", [2.0, "2", None, True])
def test_what_is_no_number(count):
    with pytest.raises(TypeError, match="is an integer, not"):
        set_num_threads(count)


@pytest.mark.parametrize(("value", "said"), [("5", "5"), ("", "cores"), ("many", "cores"), ("0", "cores")])
def test_the_environment(value, said):
    text = "import os, tdl.compiler as c; print(c.num_threads(), min(len(os.sched_getaffinity(0)), 1024))"
    if not hasattr(os, "sched_getaffinity"):
        text = text.replace("len(os.sched_getaffinity(0))", "os.cpu_count()")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TDL_NUM_THREADS": value}
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=environment, check=True)
    found, cores = done.stdout.split()
    assert found == (cores if said == "cores" else said)
    assert ("it is ignored" in done.stderr) == (value in ("many", "0"))
