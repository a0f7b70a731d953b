"""The object cache: whatever is wrong with a file, the op runs right, and a good file is used."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from tdl.compiler.backends.llvm.target import host
from tdl.compiler.runtime import cache, compile

IR = "define i32 @answer() {\n  ret i32 42\n}\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TDL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(compile, "_linked", {})
    return tmp_path / "cache"


@pytest.fixture
def compiled(monkeypatch):
    """How often LLVM was asked to compile."""
    calls = []
    real = compile.object_code
    monkeypatch.setattr(compile, "object_code", lambda ir, target: calls.append(ir) or real(ir, target))
    return calls


def answer() -> int:
    import ctypes

    compile._linked.clear()
    return ctypes.CFUNCTYPE(ctypes.c_int32)(compile.load_text(IR, ("answer",))["answer"])()


def test_compiled_once_and_then_read(folder, compiled):
    assert [answer(), answer(), answer()] == [42, 42, 42]
    assert len(compiled) == 1
    (file,) = folder.iterdir()
    assert file.read_bytes().startswith(b"TDL object 1\n")


def spoil_bit(data: bytes) -> bytes:
    return data[:-20] + bytes([data[-20] ^ 1]) + data[-19:]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"",
        lambda data: data[:7],
        lambda data: data[:60],
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: data + b"\0",
        spoil_bit,
        lambda data: b"ELF" + data[3:],
        lambda data: os.urandom(len(data)),
    ],
    ids=["empty", "mark cut", "head cut", "half", "one byte short", "one byte long", "a bit", "other mark", "noise"],
)
def test_a_spoiled_file_is_compiled_again(folder, compiled, spoil):
    assert answer() == 42
    (file,) = folder.iterdir()
    file.write_bytes(spoil(file.read_bytes()))
    assert answer() == 42
    assert len(compiled) == 2
    assert answer() == 42
    assert len(compiled) == 2


def test_a_file_of_something_else_is_not_taken(folder, compiled):
    """Under a wrong name, and under the right name with a right checksum but no code in it."""
    key, other = cache.cache_key(IR, host()), cache.cache_key(IR + ";", host())
    cache.write(other, b"code")
    os.rename(folder / f"{other}.o", folder / f"{key}.o")
    assert cache.read(key) is None
    cache.write(key, b"not an object file")
    assert answer() == 42
    assert len(compiled) == 1


def test_another_machine_has_another_key():
    here = host()
    others = [replace(here, cpu="other"), replace(here, features="+other"), replace(here, llvm_version="1.0")]
    assert len({cache.cache_key(IR, target) for target in [here, *others]}) == 4


@pytest.mark.parametrize("place", ["file", "missing parent is a file", "read-only"])
def test_a_folder_that_cannot_be_used(tmp_path, monkeypatch, compiled, place):
    folder = tmp_path / "cache"
    if place == "read-only":
        folder.mkdir(mode=0o500)
        if os.access(folder, os.W_OK):  # as root, permissions stop nobody
            folder.chmod(0o700)
            folder.rmdir()
            folder.write_text("")
    else:
        folder.write_text("")
    monkeypatch.setenv("TDL_CACHE_DIR", str(folder / "below" if place.startswith("missing") else folder))
    assert answer() == 42
    assert answer() == 42
    assert len(compiled) == 2


def test_threads_at_once(folder):
    """One text, asked for by many threads, is one address; different ones do not disturb each other."""
    texts = [f"define i32 @answer() {{\n  ret i32 {number}\n}}\n" for number in range(4)]
    barrier = threading.Barrier(8)

    def run(number: int) -> int:
        barrier.wait()
        return compile.load_text(texts[number % 4], ("answer",))["answer"]

    with ThreadPoolExecutor(8) as pool:
        addresses = list(pool.map(run, range(8)))
    assert len(set(addresses)) == 4
    assert addresses[:4] == addresses[4:]
    assert len(list(folder.iterdir())) == 4


PROCESS = """
import numpy as np
from tdl.compiler import load
from tdl.language.source import Source
f = load(Source("t.tdl", "op f(x: f32[N]) -> y: f32 { y = sum(x[i]*x[i] for i) }")).f
print(f(np.ones(100, np.float32)))
"""


def test_processes_at_once(folder):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    running = [
        subprocess.Popen([sys.executable, "-c", PROCESS], stdout=subprocess.PIPE, env=environment, text=True)
        for _ in range(3)
    ]
    assert [process.communicate(timeout=60)[0].strip() for process in running] == ["100.0"] * 3
    assert all(file.suffix == ".o" for file in folder.iterdir())


def test_results_are_the_same_from_the_cache(folder, load_text):
    text = "op f(x: f32[N]) -> y: f32[N] { y[i] = exp(x[i]) * sum(x[j] for j) }"
    x = np.linspace(-1, 1, 50, dtype=np.float32)
    first = load_text(text).f(x)
    compile._linked.clear()
    np.testing.assert_array_equal(load_text(text).f(x), first)
