"""Times as people read them."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """`1.24 s`, `12.4 ms`, `3.1 µs`."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:#.3g}".rstrip(".") + f" {unit}"
    return f"{seconds / 1e-6:#.3g}".rstrip(".") + " µs"
