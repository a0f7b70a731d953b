"""Ops with parallel loops, called from Python: several threads at once, forks, the end of the process, failures."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tdl.compiler import load, num_threads, set_num_threads
from tdl.language.source import Source

TEXT = """
op rows(A: f32[M, N]) -> s: f32[M] { s[i] = sum(A[i, j] for j) }
schedule rows { parallel s.i }

op product(A: f32[M, K], B: f32[K, N]) -> C: f32[M, N] { C[i, j] = sum(A[i, k] * B[k, j] for k) }
schedule product {
    split C.i by 4 -> io, ii
    cache B at io as Bp
    parallel io
}

op gather(A: f32[V], I: i32[N]) -> Y: f32[N] { Y[i] = A[I[i]] }
schedule gather { parallel Y.i }
"""


@pytest.fixture(scope="module")
def ops():
    return load(Source("t.tdl", TEXT))


@pytest.fixture(autouse=True)
def as_before():
    before = num_threads()
    yield
    set_num_threads(before)


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).integers(-9, 9, shape).astype(np.float32)


def check_product(ops, m: int = 37, k: int = 50, n: int = 300) -> None:
    a, b = numbers(m, k), numbers(k, n)
    np.testing.assert_array_equal(ops.product(a, b), a @ b)


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_any_number_of_threads(ops, threads):
    set_num_threads(threads)
    for _ in range(3):
        check_product(ops)
        np.testing.assert_array_equal(ops.rows(numbers(100, 7)), numbers(100, 7).sum(1))


def test_numbers_of_threads_that_change(ops):
    """Each thread has its part of the workspace: one for fewer threads may not be used for more."""
    for threads in [1, 4, 2, 7, 1, 7, 3] * 3:
        set_num_threads(threads)
        check_product(ops)


def test_numbers_that_change_while_others_call(ops):
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            for threads in (1, 5, 2):
                set_num_threads(threads)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        with ThreadPoolExecutor(2) as executor:
            for each in [executor.submit(lambda: [check_product(ops) for _ in range(30)]) for _ in range(2)]:
                each.result(timeout=120)
    finally:
        stop.set()
        thread.join()


def test_threads_of_python_at_once(ops):
    set_num_threads(3)
    with ThreadPoolExecutor(4) as executor:
        for each in [executor.submit(lambda: [check_product(ops) for _ in range(50)]) for _ in range(4)]:
            each.result(timeout=120)


def test_a_failure_in_a_task_is_raised_once(ops):
    set_num_threads(3)
    index = np.zeros(1000, np.int32)
    for place in (0, 500, 999):
        index[:] = 0
        index[place] = 7
        with pytest.raises(IndexError, match="A has 3 elements along dimension 0, and is read at 7"):
            ops.gather(np.ones(3, np.float32), index)
    index[:] = -1
    with pytest.raises(IndexError, match="read at -1"):
        ops.gather(np.ones(3, np.float32), index)
    assert (ops.gather(np.ones(3, np.float32), np.zeros(1000, np.int32)) == 1).all()


# ---- processes


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_calls_on(ops):
    set_num_threads(2)
    check_product(ops)
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                check_product(ops)
                check_product(ops, 9, 8, 7)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    for child in children:
        deadline = time.monotonic() + 60
        while not (ended := os.waitpid(child, os.WNOHANG))[0] and time.monotonic() < deadline:
            time.sleep(0.01)
        assert ended[0] == child
        assert os.waitstatus_to_exitcode(ended[1]) == 0
    check_product(ops)


END = """
import threading, time
import numpy as np
from tdl.compiler import load, set_num_threads
from tdl.language.source import Source
set_num_threads(3)
rows = load(Source("t.tdl", {text!r})).rows
a = np.ones((500, 500), np.float32)
rows(a)
def forever():
    while True:
        rows(a)
for _ in range({callers}):
    threading.Thread(target=forever, daemon=True).start()
time.sleep(0.2)
print("end", flush=True)
"""


@pytest.mark.parametrize("callers", [0, 1, 3])
def test_a_process_ends_while_ops_run(callers):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", END.format(text=TEXT, callers=callers)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")
