"""The files of a library, by what is asked for: each a name and its content.

so      libNAME.so (NAME.wasm), and the header      llvm    NAME.ll
obj     NAME.o, and the header                      asm     NAME.s
c       NAME.c, and the header                      header  NAME.h
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from tdl.compiler.library.interface import Names, header_text
from tdl.compiler.library.link import BuildError as BuildError
from tdl.compiler.library.link import library_file, linked
from tdl.compiler.library.plan import Library
from tdl.compiler.library.python import package_text
from tdl.compiler.library.target import BuildTarget

if TYPE_CHECKING:
    from tdl.compiler.backends.llvm.library import Code

Files = dict[str, bytes]


class Build:
    """A library for a target. Code is made once, whatever is asked for."""

    def __init__(self, library: Library, target: BuildTarget, linker: str | None = None) -> None:
        self.library, self.target, self.linker = library, target, linker
        self.name = library.name

    @cached_property
    def code(self) -> Code:
        from tdl.compiler.backends.llvm.library import library_code

        return library_code(self.library, self.target)

    @cached_property
    def has_threads(self) -> bool:
        """Whether compiled code has threads of its own."""
        from tdl.compiler.backends.llvm.pool import has_threads

        return has_threads(self.target.triple)

    @cached_property
    def linked(self) -> tuple[str, bytes]:
        file = library_file(self.name, self.target)
        public = Names(self.library).public(self.library, has_threads=self.has_threads)
        return file, linked(self.code.object(), file, self.target, public, self.linker)

    def header(self) -> Files:
        return {f"{self.name}.h": header_text(self.library, has_threads=self.has_threads).encode()}

    def c(self) -> Files:
        from tdl.compiler.backends.c.library import library_text

        return {f"{self.name}.c": library_text(self.library, has_threads=self.has_threads).encode(), **self.header()}

    def so(self) -> Files:
        file, content = self.linked
        return {file: content, **self.header()}

    def obj(self) -> Files:
        return {f"{self.name}.o": self.code.object(), **self.header()}

    def python(self) -> Files:
        if not self.target.is_host:
            raise BuildError(
                f"a Python package for {self.target.name} would not load here",
                "build it on such a machine: --target host",
            )
        file, content = self.linked
        return {f"{self.name}/__init__.py": package_text(self.library, file).encode(), f"{self.name}/{file}": content}

    def llvm(self) -> Files:
        return {f"{self.name}.ll": self.code.llvm().encode()}

    def asm(self) -> Files:
        return {f"{self.name}.s": self.code.assembly().encode()}


EMITS: dict[str, Callable[[Build], Files]] = {
    "so": Build.so,
    "obj": Build.obj,
    "header": Build.header,
    "c": Build.c,
    "llvm": Build.llvm,
    "asm": Build.asm,
    "python": Build.python,
}


def build_files(library: Library, target: BuildTarget, emits: Sequence[str], linker: str | None = None) -> Files:
    """Everything that is asked for; names are relative to the directory. Raises BuildError."""
    build, files = Build(library, target, linker), Files()
    for emit in emits:
        files |= EMITS[emit](build)
    return files
