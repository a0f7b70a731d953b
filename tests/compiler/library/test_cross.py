"""Libraries for other machines: emulated, in node, under valgrind, or linked. A skip names what is missing."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from tdl.compiler.library.interface import Names
from tdl.compiler.library.target import find_target

from tests.compiler.backends.c.native import COMPILER
from tests.compiler.library.harness import Call, build, calls_of, check_output, main_text, planned, run
from tests.test_programs import PROGRAMS

pytestmark = [
    pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:Degrees of freedom"),
]

EMULATED = {
    "aarch64": ("aarch64-linux-gnu-gcc", "qemu-aarch64", "/usr/aarch64-linux-gnu"),
    "riscv64": ("riscv64-linux-gnu-gcc", "qemu-riscv64", "/usr/riscv64-linux-gnu"),
}


def needs(*tools: str) -> None:
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


def programs(*quick: str) -> pytest.MarkDecorator:
    found = [
        pytest.param(path, id=path.stem, marks=() if path.stem in quick else pytest.mark.nightly) for path in PROGRAMS
    ]
    return pytest.mark.parametrize("path", found)


def built(path: Path, name: str, emits: list[str], folder: Path, most: int = 4) -> tuple[str, list[Call]]:
    """A library in a folder, with a program that calls it a few times."""
    target = find_target(name)
    library = planned(path, target)
    build(library, target, emits, folder)
    calls = calls_of(path, library, most)
    (folder / "main.c").write_text(main_text(library, calls))
    return library.name, calls


@pytest.mark.parametrize("machine", EMULATED)
@programs("schedules")
def test_emulated(path: Path, machine: str, tmp_path: Path) -> None:
    compiler, emulator, system = EMULATED[machine]
    needs(compiler, emulator)
    name, calls = built(path, machine, ["obj"], tmp_path)
    run([compiler, "main.c", f"{name}.o", "-lm", "-lpthread", "-o", "main"], tmp_path)
    for threads in ("1", "2"):
        check_output(calls, run([emulator, "-L", system, "./main"], tmp_path, TDL_NUM_THREADS=threads))


@pytest.mark.parametrize("machine", EMULATED)
def test_c_of_another_machine(machine: str, tmp_path: Path) -> None:
    compiler, emulator, system = EMULATED[machine]
    needs(compiler, emulator)
    name, calls = built(next(path for path in PROGRAMS if path.stem == "reduce"), machine, ["c"], tmp_path)
    run([compiler, "-O1", "main.c", f"{name}.c", "-lm", "-o", "main"], tmp_path)
    check_output(calls, run([emulator, "-L", system, "./main"], tmp_path))


@pytest.mark.parametrize("machine", EMULATED)
def test_a_shared_library_of_another_machine(machine: str, tmp_path: Path) -> None:
    needs(EMULATED[machine][0])
    name, _ = built(next(path for path in PROGRAMS if path.stem == "dense"), machine, ["so"], tmp_path)
    assert (tmp_path / f"lib{name}.so").read_bytes()[:4] == b"\x7fELF"


@programs("schedules")
def test_under_valgrind(path: Path, tmp_path: Path) -> None:
    """An x86-64-v3 build; and one for every level, which then runs at the highest that valgrind has."""
    needs("valgrind", str(COMPILER))
    for target in ("x86-64-v3", "x86-64"):
        folder = tmp_path / target
        folder.mkdir()
        name, calls = built(path, target, ["obj"], folder)
        run([COMPILER, "-g", "main.c", f"{name}.o", "-lm", "-lpthread", "-o", "main"], folder)
        checks = ("--error-exitcode=9", "--quiet", "--leak-check=no")
        check_output(calls, run(["valgrind", *checks, "./main"], folder, TDL_NUM_THREADS="1"))


def test_the_library_takes_the_processors_level(tmp_path: Path) -> None:
    needs(str(COMPILER))
    path = next(path for path in PROGRAMS if path.stem == "dense")
    name, calls = built(path, "x86-64", ["obj", "asm"], tmp_path)
    run([COMPILER, "main.c", f"{name}.o", "-lm", "-lpthread", "-o", "main"], tmp_path)
    check_output(calls, run(["./main"], tmp_path))
    assembly = (tmp_path / f"{name}.s").read_text()
    assert {"%xmm", "%ymm", "%zmm"} <= {register[:4] for register in re.findall(r"%[xyz]mm", assembly)}
    assert "cpuid" in assembly


def test_microcontroller_objects_link(tmp_path: Path) -> None:
    needs("arm-none-eabi-gcc")
    path = next(path for path in PROGRAMS if path.stem == "normalise")
    name, _ = built(path, "armv7-m", ["obj", "c"], tmp_path, most=1)
    options = ["-mcpu=cortex-m3", "-mthumb", "--specs=nosys.specs"]
    run(["arm-none-eabi-gcc", *options, "main.c", f"{name}.o", "-lm", "-o", "by-llvm.elf"], tmp_path)
    flags = [*options, "-std=c11", "-Wall", "-Wextra", "-Werror", "-DTDL_NO_MALLOC"]
    run(["arm-none-eabi-gcc", *flags, "-c", f"{name}.c", "-o", "from-c.o"], tmp_path)
    run(["arm-none-eabi-gcc", *options, "main.c", "from-c.o", "-lm", "-o", "from-c.elf"], tmp_path)


NODE = """
const fs = require("fs");
const calls = JSON.parse(fs.readFileSync("calls.json"));
let memory, top;
const math = {};
for (const name of ["exp", "log", "tanh", "sin", "cos", "pow"]) {
  math[name] = Math[name];
  math[name + "f"] = (...x) => Math.fround(Math[name](...x));
}
const allocate = (bytes) => {
  const at = (top + 15) & ~15;
  top = at + bytes;
  while (top > memory.buffer.byteLength) memory.grow(16);
  return at;
};
const erf = (x) => {   // a series; for what tests ask it is exact enough
  let sum = x, term = x;
  for (let n = 1; n < 200; ++n) { term *= -x * x / n; sum += term / (2 * n + 1); }
  return Math.abs(x) > 5 ? Math.sign(x) : 2 / Math.sqrt(Math.PI) * sum;
};
const env = { ...math, erf, erff: (x) => Math.fround(erf(x)), fmod: (a, b) => a % b, fmodf: (a, b) => a % b,
  malloc: allocate, free: () => {} };
