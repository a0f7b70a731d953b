"""From an object file to a library that a program loads: by whatever linker this machine has for the target.

Linux, other ELF    a C compiler for the target, so that libm and libc are named; else LLVM's linker
wasm                wasm-ld, with the public functions exported, and what is missing imported from `env`
macOS               a C compiler
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tdl.compiler.library.target import BuildTarget


class BuildError(Exception):
    """What keeps a file from being made; `remedy` says what would help."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


def library_file(name: str, target: BuildTarget) -> str:
    """What the linked library is called. Raises BuildError for a target that has no such thing."""
    if target.triple.startswith("wasm"):
        return f"{name}.wasm"
    if _is_bare(target):
        raise BuildError(f"programs for {target.name} load no libraries", "--emit obj, or c, is linked into a program")
    return f"lib{name}.{'dylib' if _is_apple(target) else 'so'}"


def linked(code: bytes, file: str, target: BuildTarget, public: Sequence[str], linker: str | None = None) -> bytes:
    """The library's content. `linker` is a command to use in place of those that are looked for."""
    with tempfile.TemporaryDirectory(prefix="tdl-link-") as folder:
        given, made = Path(folder, "library.o"), Path(folder, file)
        given.write_bytes(code)
        command = _command(target, linker)
        options = list(_options(command[0], file, target, public))
        try:
            done = subprocess.run(
                [*command, *options, str(given), "-o", str(made), *_libraries(command[0])],
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
        except OSError as error:
            raise BuildError(f"{command[0]} cannot be run: {error.strerror}", _remedy(target)) from None
        if done.returncode or not made.exists():
            said = (done.stderr or done.stdout).strip().splitlines() or ["it says nothing"]
            raise BuildError(f"{shlex.join(command)} could not link {file}: {said[-1]}", _remedy(target))
        return made.read_bytes()


def _command(target: BuildTarget, linker: str | None) -> list[str]:
    if linker is not None:
        command = shlex.split(linker)
        if not command or shutil.which(command[0]) is None:
            raise BuildError(f"there is no linker `{linker}`", _remedy(target))
        return command
    for candidate in _candidates(target):
        if shutil.which(candidate[0]) is not None:
            return candidate
    names = ", ".join(each[0] for each in _candidates(target))
    raise BuildError(f"no linker for {target.name} was found (looked for {names})", _remedy(target))


def _candidates(target: BuildTarget) -> Iterator[list[str]]:
    if target.triple.startswith("wasm"):
        yield ["wasm-ld"]
        return
    if target.is_host:
        yield from (["cc"], ["gcc"], ["clang"])
    architecture = target.triple.partition("-")[0]
    if not _is_apple(target):
        yield [f"{architecture}-linux-gnu-gcc"]
        yield ["ld.lld"]


def _remedy(target: BuildTarget) -> str:
    if target.triple.startswith("wasm"):
        return "install LLVM's linker (wasm-ld, in the package lld), or name one: --linker CMD; --emit obj needs none"
    if target.is_host:
        return "install gcc or clang, or LLVM's linker (lld), or name one: --linker CMD; --emit obj needs none"
    compiler = f"{target.triple.partition('-')[0]}-linux-gnu-gcc"
    return f"install {compiler}, or LLVM's linker (lld), or name one: --linker CMD; --emit obj needs none"


def _options(linker: str, file: str, target: BuildTarget, public: Sequence[str]) -> Iterator[str]:
    if target.triple.startswith("wasm"):
        yield from ("--no-entry", "--allow-undefined", "--export=__heap_base", *(f"--export={name}" for name in public))
    elif _is_apple(target):
        yield "-dynamiclib"
    elif Path(linker).name.startswith(("ld", "lld")):
        yield from ("-shared", f"--soname={file}")
    else:
        yield from ("-shared", f"-Wl,-soname,{file}")


def _libraries(linker: str) -> list[str]:
    """What the library uses; a bare linker does not know where that is, and leaves it to the program."""
    return [] if Path(linker).name.startswith(("ld", "lld", "wasm")) else ["-lm", "-lpthread"]


def _is_apple(target: BuildTarget) -> bool:
    return any(each in target.triple for each in ("darwin", "macos"))


def _is_bare(target: BuildTarget) -> bool:
    return "none" in target.triple.split("-")
