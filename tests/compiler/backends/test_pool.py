"""The thread pool: every index once, on threads that may be used, whatever else goes on in the process."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tdl.compiler.backends.llvm import jit, pool
from tdl.compiler.backends.llvm.target import binding, host, object_code

pytestmark = pytest.mark.skipif(not pool.has_threads(host().triple), reason="no POSIX threads")

TASKS = """
define void @mark(ptr %closure, i64 %index, i32 %thread) {
  %place = getelementptr { i32, i32 }, ptr %closure, i64 %index
  %count = atomicrmw add ptr %place, i32 1 monotonic
  %who = getelementptr { i32, i32 }, ptr %closure, i64 %index, i32 1
  store i32 %thread, ptr %who
  ret void
}

@inner = internal global i64 2

define void @nest(ptr %closure, i64 %index, i32 %thread) {
  %row = getelementptr { ptr, i64 }, ptr %closure, i64 %index
  %data = load ptr, ptr %row
  %size.at = getelementptr { ptr, i64 }, ptr %closure, i64 %index, i32 1
  %size = load i64, ptr %size.at
  call void @tdl.parallel_for(ptr @inner, ptr @mark, ptr %data, i64 %size)
  ret void
}

define void @meet(ptr %closure, i64 %index, i32 %thread) {
entry:
  %mine = getelementptr i32, ptr %closure, i64 %index
  %other = xor i64 %index, 1
  %theirs = getelementptr i32, ptr %closure, i64 %other
  store atomic i32 1, ptr %mine seq_cst, align 4
  br label %look
look:
  %count = phi i64 [ 0, %entry ], [ %following, %again ]
  %seen = load atomic i32, ptr %theirs seq_cst, align 4
  %here = icmp ne i32 %seen, 0
  br i1 %here, label %met, label %again
again:
  %yielded = call i32 @sched_yield()
  %following = add i64 %count, 1
  %patient = icmp slt i64 %following, 20000000
  br i1 %patient, label %look, label %alone
met:
  store i32 2, ptr %mine
  ret void
alone:
  ret void
}
"""


class Pool:
    """One copy of the pool in this process, with tasks to run on it."""

    def __init__(self, triple: str) -> None:
        names = (pool.NAME, "mark", "nest", "meet")
        self.addresses = jit.link(object_code(pool.pool_text(triple) + TASKS, host()), names)
        kinds = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
        self._run = ctypes.CFUNCTYPE(None, *kinds)(self.addresses[pool.NAME])

    def run(self, task: str, closure: np.ndarray, count: int, threads: int) -> None:
        team = ctypes.c_int64(threads)
        self._run(ctypes.addressof(team), self.addresses[task], closure.ctypes.data, count)

    def check(self, count: int, threads: int) -> None:
        """Each index is run once, by a thread that may."""
        marks = np.zeros((count + 1, 2), np.int32)
        self.run("mark", marks, count, threads)
        assert (marks[:count, 0] == 1).all()
        assert marks[count, 0] == 0
        assert ((marks[:, 1] >= 0) & (marks[:, 1] < threads)).all()


def triples() -> list[str]:
    """This machine's way of sleeping, and on Linux also that of others."""
    architecture = host().triple.partition("-")[0]
    return [host().triple] + [f"{architecture}-unknown-freebsd"] * ("linux" in host().triple)


@pytest.fixture(scope="module", params=triples())
def threads(request: pytest.FixtureRequest) -> Pool:
    return Pool(request.param)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 64, 1000, 12345])
@pytest.mark.parametrize("number", [1, 2, 3, 5])
def test_each_index_once(threads, count, number):
    for _ in range(20):
        threads.check(count, number)


def test_two_threads_run_at_once(threads):
    threads.check(10, 4)
    for number in (2, 4):
        places = np.zeros(2, np.int32)
        threads.run("meet", places, 2, number)
        assert (places == 2).all()


def test_after_a_sleep(threads):
    for pause in (0.0, 0.002, 0.02):
        time.sleep(pause)
        places = np.zeros(2, np.int32)
        threads.run("meet", places, 2, 2)
        assert (places == 2).all()


def test_a_region_inside_of_another(threads):
    rows = [np.zeros((size, 2), np.int32) for size in (5, 0, 1, 300, 17)]
    closure = np.array([[row.ctypes.data, len(row)] for row in rows], np.int64)
    for round_ in range(1, 50):
        threads.run("nest", closure, len(rows), 3)
        assert all((row[:, 0] == round_).all() for row in rows)


def test_python_threads_at_once(threads):
    def work(number: int) -> None:
        for count in range(1, 150):
            threads.check(count, 2 + number % 2)

    with ThreadPoolExecutor(4) as executor:
        for each in [executor.submit(work, number) for number in range(4)]:
            each.result(timeout=120)


# ---- processes


def in_child(run) -> int:
    """The exit code of a forked child that runs something; it is killed if it does not end."""
    child = os.fork()
    if child == 0:
        try:
            run()
            os._exit(0)
        finally:
            os._exit(1)
    for _ in range(3000):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_begins_anew(threads):
    def run() -> None:
        for count in (1, 2, 100):
            threads.check(count, 3)
        places = np.zeros(2, np.int32)
        threads.run("meet", places, 2, 2)
        assert (places == 2).all()

    threads.check(100, 3)
    assert in_child(run) == 0
    assert in_child(lambda: os._exit(in_child(run))) == 0
    threads.check(100, 3)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_while_the_pool_runs(threads):
    """The child finds whatever the region of another thread had been doing, and none of its threads."""
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            threads.check(5000, 3)

    thread = threading.Thread(target=work)
    thread.start()
    codes = [in_child(lambda: threads.check(200, 2)) for _ in range(20)]
    stop.set()
    thread.join()
    assert codes == [0] * 20


END = """
import sys, threading, time
sys.path[:0] = {path}
from {module} import Pool, host
pool = Pool({triple!r})
pool.check(1000, 4)
def forever():
    while True:
        pool.check(2000, 4)
if {busy}:
    threading.Thread(target=forever, daemon=True).start()
    time.sleep(0.2)
print("end", flush=True)
"""


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
@pytest.mark.parametrize("triple", triples())
def test_threads_keep_no_process_alive(triple, busy):
    path = [os.path.dirname(__file__), *sys.path]
    text = END.format(path=path, module="test_pool", triple=triple, busy=busy)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_where_there_are_threads():
    assert pool.has_threads("x86_64-unknown-linux-gnu")
    assert pool.has_threads("arm64-apple-darwin23.0.0")
    assert not pool.has_threads("x86_64-pc-windows-msvc")
    assert not pool.has_threads("wasm32-unknown-unknown")


@pytest.mark.parametrize(
    "triple", ["x86_64-apple-darwin", "aarch64-unknown-linux-gnu", "arm64-apple-darwin", "riscv64-unknown-linux-gnu"]
)
def test_code_for_other_targets(triple):
    llvm = binding()
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    module = llvm.parse_assembly(pool.pool_text(triple))
    module.verify()
    machine = llvm.Target.from_triple(triple).create_target_machine(reloc="pic")
    assert machine.emit_object(module)
