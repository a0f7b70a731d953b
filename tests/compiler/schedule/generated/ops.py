"""Random ops as text: a few stages of random kinds, each reading what the one before made.

    op f(X: i32[M, N], X1: i32[N, K]) -> Y: i32[M, K] where M >= 1 {
        T1[i, j] = X[i, j] * 3 + X[i - 1, j | edge]        stencil
        Y[i, j]  = sum(T1[i, k] * X1[k, j] for k)          contraction
    }

Everything follows from the generator that is given, so a seed means an op. What a kind writes is in `kinds.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

DTYPES = ("i32",) * 9 + ("i64",) * 3 + ("i16",) * 2 + ("u8",) + ("f64",) * 3 + ("f32",) * 2
SIZES = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16)
MOST_ELEMENTS = 100  # of one tensor, so that a nest runs in milliseconds


@dataclass(frozen=True)
class Array:
    """A tensor and its shape in text: names of dimensions, numbers, `M - 2`."""

    name: str
    dims: tuple[str, ...]
    dtype: str


@dataclass(frozen=True)
class RandomOp:
    """An op's text, the kinds of its stages, and what its sizes and inputs must be like.

    `indices` are inputs that hold subscripts, with the dimension that they stay below; `offsets` those that ascend from
    0 to a dimension. `facts` are conditions on the sizes, as text that Python reads too.
    """

    text: str
    kinds: tuple[str, ...]
    dims: tuple[str, ...]
    facts: tuple[str, ...]
    indices: tuple[tuple[str, str], ...] = ()
    offsets: tuple[tuple[str, str], ...] = ()
    is_exact: bool = True
    """Whether results are equal to the bit in whatever order a reduction runs."""

    def admits(self, sizes: dict[str, int]) -> bool:
        return all(eval(fact, {"__builtins__": {}}, dict(sizes)) for fact in self.facts)


@dataclass
class Builder:
    """An op being written."""

    rng: Random
    dtype: str
    inputs: list[str] = field(default_factory=list)
    arrays: list[Array] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    outputs: list[Array] = field(default_factory=list)
    reducers: list[str] = field(default_factory=list)
    indices: list[tuple[str, str]] = field(default_factory=list)
    offsets: list[tuple[str, str]] = field(default_factory=list)
    is_exact: bool = True
    last: bool = False
    """Whether the stage being written is the op's last, which is an output."""

    @property
    def latest(self) -> Array:
        return self.arrays[-1]

    def input(self, dims: Sequence[str], dtype: str | None = None) -> Array:
        made = Array(f"X{len(self.inputs)}", tuple(dims), dtype or self.dtype)
        self.inputs.append(declared(made))
        return made

    def some_input(self, dims: Sequence[str]) -> Array:
        """An array of a shape: one that there is, or a new input."""
        found = [each for each in self.arrays if each.dims == tuple(dims) and each.dtype == self.dtype]
        return self.rng.choice(found) if found and self.rng.random() < 0.6 else self.input(dims)

    def target(self, dims: Sequence[str], dtype: str | None = None) -> Array:
        """What the stage being written makes."""
        is_output = self.last or self.rng.random() < 0.08
        name = f"Y{len(self.outputs)}" if is_output else f"T{len(self.lines)}"
        made = Array(name, tuple(dims), dtype or self.dtype)
        if is_output:
            self.outputs.append(made)
        return made

    def need(self, fact: str) -> None:
        if not fact.split()[0].isdigit() and fact not in self.facts:
            self.facts.append(fact)

    def write(self, *lines: str) -> None:
        self.lines.extend(lines)

    def fresh_dim(self) -> str:
        """The name of a dimension, or a small number."""
        return self.rng.choice(("M", "N", "K", "L", "3", "4"))

    def finished(self) -> RandomOp:
        given = ", ".join(self.inputs)
        made = ", ".join(map(declared, self.outputs))
        made = f"({made})" if len(self.outputs) > 1 else made
        where = f" where {', '.join(self.facts)}" if self.facts else ""
        body = "\n".join(f"    {line}" for line in self.lines)
        op = f"op f({given}) -> {made}{where} {{\n{body}\n}}\n"
        dims = tuple(name for name in ("M", "N", "K", "L") if any(name in each for each in (*self.inputs, *self.facts)))
        return RandomOp(
            "".join((*self.reducers, op)), tuple(dict.fromkeys(self.kinds)), dims, tuple(self.facts),
            tuple(self.indices), tuple(self.offsets), self.is_exact,
        )  # fmt: skip


def declared(array: Array) -> str:
    return f"{array.name}: {array.dtype}[{', '.join(array.dims)}]" if array.dims else f"{array.name}: {array.dtype}"


def random_op(rng: Random) -> RandomOp:
    """An op of one to four stages."""
    from tests.compiler.schedule.generated.kinds import KINDS, SPECIAL

    if rng.random() < 0.06:
        return rng.choice(SPECIAL)(rng)
    dtype = rng.choice(DTYPES)
    builder = Builder(rng, dtype, is_exact=not dtype.startswith("f") or dtype == "f64")
    rank = rng.choice((1, 2, 2, 2, 3))
    builder.arrays.append(builder.input(rng.sample(("M", "N", "K"), rank)))
    count = rng.choice((1, 1, 2, 2, 2, 3, 3, 4))
    for number in range(count):
        builder.last = number == count - 1
        fitting = [kind for kind in KINDS if kind.fits(builder)]
        kind = rng.choices(fitting, [kind.weight for kind in fitting])[0]
        builder.kinds.append(kind.name)
        builder.arrays.append(kind.write(builder))
    return builder.finished()


def random_sizes(op: RandomOp, rng: Random) -> dict[str, int]:
    """Admitted sizes, of which few are large."""
    for _ in range(200):
        sizes = {name: rng.choice(SIZES) for name in op.dims}
        volume = 1
        for size in sizes.values():
            volume *= max(size, 1)
        if volume <= MOST_ELEMENTS and op.admits(sizes):
            return sizes
    sizes = dict.fromkeys(op.dims, 4)
    return sizes if op.admits(sizes) else dict.fromkeys(op.dims, 8)


def with_facts(op: RandomOp, facts: Sequence[str]) -> RandomOp:
    """The op with more that its sizes must be like."""
    return replace(op, facts=(*op.facts, *facts))
