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
        return tuple(_line(_KINDS.get(self.triple.partition("-")[0], "cpu")))

    def features(self, level: Target) -> frozenset[str]:
        """The features of a level, as LLVM names them."""
        return frozenset(each[1:] for each in level.features.split(",") if each.startswith("+"))


_KINDS = {
    "x86_64": "x86", "i686": "x86", "aarch64": "aarch64", "arm64": "aarch64", "riscv64": "riscv", "riscv32": "riscv",
    "wasm32": "wasm", "wasm64": "wasm",
}  # fmt: skip

_V2 = "+cx16,+sahf,+popcnt,+sse3,+sse4.1,+sse4.2,+ssse3,+sse,+sse2,+mmx,+fxsr,+cx8"
_V3 = f"{_V2},+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave"
_V4 = f"{_V3},+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl,-prefer-256-bit"
_LINUX = "unknown-linux-gnu"
_NAMED: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "x86-64": (f"x86_64-{_LINUX}", (("x86-64-v2", _V2), ("x86-64-v3", _V3), ("x86-64-v4", _V4))),
    "x86-64-v2": (f"x86_64-{_LINUX}", (("x86-64-v2", _V2),)),
    "x86-64-v3": (f"x86_64-{_LINUX}", (("x86-64-v3", _V3),)),
    "x86-64-v4": (f"x86_64-{_LINUX}", (("x86-64-v4", _V4),)),
    "aarch64": (f"aarch64-{_LINUX}", (("generic", "+neon,+fp-armv8"),)),
    "riscv64": (f"riscv64-{_LINUX}", (("generic-rv64", "+m,+a,+f,+d,+c"),)),
    "wasm32": ("wasm32-unknown-unknown", (("generic", "+simd128,+bulk-memory"),)),
    "armv7-m": ("thumbv7m-none-eabi", (("cortex-m3", ""),)),
}
NAMES = ("host", *_NAMED)


def find_target(name: str) -> BuildTarget:
    """The target of a name or a triple. Raises TargetError."""
    version = host().llvm_version
    if name == "host":
        return BuildTarget(name, (host(),))
    if name in _NAMED:
        triple, levels = _NAMED[name]
        return BuildTarget(name, tuple(Target(triple, cpu, features, version) for cpu, features in levels))
    if "-" in name and _knows(name):
        return BuildTarget(name, (Target(name, "", "", version),))
    close = get_close_matches(name, NAMES, 1)
    known = f"there are {', '.join(NAMES)}, and triples such as aarch64-linux-gnu"
    raise TargetError(f"there is no target `{name}`", f"did you mean `{close[0]}`? {known}" if close else known)


def _knows(triple: str) -> bool:
    llvm = binding()
    llvm.initialize_all_targets()
    try:
        llvm.Target.from_triple(triple)
    except RuntimeError:
        return False
    return triple.partition("-")[0] in _KINDS or triple.startswith(("arm", "thumb", "i386", "i586"))


def _line(kind: str) -> Iterator[str]:
    each: str | None = kind
    while each is not None:
        yield each
        each = KINDS[each]


def _system(triple: str) -> tuple[str, str]:
    architecture, _, rest = triple.partition("-")
    return architecture, next((each for each in ("linux", "darwin", "windows") if each in rest), rest)
