"""What is kept of kernels for exact sizes between runs, beside their code: all that a call needs to know.

A record is found by what the kernel follows from: the op, its schedule, sizes and parameters, the machine, and the
compiler itself. A call at sizes of an earlier run applies no schedule and lowers nothing: lines were proved then.
"""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from functools import cache
from hashlib import blake2b
from typing import Any

from tdl.compiler.backends.llvm.context import Site
from tdl.compiler.backends.llvm.target import host
from tdl.compiler.runtime import cache as files
from tdl.compiler.runtime.compile import Kernel, load_kept
from tdl.compiler.runtime.packing import Packing, canonical
from tdl.compiler.runtime.work import Needs
from tdl.language.forms import Symbol
from tdl.language.scope import Declaration
from tdl.language.signature import Instance
from tdl.language.source import Span

_SOURCES = (".py", ".lark", ".tdl")


def record_key(op: Declaration, schedule: Declaration, instance: Instance, knobs: Mapping[str, int]) -> str:
    """The name of the record of an op under a schedule."""
    what = f"record\n{op.key}\n{schedule.key}\n{sorted(knobs.items())}\n{instance!r}\n{_compiler()}"
    return files.cache_key(what, host())


def read(key: str) -> Kernel | None:
    """The kernel of a record, if that and its code are there."""
    kept = files.read(key)
    if kept is None:
        return None
    content = json.loads(kept)
    name, workspace = content["exports"]
    found = load_kept(content["code"], (name, workspace))
    if found is None:
        return None
    needs = Needs(**content["needs"])
    packings = _packings(content["packings"])
    return Kernel(
        content["code"],
        (name, workspace),
        found[name],
        found[workspace],
        tuple(Site(Span(start, end), tensor) for start, end, tensor in content["sites"]),
        lambda sizes: needs,
        lambda sizes: packings,
        content["is_parallel"],
        content["is_streaming"],
    )


def _packings(kept: str) -> tuple[Packing, ...]:
    """Packings with the dtype objects that arrays have, by which fast calls tell them; unpickled ones are others."""
    found: tuple[Packing, ...] = pickle.loads(bytes.fromhex(kept)) if kept else ()
    return tuple(replace(each, dtype=canonical(each.dtype)) for each in found)


def write(key: str, kernel: Kernel, sizes: Mapping[Symbol, int]) -> None:
    """Keep a record of a kernel that was made for these sizes and no others."""
    packings = kernel.packings(sizes)
    content: dict[str, Any] = {
        "code": kernel.code,
        "exports": kernel.exports,
        "sites": [(site.span.start, site.span.end, site.tensor) for site in kernel.sites],
        "needs": asdict(kernel.needs(sizes)),
        "packings": pickle.dumps(packings).hex() if packings else "",
        "is_parallel": kernel.is_parallel,
        "is_streaming": kernel.is_streaming,
    }
    files.write(key, json.dumps(content).encode())


@cache
def _compiler() -> str:
    """A digest of the compiler's own files, by their sizes and times: what another one made is not taken."""
    digest = blake2b(digest_size=16)
    for path, size, time in sorted(_files()):
        digest.update(f"{path} {size} {time}\n".encode())
    return digest.hexdigest()


def _files() -> Iterator[tuple[str, int, int]]:
    import tdl.compiler
    import tdl.grammar
    import tdl.language

    waiting = [path for package in (tdl.compiler, tdl.grammar, tdl.language) for path in package.__path__]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(_SOURCES):
                    status = entry.stat()
                    yield entry.path, status.st_size, status.st_mtime_ns
                elif entry.is_dir() and not entry.name.startswith("__"):
                    waiting.append(entry.path)
