"""Random schedule lines as text, for the nest that there is after the lines before.

Most lines are such as a person might write: a loop that was split is unrolled, a producer is placed in a loop of its
consumer. Some are of any loop and any tensor, to be refused. Nothing here knows whether a line is legal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from tdl.compiler.schedule.bounds import greatest_extent, greatest_value
from tdl.compiler.schedule.names import find_loop, index_name
from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.touches import touches
from tdl.compiler.schedule.tree import Copy, Loop, Nest
from tdl.compiler.schedule.walk import Path, leaves_of, loops_of, path_to

FACTORS = (1, 2, 2, 3, 4, 4, 5, 8)


@dataclass
class Writer:
    """What is needed to write a line, and the names given so far."""

    rng: Random
    nest: Nest
    count: int = 0
    knobs: list[str] = field(default_factory=list)
    last: str = ""
    """The line before, if it was accepted."""
    dims: Sequence[str] = ()

    def fresh(self, letter: str = "x") -> str:
        """A name for a loop, which few others have."""
        if letter == "x" and self.rng.random() < 0.02:
            return self.rng.choice(("i", "j", "x1", "x2"))
        self.count += 1
        return f"{letter}{self.count}"

    def factor(self) -> str:
        if self.knobs and self.rng.random() < 0.3:
            return self.rng.choice(self.knobs)
        return str(self.rng.choice(FACTORS))

    # ---- what there is

    @property
    def loops(self) -> list[Loop]:
        return list(named(tuple(loops_of(self.nest.body))))

    def some_loop(self) -> Loop | None:
        return self.rng.choice(self.loops) if self.loops else None

    def of_kind(self, kind: str) -> list[Loop]:
        return [loop for loop in self.loops if loop.kind == kind]

    def path(self, least: int = 1) -> Path | None:
        """The loops around some statement."""
        paths = [named(path) for path, _ in leaves_of(self.nest.body)]
        paths = [path for path in paths if len(path) >= least]
        return self.rng.choice(paths) if paths else None

    def chain(self, least: int) -> Sequence[Loop] | None:
        """Loops that stand directly inside each other; now and then any."""
        if self.rng.random() < 0.12 and len(self.loops) >= least:
            return self.rng.sample(self.loops, least)
        chains = [chain for loop in self.loops if len(chain := perfect_from(loop)) >= least]
        return self.rng.choice(chains) if chains else None

    def name(self, loop: Loop) -> str:
        """The loop's short name where that means it, or its label."""
        try:
            is_short = find_loop(self.nest, loop.name).symbol == loop.symbol
        except Refusal:
            is_short = False
        return loop.name if is_short and loop.name.isidentifier() and self.rng.random() < 0.7 else loop.label

    def computed(self) -> list[str]:
        """But for the further values of partial results, which have no names for people."""
        return [name for name in self.nest.groups if not re.fullmatch(r"P\d+\.\d+", name)]

    def intermediates(self) -> list[str]:
        found = [name for name in self.computed() if self.nest.tensors[name].role == "intermediate"]
        return found if found and self.rng.random() < 0.9 else self.computed()

    def reading(self, tensor: str) -> list[Path]:
        """The loops around each statement that reads a tensor and is not its own."""
        found = []
        for path, leaf in leaves_of(self.nest.body):
            if self.nest.stages[leaf.stage].writes[0].tensor != tensor and any(
                touch.tensor == tensor and not touch.is_write for touch in touches(self.nest, leaf)
            ):
                found.append(named(path))
        return found

    def touching(self, tensor: str) -> list[Path]:
        return [
            named(path)
            for path, leaf in leaves_of(self.nest.body)
            if any(touch.tensor == tensor for touch in touches(self.nest, leaf))
        ]


def named(path: Path) -> Path:
    """The loops that have names for people: not the lanes of `vectorize by`, nor copies of loops over a pack's axes."""
    return tuple(loop for loop in path if ".lane" not in loop.name and not _is_copied_axis(loop))


