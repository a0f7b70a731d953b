"""f16 without instructions for it: the integer conversions give what the machine's do, for every value."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from tdl.compiler.backends.llvm.jit import link
from tdl.compiler.backends.llvm.support import support_for
from tdl.compiler.backends.llvm.target import host, object_code

TEXT = """
define void @extend(ptr %from, ptr %to, i64 %count) { entry: br label %loop
loop: %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from.at = getelementptr i16, ptr %from, i64 %i
  %x = load i16, ptr %from.at
  %y = call float @tdl.extend.f16(i16 %x)
  %to.at = getelementptr float, ptr %to, i64 %i
  store float %y, ptr %to.at
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %end
end: ret void }
define void @pack(ptr %from, ptr %to, i64 %count) { entry: br label %loop
loop: %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from.at = getelementptr float, ptr %from, i64 %i
  %x = load float, ptr %from.at
  %y = call i16 @tdl.pack.f16(float %x)
  %to.at = getelementptr i16, ptr %to, i64 %i
  store i16 %y, ptr %to.at
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %end
end: ret void }
"""


@pytest.fixture(scope="module")
def soft():
    addresses = link(object_code(support_for(TEXT, machine_f16=False) + TEXT, host()), ("extend", "pack"))
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)

    def run(name: str, given: np.ndarray, result: np.ndarray) -> np.ndarray:
        function(addresses[name])(given.ctypes.data, result.ctypes.data, len(given))
        return result

    return run


def test_every_half_is_extended(soft):
    halves = np.arange(1 << 16).astype(np.uint16)
    found = soft("extend", halves, np.empty(1 << 16, np.float32))
    np.testing.assert_array_equal(found, halves.view(np.float16).astype(np.float32))


def test_floats_are_rounded_to_nearest_even(soft):
    halves = np.arange(1 << 16).astype(np.uint16).view(np.float16).astype(np.float32)
    with np.errstate(all="ignore"):
        between = (halves[:-1] + halves[1:]) / 2  # exact ties
        near = [np.nextafter(between, np.float32(side) * np.inf) for side in (-1, 1)]
        random = np.random.default_rng(0).integers(0, 1 << 32, 200_000, np.uint32).view(np.float32)
        every = np.concatenate([halves, between, *near, random])
        wanted = every.astype(np.float16)
    found = soft("pack", every, np.empty(len(every), np.uint16)).view(np.float16)
    np.testing.assert_array_equal(found, wanted)