const library = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(process.argv[2])), { env }).exports;
memory = library.memory;
top = library.__heap_base.value;
for (const call of calls) {
  const inputs = call.inputs.map((text) => {
    const bytes = Buffer.from(text, "base64"), at = allocate(bytes.length);
    new Uint8Array(memory.buffer).set(bytes, at);
    return at;
  });
  const outputs = call.outputs.map(allocate);
  const code = library[call.name](...call.sizes.map(BigInt), ...inputs, ...outputs);
  process.stdout.write(Buffer.from([code]));
  outputs.forEach((at, each) => process.stdout.write(Buffer.from(memory.buffer.slice(at, at + call.outputs[each]))));
}
"""


@programs("dense")
def test_in_node(path: Path, tmp_path: Path) -> None:
    import base64

    needs("wasm-ld", "node")
    name, calls = built(path, "wasm32", ["so"], tmp_path)
    library = planned(path, find_target("wasm32"))

    def text(array: np.ndarray) -> str:
        return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()

    told = [
        {
            "name": Names(library).function(call.function),
            "sizes": list(map(str, call.sizes)),
            "inputs": list(map(text, call.inputs.values())),
            "outputs": [array.nbytes for array in call.outputs().values()],
        }
        for call in calls
    ]
    (tmp_path / "calls.json").write_text(json.dumps(told))
    (tmp_path / "run.js").write_text(NODE)
    check_output(calls, run(["node", "run.js", f"{name}.wasm"], tmp_path))
