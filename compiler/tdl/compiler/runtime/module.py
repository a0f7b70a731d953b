"""`load`: a `.tdl` file as a Python object with a function for each op.

m = load("dense.tdl")
Y = m.dense_relu(X, W, b)
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from tdl.compiler.runtime.op import Op
from tdl.language.analysis import Analysis, analyse
from tdl.language.diagnostic import Diagnostic
from tdl.language.source import Source


class ProgramError(ValueError):
    """A file that does not check. The message shows every error as `tdlc check` does."""

    def __init__(self, source: Source, diagnostics: tuple[Diagnostic, ...]) -> None:
        from tdl.language.render import plain, render

        errors = [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]
        super().__init__("\n\n".join(plain(render(error, source)) for error in errors))
        self.diagnostics = diagnostics


class Module:
    """The ops of a checked file, as attributes and by name: `m.softmax`, `m["softmax"]`, `for name in m`."""

    def __init__(self, analysis: Analysis) -> None:
        self._path = analysis.source.path
        self._ops = {name: Op(declaration) for name, declaration in analysis.module.ops.items()}

    def __getattr__(self, name: str) -> Op:
        if name.startswith("_") or name not in self._ops:
            close = get_close_matches(name, self._ops, 1)
            hint = f"; did you mean {close[0]}?" if close else f"; it has {', '.join(self._ops) or 'none'}"
            raise AttributeError(f"{self._path} has no op {name}{hint}")
        return self._ops[name]

    def __getitem__(self, name: str) -> Op:
        return self._ops[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ops)

    def __contains__(self, name: object) -> bool:
        return name in self._ops

    def __len__(self) -> int:
        return len(self._ops)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._ops]

    def __repr__(self) -> str:
        return f"<tdl module {self._path}: {', '.join(self._ops) or 'no ops'}>"


def load(source: str | os.PathLike[str] | Source) -> Module:
    """Check a file, by its path or as a `Source` with its text, and make its ops callable.

    Raises OSError where the file cannot be read, ProgramError where it has errors. An op is compiled when it is called.
    """
    if not isinstance(source, Source):
        path = os.fspath(source)
        try:
            source = Source(path, Path(path).read_text(encoding="utf-8-sig"))
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is not UTF-8 text: {error}") from None
    analysis = analyse(source)
    if analysis.has_errors:
        raise ProgramError(source, analysis.diagnostics)
    return Module(analysis)