def _is_copied_axis(loop: Loop) -> bool:
    return ".tail.tail" in loop.name or (
        bool(re.search(r"\.\d", loop.name)) and (loop.stage.startswith("Q") or ".tail" in loop.name)
    )


def perfect_from(loop: Loop) -> list[Loop]:
    """The loop and those that stand directly inside each other from it on."""
    chain = [loop]
    while len(chain[-1].body) == 1 and isinstance(chain[-1].body[0], Loop):
        chain.append(chain[-1].body[0])
    return list(named(tuple(chain)))


# ---- loops


def split(w: Writer) -> str | None:
    serial = w.of_kind("serial") if w.rng.random() < 0.9 else w.loops
    if not serial:
        return None
    loop = w.rng.choice(serial)
    form = w.rng.random()
    if form < 0.2:
        factors = f"{w.factor()}, {w.factor()}"
        return f"split {w.name(loop)} by [{factors}] -> {w.fresh()}, {w.fresh()}, {w.fresh()}"
    how = f"into {w.factor()}" if form < 0.4 else f"by {w.factor()} balanced" if form < 0.55 else f"by {w.factor()}"
    return f"split {w.name(loop)} {how} -> {w.fresh()}, {w.fresh()}"


def tile(w: Writer) -> str | None:
    chain = w.chain(2)
    if chain is None:
        return None
    start = w.rng.randrange(len(chain) - 1)
    loops = list(chain[start : start + 2])
    names = ", ".join(w.fresh() for _ in range(4))
    return f"tile {w.name(loops[0])}, {w.name(loops[1])} by {w.factor()}, {w.factor()} -> {names}"


def fuse(w: Writer) -> str | None:
    chain = w.chain(2)
    if chain is None:
        return None
    start = w.rng.randrange(len(chain) - 1)
    count = w.rng.choice((2, 2, 3))
    loops = list(chain[start : start + count])
    if w.rng.random() < 0.05:
        loops.reverse()
    return f"fuse {', '.join(map(w.name, loops))} -> {w.fresh()}"


def reorder(w: Writer) -> str | None:
    chain = w.chain(2)
    if chain is None and w.rng.random() < 0.8:
        return None
    chain = chain or w.path(2)
    if chain is None:
        return None
    loops = w.rng.sample(list(chain), w.rng.randint(2, min(4, len(chain))))
    return f"reorder {', '.join(map(w.name, loops))}"


def skew(w: Writer) -> str | None:
    chain = w.chain(2)
    if chain is None:
        return None
    start = w.rng.randrange(len(chain) - 1)
    outer, inner = chain[start : start + 2]
    by = w.rng.choice(("", "", " by 1", " by 2", " by 3"))
    return f"skew {w.name(outer)}, {w.name(inner)}{by} -> {w.fresh()}, {w.fresh()}"


def unroll(w: Writer) -> str | None:
    short = [loop for loop in w.of_kind("serial") if greatest_extent(loop) is not None]
    loop = w.rng.choice(short) if short and w.rng.random() < 0.85 else w.some_loop()
    return None if loop is None else f"unroll {w.name(loop)}"


def vectorize(w: Writer) -> str | None:
    serial = w.of_kind("serial")
    if not serial:
        return None
    if w.rng.random() < 0.4:
        short = [loop for loop in serial if greatest_extent(loop) is not None] or serial
        return f"vectorize {w.name(w.rng.choice(short))}"
    return f"vectorize {w.name(w.rng.choice(serial))} by {w.rng.choice((2, 4, 4, 8, 8, 16))}"


def parallel(w: Writer) -> str | None:
    outer = [node for node in w.nest.body if isinstance(node, Loop)]
    pool = outer if outer and w.rng.random() < 0.6 else w.loops
    return f"parallel {w.name(w.rng.choice(pool))}" if pool else None


def peel(w: Writer) -> str | None:
    partial = [
        loop
        for loop in w.loops
        if any("min" in str(inner.hi) and inner.hi.mentions(loop.symbol) for inner in loops_of(loop.body))
    ]
    if not partial and w.rng.random() < 0.8:
        return None
    loop = w.rng.choice(partial) if partial and w.rng.random() < 0.9 else w.some_loop()
    return None if loop is None else f"peel {w.name(loop)}"


