"""`load`: a `.tdl` file as a Python object with a function for each op.

m = load("dense.tdl")
Y = m.dense_relu(X, W, b)
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

from tdl.compiler.runtime.op import Op
from tdl.compiler.runtime.scheduled import FindSource, find_source
from tdl.compiler.schedule.check import diagnose
from tdl.compiler.schedule.choose import schedules_of
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
    """The ops of a checked file, as attributes and by name: `m.softmax`, `m["softmax"]`, `for name in m`.

    `m.dense_pack_W(W)` is `m.dense.pack("W", W)`.
    """

    def __init__(self, analysis: Analysis, schedules: bool = True) -> None:
        self._path = analysis.source.path
        self._ops = {
            name: Op(op, schedules_of(op, analysis.module.schedules) if schedules else (), _finder(analysis.source))
            for name, op in analysis.module.ops.items()
        }

    def __getattr__(self, name: str) -> Any:
        op, packs, tensor = name.rpartition("_pack_")
        if packs and name not in self._ops and op in self._ops:
            return partial(self._ops[op].pack, tensor)
        if name.startswith("_") or name not in self._ops:
            close = get_close_matches(name, self._ops, 1)
            hint = f"; did you mean {close[0]}?" if close else f"; it has {', '.join(self._ops) or 'none'}"
            raise AttributeError(f"{self._path} has no op {name}{hint}")
        return self._ops[name]

    def __getitem__(self, name: str) -> Op:
        return self._ops[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ops)

    def values(self) -> Iterator[Op]:
        """Every op."""
        return iter(self._ops.values())

    def __contains__(self, name: object) -> bool:
        return name in self._ops

    def __len__(self) -> int:
        return len(self._ops)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._ops]

    def __repr__(self) -> str:
        return f"<tdl module {self._path}: {', '.join(self._ops) or 'no ops'}>"


def load(source: str | os.PathLike[str] | Source, *, schedules: bool = True) -> Module:
    """Check a file, by its path or as a `Source` with its text, and make its ops callable.

    Ops run under the file's schedules unless `schedules` is False: results are the same, up to the rounding of sums.
    Raises OSError where the file cannot be read, ProgramError where it has errors, refused lines of schedules among
    them. An op is compiled when it is called; where a line is legal or not by the sizes of a call, that call raises
    ScheduleError.
    """
    if not isinstance(source, Source):
        path = os.fspath(source)
        try:
            source = Source(path, Path(path).read_text(encoding="utf-8-sig"))
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is not UTF-8 text: {error}") from None
    analysis = analyse(source)
    diagnostics = diagnose(analysis) if schedules else analysis.diagnostics
    if any(diagnostic.severity == "error" for diagnostic in diagnostics):
        raise ProgramError(source, diagnostics)
    return Module(analysis, schedules)


def _finder(source: Source) -> FindSource:
    return lambda path: source if path == source.path else find_source(path)
