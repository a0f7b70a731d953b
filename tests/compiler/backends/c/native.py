"""The C of a kernel, compiled by the system's C compiler and called: what tests compare with the evaluator."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tdl.compiler.backends.c.context import Unit
from tdl.compiler.backends.c.file import file_lines
from tdl.compiler.backends.c.kernel import write_kernel
from tdl.compiler.backends.llvm.scalars import concrete
from tdl.compiler.backends.llvm.sizes import open_dims
from tdl.compiler.kernel.tree import Kernel
from tdl.compiler.runtime.failures import raise_failure
from tdl.compiler.runtime.packing import Packing, pack
from tdl.language.arrays import numpy_dtype
from tdl.language.binding import Bound

COMPILER = os.environ.get("CC") or shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Wshadow", "-Werror")


class _Run(ctypes.Structure):
    _fields_ = (
        ("workspace", ctypes.c_void_p),
        ("parallel_for", ctypes.c_void_p),
        ("state", ctypes.c_void_p),
        ("code", ctypes.c_int),
        ("site", ctypes.c_int64),
        ("details", ctypes.c_int64 * 3),
    )


@functools.cache
def folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="tdl-c-"))


@functools.cache
def built(text: str, options: tuple[str, ...] = ("-O1",)) -> ctypes.CDLL:
    """C text as a library in this process. A warning is an error."""
    name = hashlib.blake2b(repr((text, options)).encode(), digest_size=12).hexdigest()
    source, library = folder() / f"{name}.c", folder() / f"{name}.so"
    source.write_text(text)
    assert COMPILER is not None
    command = [COMPILER, *WARNINGS, *options, "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stderr}\n{text}"
    return ctypes.CDLL(str(library))


def call(
    kernel: Kernel, bound: Bound, inputs: Mapping[str, np.ndarray], packings: Sequence[Packing] = ()
) -> dict[str, np.ndarray]:
    """Run the kernel's C on arrays. Raises what the program raises."""
    unit = Unit()
    names = write_kernel(unit, kernel, kernel.program.name, linkage="")
    library = built("".join(f"{line.text}\n" for line in file_lines(unit)))
    program, dims = kernel.program, open_dims(kernel.program)
    sizes = [ctypes.c_int64(bound.sizes[dim]) for dim in dims]
    stored: dict[str, Any] = {name: np.require(array, requirements=["C", "A"]) for name, array in inputs.items()}
    stored |= {packing.tensor: pack(packing, stored[packing.tensor]).array for packing in packings}
    outputs = {
        name: np.full(bound.output_shapes[name], 77, numpy_dtype(concrete(program.tensors[name].dtype)))
        for name in program.outputs
    }
    workspace = library[names.workspace]
    workspace.restype = ctypes.c_int64
    memory = np.full(workspace(*sizes, ctypes.c_int64(1)) + 64, 0xA5, np.uint8)
    run = _Run(workspace=memory.ctypes.data + -memory.ctypes.data % 64)
    arrays = [*(stored[name] for name in program.inputs), *outputs.values()]
    library[names.run](ctypes.byref(run), *sizes, *(ctypes.c_void_p(array.ctypes.data) for array in arrays))
    if run.code:
        raise_failure(program.name, tuple(site for _, site in unit.sites), run.code, run.site, *run.details)
    return outputs