# ---- stages


def inline(w: Writer) -> str | None:
    pool = w.intermediates()
    return f"inline {w.rng.choice(pool)}" if pool else None


def compute(w: Writer) -> str | None:
    pool = w.intermediates()
    if not pool:
        return None
    tensor = w.rng.choice(pool)
    if w.rng.random() < 0.03:
        return f"compute {tensor} at root"
    paths = [path for path in w.reading(tensor) if path]
    loop = w.rng.choice(w.rng.choice(paths)) if paths and w.rng.random() < 0.95 else w.some_loop()
    return None if loop is None else f"compute {tensor} at {w.name(loop)}"


def placed(w: Writer) -> list[str]:
    """Tensors that are computed inside a loop."""
    return [name for name in w.computed() if w.nest.buffers[name].at is not None]


def store(w: Writer) -> str | None:
    pool = placed(w)
    if not pool:
        return None
    tensor = subject(w, pool)
    at = w.nest.buffers[tensor].at
    around = named(path_to(w.nest.body, at) if at is not None else ())
    loop = w.rng.choice(around) if around and w.rng.random() < 0.9 else w.some_loop()
    return None if loop is None else f"store {tensor} at {w.name(loop)}"


def fold(w: Writer) -> str | None:
    pool = placed(w) or (w.intermediates() if w.rng.random() < 0.1 else [])
    if not pool:
        return None
    tensor = subject(w, pool)
    axes = [
        (index_name(coordinate.symbol), axis)
        for stage in w.nest.stages.values()
        for target in stage.writes
        if target.tensor == tensor
        for axis, coordinate in enumerate(target.coordinates)
        if coordinate.symbol is not None and coordinate.symbol.kind == "index"
    ]
    if not axes:
        return None
    name, axis = w.rng.choice(axes)
    most = greatest_value(w.nest.buffers[tensor].extents[axis])
    count = most if most is not None and w.rng.random() < 0.4 else w.rng.choice((1, 2, 3, 4, 4, 5, 8))
    return f"fold {tensor}.{name} by {max(count, 1)}"


def subject(w: Writer, pool: list[str]) -> str:
    """What the line before placed, mostly."""
    last = w.last.split()[1] if w.last.startswith(("compute", "store")) else ""
    return last if last in pool else w.rng.choice(pool)


def rfactor(w: Writer) -> str | None:
    reduced = []
    for path, leaf in leaves_of(w.nest.body):
        over = {binder.index for binder in w.nest.stages[leaf.stage].reduction}
        symbols = {symbol for own, form in leaf.at if own in over for symbol in form.symbols()}
        reduced += [loop for loop in named(path) if loop.symbol in symbols]
    loop = w.rng.choice(reduced) if reduced and w.rng.random() < 0.95 else w.some_loop()
    return None if loop is None else f"rfactor {w.name(loop)} -> {w.fresh('P')}"


# ---- storage


def cache(w: Writer) -> str | None:
    tensor = w.rng.choice([*w.nest.program.inputs, *w.computed(), *(n for n in w.nest.tensors if n.startswith("Q"))])
    paths = [path for path in w.touching(tensor) if path]
    if not paths and w.rng.random() < 0.9:
        return None
    path = w.rng.choice(paths) if paths else w.path()
    if path is None:
        return None
    position = w.rng.randrange(len(path))
    memory = w.rng.choice(("", "", "", " in register", " in stack"))
    layout = ""
    if w.rng.random() < 0.35:
        inside = [w.name(loop) for loop in path[position + 1 :]]
        w.rng.shuffle(inside)
        layout = f" layout [{', '.join(inside)}]" if inside else ""
    pad = w.rng.choice(("", "", "", " pad 0"))
    return f"cache {tensor} at {w.name(path[position])}{memory} as {w.fresh('Q')}{layout}{pad}"


