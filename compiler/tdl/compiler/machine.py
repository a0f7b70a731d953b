"""What this machine offers: caches, vector width, cores, and the peaks that a kernel's speed is a share of.

Peaks are measured, once, by small kernels of our own: fused multiply-adds on registers for each float dtype, and sums
over an array that no cache holds for memory. They are kept beside the object cache, under the machine's name, and
measured again with `measure`.
"""

from __future__ import annotations

import ctypes
import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from tdl.compiler.backends.llvm import jit
from tdl.compiler.backends.llvm.target import Target, host, object_code
from tdl.compiler.runtime.cache import cache_directory, cache_key

_CHAINS = 16  # independent accumulators: more than an addition's latency times the number of units
_ROUNDS = 7
_STREAM = 1 << 26  # bytes read to measure memory, beyond every cache but the largest servers'


@dataclass(frozen=True, slots=True)
class Machine:
    """`peak_f32` and `peak_f64` are FLOP/s of one core (a multiply-add counts two), `bandwidth` bytes/s read by one.

    `caches` are the sizes in bytes of the levels of data cache that one core sees, the nearest first.
    """

    cpu: str
    cores: int
    vector_bits: int
    caches: tuple[int, ...]
    peak_f32: float
    peak_f64: float
    bandwidth: float

    def peak(self, dtype: str, threads: int = 1) -> float:
        """FLOP/s of a float dtype; halves are computed in f32."""
        return (self.peak_f64 if dtype == "f64" else self.peak_f32) * threads


def machine() -> Machine:
    """This machine, from what was measured before if there is such."""
    return measured() or measure()


def measured() -> Machine | None:
    """This machine as it was measured before; None where it was not."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        kept = json.loads(_path().read_text(encoding="utf-8"))
        return Machine(**{**kept, "caches": tuple(kept["caches"])})
    return None


def measure() -> Machine:
    """Measure this machine, which takes about a second, and keep the result."""
    target = host()
    found = Machine(
        target.cpu,
        cores(),
        vector_bits(target),
        cache_sizes(),
        _peak("float", 32, target),
        _peak("double", 64, target),
        _bandwidth(target),
    )
    with suppress(OSError):
        path = _path()
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = path.with_name(f"{path.name}.{os.getpid()}")
        temporary.write_text(json.dumps(asdict(found)), encoding="utf-8")
        os.replace(temporary, path)
    return found


def cores() -> int:
    """How many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def vector_bits(target: Target) -> int:
    """The width of the machine's vectors."""
    features = set(target.features.split(","))
    if "+avx512f" in features:
        return 512
    return 256 if "+avx" in features else 128


@cache
def cache_sizes() -> tuple[int, ...]:
    """Bytes of each level of data cache, as the system tells; typical ones where it does not."""
    found: dict[int, int] = {}
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        with suppress(OSError, ValueError):
            if (index / "type").read_text().strip() != "Instruction":
                size = (index / "size").read_text().strip()
                scale = {"K": 1 << 10, "M": 1 << 20}.get(size[-1], 1)
                found[int((index / "level").read_text())] = int(size.rstrip("KM")) * scale
    return tuple(found[level] for level in sorted(found)) or (32 << 10, 512 << 10, 8 << 20)


# ---- peaks


def _path() -> Path:
    return cache_directory() / f"machine-{cache_key('machine 1', host())[:16]}.json"


def _peak(kind: str, bits: int, target: Target) -> float:
    lanes = vector_bits(target) // bits
    rounds = 20_000
    run = _function(_multiply_adds(kind, lanes), "peak", target)
    out = ctypes.create_string_buffer(lanes * bits // 8 + 64)
    seconds = _fastest(lambda: run(rounds, out))
    return 2 * _CHAINS * lanes * rounds / seconds


def _bandwidth(target: Target) -> float:
    lanes = vector_bits(target) // 32
    count = _STREAM // (4 * lanes * 4)
    data = ctypes.create_string_buffer(_STREAM + 64)
    ctypes.memset(data, 1, _STREAM)
    run = _function(_sums(lanes), "sums", target)
    seconds = _fastest(lambda: run(count, data))
    return _STREAM / seconds


def _function(ir: str, name: str, target: Target) -> Callable[[int, object], None]:
    address = jit.link(object_code(ir, target), (name,))[name]
    return ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)(address)


def _fastest(run: Callable[[], object]) -> float:
    """The least of several times: what disturbs only ever adds."""
    times = []
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def _multiply_adds(kind: str, lanes: int) -> str:
    """A loop of independent multiply-adds on registers; what they give is stored, so that they must run."""
    vector = f"<{lanes} x {kind}>"
    chains = range(_CHAINS)
    phis = "\n".join(f"  %a{i} = phi {vector} [ splat ({kind} {i}.0), %entry ], [ %s{i}, %loop ]" for i in chains)
    steps = "\n".join(
        f"  %m{i} = fmul contract {vector} %a{i}, splat ({kind} 0.5)\n"
        f"  %s{i} = fadd contract {vector} %m{i}, splat ({kind} 1.0)"
        for i in chains
    )
    total, lines = "%s0", []
    for i in chains[1:]:
        lines.append(f"  %t{i} = fadd {vector} {total}, %s{i}")
        total = f"%t{i}"
    return _loop("peak", phis, steps, "\n".join(lines), f"store {vector} {total}, ptr %out, align 4")


def _sums(lanes: int) -> str:
    """A loop that adds up an array, four vectors at a time."""
    vector = f"<{lanes} x float>"
    phis = "\n".join(f"  %a{i} = phi {vector} [ zeroinitializer, %entry ], [ %s{i}, %loop ]" for i in range(4))
    steps = "\n".join(
        f"  %o{i} = add i64 %base, {i * lanes}\n  %p{i} = getelementptr float, ptr %out, i64 %o{i}\n"
        f"  %v{i} = load {vector}, ptr %p{i}, align 4\n  %s{i} = fadd {vector} %a{i}, %v{i}"
        for i in range(4)
    )
    sums = f"  %t1 = fadd {vector} %s0, %s1\n  %t2 = fadd {vector} %s2, %s3\n  %t3 = fadd {vector} %t1, %t2"
    base = f"  %base = mul i64 %i, {4 * lanes}\n{steps}"
    return _loop("sums", phis, base, sums, f"store {vector} %t3, ptr %out, align 4")


def _loop(name: str, phis: str, steps: str, after: str, last: str) -> str:
    return (
        f"define void @{name}(i64 %n, ptr %out) {{\nentry:\n  br label %loop\nloop:\n"
        f"  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n{phis}\n{steps}\n  %next = add i64 %i, 1\n"
        f"  %more = icmp slt i64 %next, %n\n  br i1 %more, label %loop, label %done\ndone:\n{after}\n  {last}\n"
        "  ret void\n}\n"
    )
