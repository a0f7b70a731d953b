"""What code is made for, as far as it is known without measuring."""

from __future__ import annotations

from typing import Any

from tdl.compiler.backends.llvm.target import host
from tdl.compiler.machine import cache_sizes, cores, vector_bits


def machine(payload: dict[str, Any], progress: object) -> dict[str, Any]:
    """`{"cpu", "cores", "vectorBits", "caches"}`: sizes in bytes, the nearest cache first."""
    target = host()
    return {"cpu": target.cpu, "cores": cores(), "vectorBits": vector_bits(target), "caches": list(cache_sizes())}