def layout(w: Writer) -> str | None:
    inputs = w.rng.random() < 0.3
    pool = list(w.nest.program.inputs) if inputs else [n for n in w.computed() if w.nest.tensors[n].role != "output"]
    pool = [name for name in pool if w.nest.tensors[name].shape]
    if not pool:
        return None
    tensor = w.rng.choice(pool)
    names = [f"a{axis}" for axis in range(len(w.nest.tensors[tensor].shape))]
    order = w.rng.sample(names, len(names))
    form = w.rng.random()
    if form < 0.4:
        block = w.rng.choice((2, 4))
        first = order[0]
        order = [f"{first}//{block}", *order[1:], f"{first}%{block}"]
    elif form < 0.5:
        order = [f"{order[0]} + {order[-1]}", *order[1:]]
    pack = " pack" if inputs and w.rng.random() < 0.9 else ""
    return f"layout {tensor}({', '.join(names)}) [{', '.join(order)}]{pack}"


def stream(w: Writer) -> str | None:
    pool = [*w.nest.program.outputs, *w.computed()]
    return f"stream {w.rng.choice(pool)}" if pool else None


def prefetch(w: Writer) -> str | None:
    tensor = w.rng.choice(list(w.nest.program.inputs))
    paths = [path for path in w.touching(tensor) if path]
    path = w.rng.choice(paths) if paths and w.rng.random() < 0.9 else w.path()
    ahead = w.rng.choice((" ahead 1", " ahead 2", " ahead 4"))
    return None if path is None else f"prefetch {tensor} at {w.name(w.rng.choice(path))}{ahead}"


def double_buffer(w: Writer) -> str | None:
    copies = [n for n, s in w.nest.stages.items() if isinstance(s.work, Copy) and n in w.nest.tensors]
    if copies and w.rng.random() < 0.9:
        return f"double_buffer {w.rng.choice(copies)}"
    return f"double_buffer {w.rng.choice(w.computed())}" if w.rng.random() < 0.1 else None


# ---- values


def knob(w: Writer) -> str:
    name = w.fresh("n")
    choices = sorted(set(w.rng.sample((2, 3, 4, 8), 3)))
    w.knobs.append(name)
    return f"knob {name} = {w.rng.choice(choices)} in [{', '.join(map(str, choices))}]"


def let(w: Writer) -> str:
    name = w.fresh("n")
    value = f"2 * {w.rng.choice(w.knobs)}" if w.knobs else "1 + 2"
    w.knobs.append(name)
    return f"let {name} = {value}"


def require(w: Writer) -> str | None:
    if not w.dims:
        return None
    name = w.rng.choice(list(w.dims))
    return f"require {w.rng.choice((f'{name} % 4 == 0', f'{name} >= 4', f'{name} % 3 == 0', f'{name} <= 8'))}"


def fast_math(_: Writer) -> str:
    return "fast_math"


WEIGHTS: dict[Callable[[Writer], str | None], float] = {
    split: 5, tile: 2.5, fuse: 3, reorder: 3.5, skew: 2, unroll: 2, vectorize: 3, parallel: 3, peel: 2, inline: 2.5,
    compute: 5, store: 3, fold: 2.5, rfactor: 3, cache: 4.5, layout: 2, stream: 1, prefetch: 1.1, double_buffer: 2,
    knob: 1, let: 0.8, require: 0.8, fast_math: 0.6,
}  # fmt: skip


NEXT = {"compute": store, "store": fold, "cache": double_buffer, "split": peel}
"""What often goes on from a line."""


def random_line(writer: Writer) -> str:
    """A line of a random primitive that has something to be applied to."""
    verbs = list(WEIGHTS)
    weights = list(WEIGHTS.values())
    after = NEXT.get(writer.last.split()[0]) if writer.last else None
    if after is not None and writer.rng.random() < 0.4:
        line = after(writer)
        if line is not None:
            return line
    while True:
        line = writer.rng.choices(verbs, weights)[0](writer)
        if line is not None:
            return line
