"""What a library is built for: a name of the command line, as LLVM and schedules know it.

    host            this machine
    x86-64          the levels v2, v3 and v4 in one library, which chooses when it is loaded
    x86-64-v3       one level; also x86-64-v2, x86-64-v4
    aarch64  riscv64  wasm32  armv7-m
    a triple        as `aarch64-linux-gnu`: what LLVM takes for a plain machine of that kind

The widths, registers and caches of the named ones are in `std/`: `import std.x86_64_v3`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from tdl.compiler.backends.llvm.target import Target, binding, host
from tdl.language import syntax
from tdl.language.analysis import analyse, standard
from tdl.language.hardware import TARGETS as KINDS


class TargetError(ValueError):
    """A target that is not known; `remedy` says what is."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class BuildTarget:
    """`levels` are machines of one triple, the plainest first; with several, the library chooses at run time."""

    name: str
    levels: tuple[Target, ...]
    own: str | None = None
    """The target of the language that it is, where it is one: schedules may be for that alone."""

    @property
    def triple(self) -> str:
        return self.levels[0].triple

    @property
    def is_host(self) -> bool:
        """Whether this machine's operating system can load what is built."""
        return _system(self.triple) == _system(host().triple)

    @property
    def kinds(self) -> tuple[str, ...]:
        """What the target is to schedules, the most specific first."""
        line = tuple(_line(_KINDS.get(self.triple.partition("-")[0], "cpu")))
        return line if self.own is None or self.own in line else (self.own, *line)

    def features(self, level: Target) -> frozenset[str]:
        """The features of a level, as LLVM names them."""
        return frozenset(each[1:] for each in level.features.split(",") if each.startswith("+"))


_KINDS = {
    "x86_64": "x86", "i686": "x86", "aarch64": "aarch64", "arm64": "aarch64", "riscv64": "riscv", "riscv32": "riscv",
    "wasm32": "wasm", "wasm64": "wasm",
}  # fmt: skip

_LINUX = "unknown-linux-gnu"


@dataclass(frozen=True, slots=True)
class _Named:
    """A target of the command line: modules of the standard library that declare its levels, and LLVM's names for them.

    `more` are features that are no names in the language.
    """

    triple: str
    levels: tuple[tuple[str, str], ...]
    more: str = ""


_V2, _V3, _V4 = (f"x86-64-v{number}" for number in (2, 3, 4))
_X86 = f"x86_64-{_LINUX}"
_NAMED = {
    "x86-64": _Named(_X86, (("x86_64_v2", _V2), ("x86_64_v3", _V3), ("x86_64_v4", _V4)), "+sse4.2,-prefer-256-bit"),
    _V2: _Named(_X86, (("x86_64_v2", _V2),), "+sse4.2"),
    _V3: _Named(_X86, (("x86_64_v3", _V3),), "+sse4.2"),
    _V4: _Named(_X86, (("x86_64_v4", _V4),), "+sse4.2,-prefer-256-bit"),
    "aarch64": _Named(f"aarch64-{_LINUX}", (("armv8a", "generic"),)),
    "riscv64": _Named(f"riscv64-{_LINUX}", (("rv64gc", "generic-rv64"),)),
    # LLVM 22 compares vectors of more than 16 lanes wrongly for wasm: no +simd128.
    "wasm32": _Named("wasm32-unknown-unknown", (("wasm32", "generic"),), "+bulk-memory"),
    "armv7-m": _Named("thumbv7m-none-eabi", (("armv7m", "cortex-m3"),)),
}
NAMES = ("host", *_NAMED)

_OTHERS = ("arm", "thumb", "i386", "i586", "powerpc64", "loongarch64", "s390x", "mips64")
"""Processors that LLVM makes code for and schedules have no name for."""


def find_target(name: str) -> BuildTarget:
    """The target of a name or a triple. Raises TargetError."""
    version = host().llvm_version
    if name == "host":
        return BuildTarget(name, (host(),))
    if name in _NAMED:
        named = _NAMED[name]
        levels = [
            Target(named.triple, cpu, ",".join((*_features(module), *filter(None, [named.more]))), version)
            for module, cpu in named.levels
        ]
        own = named.levels[0][0] if len(levels) == 1 else None
        return BuildTarget(name, tuple(levels), own)
    if "-" in name and _knows(name):
        return BuildTarget(name, (Target(name, "", "", version),))
    close = get_close_matches(name, NAMES, 1)
    known = f"there are {', '.join(NAMES)}, and triples such as aarch64-linux-gnu"
    raise TargetError(f"there is no target `{name}`", f"did you mean `{close[0]}`? {known}" if close else known)


def _features(module: str) -> list[str]:
    """The features of the target that a module of the standard library declares, as LLVM takes them."""
    source = standard(f"std.{module}")
    assert source is not None
    for entry in analyse(source).module.entries:
        item = entry.declaration.item
        if isinstance(item, syntax.TargetItem):
            named = [line for line in item.body if isinstance(line, syntax.Property) and line.name.text == "features"]
            return [f"+{value.text}" for line in named for value in line.values if isinstance(value, syntax.Ref)]
    return []


def _knows(triple: str) -> bool:
    llvm = binding()
    llvm.initialize_all_targets()
    try:
        llvm.Target.from_triple(triple)
    except RuntimeError:
        return False
    return triple.partition("-")[0] in _KINDS or triple.startswith(_OTHERS)


def _line(kind: str) -> Iterator[str]:
    each: str | None = kind
    while each is not None:
        yield each
        each = KINDS[each]


def _system(triple: str) -> tuple[str, str]:
    architecture, _, rest = triple.partition("-")
    return architecture, next((each for each in ("linux", "darwin", "windows") if each in rest), rest)
