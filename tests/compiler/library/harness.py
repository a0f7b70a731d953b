"""The judged programs as libraries, and a program in C that calls every function of one and prints what it gives.

The program keeps each input and output in memory of exactly its size, so that tools that watch memory see every byte.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tdl.compiler.library.build import build_files
from tdl.compiler.library.interface import Names
from tdl.compiler.library.plan import Function, Library, plan_library
from tdl.compiler.library.target import BuildTarget
from tdl.language.arrays import numpy_dtype
from tdl.language.binding import Bound, instance_of
from tdl.language.check import check_op
from tdl.language.dtypes import DType
from tdl.language.samples import random_inputs
from tdl.language.scope import Declaration

from tests.test_programs import INSTANCES, PACKS, analysed, assert_equal, bindings, own_ops, reference

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Call:
    """A call of a library's function, and what it must give."""

    function: Function
    bound: Bound
    inputs: dict[str, Array]

    @property
    def sizes(self) -> list[int]:
        return [self.bound.sizes[dim] for dim in self.bound.program.dims]

    def outputs(self) -> dict[str, Array]:
        """Arrays for the results."""
        tensors = self.bound.program.tensors
        made = {}
        for name, shape in self.bound.output_shapes.items():
            dtype = tensors[name].dtype
            assert isinstance(dtype, DType)
            made[name] = np.zeros(shape, numpy_dtype(dtype))
        return made

    def check(self, found: dict[str, Array]) -> None:
        program = self.bound.program
        integers = {name: value for name, value in program.parameters.items() if isinstance(value, int)}
        with np.errstate(all="ignore"):
            wanted = getattr(reference(), program.name)(*self.inputs.values(), **integers)
        assert_equal(
            found, {name: np.asarray(each) for name, each in zip(program.outputs, wanted)}, self.bound, self.inputs
        )


def planned(path: Path, target: BuildTarget) -> Library:
    """The library of a judged program, with every instance that its tests try."""
    extra = [each for op in own_ops(path) for each in _extra(op)]
    return plan_library(path.stem, analysed(path), target, (), extra)


def _extra(op: Declaration) -> Iterator[tuple[Declaration, Any]]:
    packs = check_op(op).program.packs
    for parameters in INSTANCES.get(op.name, [{}]):
        for shape in PACKS if packs else [()]:
            yield op, instance_of(op, parameters, dict.fromkeys(packs, shape))


def calls_of(path: Path, library: Library, most: int = 100) -> list[Call]:
    """Calls of every function, at some sizes each."""
    found = []
    for op in own_ops(path):
        for parameters in INSTANCES.get(op.name, [{}]):
            every = list(bindings(op, parameters))
            for number, bound in enumerate(every[:: max(1, len(every) // most)]):
                function = _function(library, op, bound)
                found.append(Call(function, bound, random_inputs(bound.program, bound.sizes, seed=number)))
    return found


def _function(library: Library, op: Declaration, bound: Bound) -> Function:
    program = bound.program
    return next(
        each
        for each in library.functions
        if each.op == op and each.program.parameters == program.parameters and each.program.packs == program.packs
    )


def write(files: dict[str, bytes], folder: Path) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def build(library: Library, target: BuildTarget, emits: Sequence[str], folder: Path) -> None:
    write(build_files(library, target, list(emits)), folder)


def main_text(library: Library, calls: Sequence[Call]) -> str:
    """The program: each call's code as a byte, then its outputs."""
    names = Names(library)
    lines = [
        f'#include "{library.name}.h"',
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n",
        "static void *kept(const unsigned char *from, size_t bytes) {",
        "    void *made = malloc(bytes);",
        "    if (bytes != 0 && from != NULL) {\n        memcpy(made, from, bytes);\n    }",
        "    return made;\n}\n",
        "static void print(void *from, size_t bytes) {\n    fwrite(from, 1, bytes, stdout);\n    free(from);\n}\n",
    ]
    for number, call in enumerate(calls):
        lines += _call(number, call, names)
    lines += ["int main(void) {", *(f"    call_{number}();" for number in range(len(calls))), "    return 0;\n}"]
    return "\n".join(lines) + "\n"


def _call(number: int, call: Call, names: Names) -> Iterator[str]:
    arrays = [*call.inputs.values()]
    for position, array in enumerate(arrays):
        content = ", ".join(map(str, np.ascontiguousarray(array).tobytes())) or "0"
        yield f"static const unsigned char data_{number}_{position}[] = {{{content}}};"
    yield f"static void call_{number}(void) {{"
    for position, array in enumerate(arrays):
        yield f"    void *in_{position} = kept(data_{number}_{position}, {array.nbytes});"
    outputs = call.outputs()
    for position, array in enumerate(outputs.values()):
        yield f"    void *out_{position} = kept(NULL, {array.nbytes});"
    buffers = [f"in_{position}" for position in range(len(arrays))] + [f"out_{each}" for each in range(len(outputs))]
    given = ", ".join([*map(str, call.sizes), *buffers])
    yield f"    fputc({names.function(call.function)}({given}), stdout);"
    yield from (f"    free(in_{position});" for position in range(len(arrays)))
    yield from (f"    print(out_{position}, {array.nbytes});" for position, array in enumerate(outputs.values()))
    yield "}\n"


def check_output(calls: Sequence[Call], printed: bytes) -> None:
    """What the program printed is what the reference gives."""
    at = 0
    for call in calls:
        assert printed[at] == 0, f"{call.function.name} at {call.sizes} returned {printed[at]}"
        at, found = at + 1, {}
        for name, array in call.outputs().items():
            found[name] = (
                np.frombuffer(printed, array.dtype, array.size, at).reshape(array.shape) if array.size else array
            )
            at += array.nbytes
        call.check(found)
    assert at == len(printed)


def run(command: Sequence[str | Path], folder: Path, **environment: str) -> bytes:
    """What a command prints; its errors where it fails."""
    import os

    done = subprocess.run(
        [str(each) for each in command], cwd=folder, capture_output=True, check=False, env={**os.environ, **environment}
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stderr.decode(errors='replace')}"
    return done.stdout
