"""The fast path: taken when it may be, left when it must be, and it neither leaks nor loses references."""

from __future__ import annotations

import gc
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tdl.compiler.runtime import entry as entries
from tdl.compiler.runtime.layout import is_known_layout

TEXT = """op f(x: f32[M, N], b: f32[N]) -> y: f32[M, N] { t[i, j] = x[i, j] * 2
  y[i, j] = t[i, j] + b[j] }
op two(x: f32[N]) -> (y: f32[N], s: f32) { y[i] = x[i]
  s = sum(x[i] for i) }
op gather(x: f32[N], k: i32[K]) -> y: f32[K] { y[j] = x[k[j]] }
"""


@pytest.fixture
def module(load_text):
    return load_text(TEXT)


def arrays(m: int = 3, n: int = 4) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(m * n, dtype=np.float32).reshape(m, n), np.ones(n, np.float32)


def test_the_layout_is_known_here():
    assert is_known_layout()


def test_taken_for_what_it_was_made_for(module):
    x, b = arrays()
    wanted = module.f(x, b)
    np.testing.assert_array_equal(module.f._fast(None, x, b), wanted)
    out = np.zeros_like(x)
    assert module.f._fast(out, x, b) is out
    np.testing.assert_array_equal(out, wanted)


def test_left_for_anything_else(module):
    x, b = arrays()
    module.f(x, b)
    fast = module.f._fast
    out = np.zeros_like(x)
    locked = out.copy()
    locked.flags.writeable = False
    misses = [
        (),
        (None,),
        (None, x),
        (None, x, b, b),
        (None, x, b.astype(np.float64)),
        (None, x.astype(">f4"), b),
        (None, x[:2], b),
        (None, x[:, :3], b),
        (None, x[:, ::-1], b),
        (None, np.asfortranarray(x), b),
        (None, x[None], b),
        (None, x.tolist(), b),
        (None, None, b),
        (None, x.view(np.matrix), b),
        (None, x, np.float32(1)),
        (None, x, 1),
        ((out,), x, b),
        ([out], x, b),
        (x, x, b),
        (x.copy()[:2], x, b),
        (locked, x, b),
        (out.astype(np.int32), x, b),
        (np.frombuffer(bytes(1 + x.nbytes), np.uint8)[1:].view(np.float32).reshape(x.shape), x, b),
    ]
    for args in misses:
        assert fast(*args) is NotImplemented
    assert not out.any()


def test_overlaps_are_left(module):
    memory = np.zeros(100, np.float32)
    x, b, y = memory[:12].reshape(3, 4), memory[12:16], memory[16:28].reshape(3, 4)
    module.f(x, b)
    fast = module.f._fast
    assert fast(y, x, b) is y
    for start in (0, 1, 4, 11, 12, 15, 5):
        assert fast(memory[start : start + 12].reshape(3, 4), x, b) is NotImplemented
    module.two(memory[:4])
    assert module.two._fast((memory[4:8], memory[7:8].reshape(())), memory[:4]) is NotImplemented
    assert module.two._fast((memory[4:8], memory[8:9].reshape(())), memory[:4]) is not NotImplemented


def test_several_results(module):
    x = np.ones(3, np.float32)
    module.two(x)
    y, s = module.two._fast(None, x)
    assert type(y) is np.ndarray
    assert type(s) is np.float32
    assert s == 3
    pair = np.zeros(3, np.float32), np.zeros((), np.float32)
    assert module.two._fast(pair, x) is pair
    assert pair[1] == 3
    for wrong in (pair[0], [*pair], pair[:1], (*pair, pair[0]), (pair[0], None)):
        assert module.two._fast(wrong, x) is NotImplemented


def counts(*objects: object) -> list[int]:
    return [sys.getrefcount(each) for each in objects]


def test_references_are_kept_exactly(module):
    x, b = arrays()
    out = np.zeros_like(x)
    bad = np.array([9], np.int32)
    module.f(x, b)
    module.two(x[0])
    module.gather(b, np.zeros(1, np.int32))
    pair = np.zeros(4, np.float32), np.zeros((), np.float32)
    row = x[0]
    watched = (x, b, out, pair, *pair, row, bad, x.dtype, np.empty, NotImplemented)
    gc.collect()
    before = counts(*watched)
    for _ in range(100):
        module.f(x, b)
        module.f(x, b, out=out)
        module.two(row)
        module.two(row, out=pair)
        module.f._fast(None, x, None)
        with pytest.raises(IndexError):
            module.gather(b, bad)
    gc.collect()
    after = counts(*watched)
    assert all(abs(now - then) < 20 for now, then in zip(after, before))


def test_memory_does_not_grow(module):
    """A result of 16 MB, and as much workspace, for each of 300 calls."""
    x, b = np.ones((2000, 2000), np.float32), np.ones(2000, np.float32)
    k = np.full(1, 5, np.int32)
    module.f(x, b)

    def resident() -> int:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    if not os.path.exists("/proc/self/statm"):
        pytest.skip("no /proc on this system")
    before = resident()
    for _ in range(40):
        module.f(x, b)
        with pytest.raises(IndexError):
            module.gather(np.ones(3, np.float32), k)
    assert resident() - before < 100e6


def test_threads_share_an_op(module):
    """Different shapes from different threads, each with results of its own."""
    sizes = [(3, 4), (50, 70), (300, 400), (1, 1)]
    barrier = threading.Barrier(4)

    def run(number: int) -> bool:
        barrier.wait()
        good = True
        for step in range(50):
            m, n = sizes[(number + step) % 4]
            x, b = np.full((m, n), number, np.float32), np.full(n, step, np.float32)
            good &= bool((module.f(x, b) == 2 * number + step).all())
            good &= bool((module.f(x, b, out=np.empty_like(x)) == 2 * number + step).all())
        return good

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(4)))


def test_long_kernels_let_other_threads_run(load_text):
    """A thread that waits to run gets its turn while another is inside a kernel of many iterations."""
    f = load_text("op f(x: f32[N]) -> y: f32 { y = sum(sin(x[i] + x[j]) for i, j) }").f
    x = np.ones(1500, np.float32)
    f(x)
    go, ran = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: go.wait() and ran.set())
    thread.start()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # nobody is made to give up the lock
    try:
        go.set()
        during = any(f(x) and ran.is_set() for _ in range(20))
    finally:
        sys.setswitchinterval(interval)
        thread.join()
    assert during


def test_without_a_known_layout_the_checked_path_does_it_all(load_text, monkeypatch):
    monkeypatch.setattr(entries, "is_known_layout", lambda: False)
    module = load_text(TEXT)
    x, b = arrays()
    for _ in range(2):
        np.testing.assert_array_equal(module.f(x, b), 2 * x + b)
        out = np.zeros_like(x)
        assert module.f(x, b, out=out) is out
        np.testing.assert_array_equal(out, 2 * x + b)
        assert module.two(x[0])[1] == 6
        with pytest.raises(IndexError, match="gather"):
            module.gather(b, np.array([4], np.int32))
        with pytest.raises(ValueError, match="overlaps"):
            module.f(x, b, out=x)
