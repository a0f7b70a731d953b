"""Line tables: each instruction says which line of the `.tdl` file it is for, as LLVM's debug metadata.

    %v.7 = fmul float %v.5, %v.6, !dbg !9           !9 = !DILocation(line: 3, column: 5, scope: !8)

They change no instruction. What is inlined keeps the line of its own function.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from tdl.compiler.kernel.tree import Origin
from tdl.compiler.lines import Lines


@dataclass
class DebugLines:
    """Writes metadata into `metadata`, whose entries count from !1."""

    lines: Lines
    metadata: list[str]
    written: dict[str, str] = field(default_factory=dict)

    def function(self, name: str) -> str:
        """The subprogram of a function."""
        op = name.partition(".")[0]
        line = self.lines.first
        kind = self._node(f"!DISubroutineType(types: {self._node('!{null}')})")
        return self._node(
            f'distinct !DISubprogram(name: "{op}", linkageName: "{name}", scope: {self._file()}, file: {self._file()}, '
            f"line: {line}, type: {kind}, scopeLine: {line}, spFlags: DISPFlagDefinition | DISPFlagOptimized, "
            f"unit: {self._unit()})"
        )

    def location(self, origin: Origin, function: str) -> str:
        """What goes behind an instruction of a function."""
        line, column = self.lines.place(origin)
        return f", !dbg {self._node(f'!DILocation(line: {line}, column: {column}, scope: {function})')}"

    def module(self) -> list[str]:
        """The named metadata of the module; after all functions."""
        unit = self._unit()
        version = self._node('!{i32 2, !"Debug Info Version", i32 3}')
        dwarf = self._node('!{i32 7, !"Dwarf Version", i32 4}')
        return [f"!llvm.dbg.cu = !{{{unit}}}", f"!llvm.module.flags = !{{{version}, {dwarf}}}"]

    def _unit(self) -> str:
        return self._node(
            f'distinct !DICompileUnit(language: DW_LANG_C99, file: {self._file()}, producer: "tdl", isOptimized: true, '
            "runtimeVersion: 0, emissionKind: LineTablesOnly)"
        )

    def _file(self) -> str:
        folder, name = os.path.split(os.path.abspath(self.lines.path))
        return self._node(f"!DIFile(filename: {_quoted(name)}, directory: {_quoted(folder)})")

    def _node(self, text: str) -> str:
        """The number of a node, which is written where it is new."""
        found = self.written.get(text)
        if found is None:
            found = self.written[text] = f"!{len(self.metadata) + 1}"
            self.metadata.append(f"{found} = {text}")
        return found


def _quoted(text: str) -> str:
    """A string as LLVM reads it: odd bytes by their numbers."""
    shown = (chr(each) if 32 <= each < 127 and each not in b'"\\' else f"\\{each:02X}" for each in text.encode())
    return f'"{"".join(shown)}"'
