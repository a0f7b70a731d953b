"""From a line's words to the primitive it means: operands looked up, factors evaluated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tdl.compiler.schedule.cache import Request, cache
from tdl.compiler.schedule.compute import compute_at, compute_at_root
from tdl.compiler.schedule.fuse import fuse
from tdl.compiler.schedule.hardware import intrinsic_named, usable
from tdl.compiler.schedule.hints import double_buffer, prefetch, stream
from tdl.compiler.schedule.inline import inline
from tdl.compiler.schedule.kinds import parallel, unroll, vectorize
from tdl.compiler.schedule.layout import store_in
from tdl.compiler.schedule.names import find_loop, find_stage, index_name
from tdl.compiler.schedule.owners import is_accumulator
from tdl.compiler.schedule.peel import peel
from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.reorder import reorder
from tdl.compiler.schedule.rfactor import rfactor
from tdl.compiler.schedule.skew import skew
from tdl.compiler.schedule.split import split, split_into
from tdl.compiler.schedule.store import fold, store_at
from tdl.compiler.schedule.tensorize import tensorize
from tdl.compiler.schedule.tree import Loop, Nest
from tdl.compiler.schedule.values import Values
from tdl.compiler.schedule.walk import path_to
from tdl.language import syntax, tree
from tdl.language.folding import value_of
from tdl.language.intrinsics import Intrinsic
from tdl.language.scope import Environment


@dataclass(frozen=True)
class Arguments:
    """A line, its number, and what names mean in it: of a tactic's line, those of the tactic's module."""

    line: syntax.Line
    number: int
    values: Values
    environment: Environment = field(default_factory=Environment)

    def refs(self) -> list[str]:
        return [operand.text for operand in self.line.operands if isinstance(operand, syntax.Ref)]

    def loops(self, nest: Nest) -> list[Loop]:
        return [find_loop(nest, text) for text in self.refs()]

    @property
    def results(self) -> list[str]:
        return [name.text for name in self.line.results]

    def clause(self, keyword: str) -> syntax.Clause | None:
        return next((clause for clause in self.line.clauses if clause.keyword.text == keyword), None)

    def has(self, keyword: str) -> bool:
        return self.clause(keyword) is not None

    def integers(self, keyword: str) -> list[int]:
        clause = self.clause(keyword)
        return [] if clause is None else self.values.integers(clause.values, f"what follows `{keyword}`")

    def number_of(self, keyword: str) -> float | None:
        clause = self.clause(keyword)
        value = None if clause is None else value_of(self.values.built(clause.values[0]))
        if clause is not None and not isinstance(value, int | float):
            raise Refusal("schedule", f"what follows `{keyword}` must be a number")
        return value

    def ref(self, keyword: str) -> str | None:
        clause = self.clause(keyword)
        value = clause.values[0] if clause is not None and clause.values else None
        return value.text if isinstance(value, syntax.Ref) else None

    def intrinsic(self) -> Intrinsic:
        """What stands behind `with`: where the line is written, or where it is applied."""
        name = self.ref("with") or ""
        declaration = intrinsic_named(name, self.environment, self.values.schedule.environment)
        if declaration is None:
            raise Refusal("tensorize", f"there is no intrinsic `{name}`")
        return usable(declaration, self.values.schedule)


Change = Callable[[Nest, Arguments], Nest]


def _split(nest: Nest, given: Arguments) -> Nest:
    (loop,) = given.loops(nest)
    names = given.results
    parts = given.integers("into")
    if parts:
        return split_into(nest, loop, parts[0], (names[0], names[1]), given.number)
    factors = given.integers("by")
    if len(names) != len(factors) + 1:
        raise Refusal("schedule", f"{len(factors)} factors make {len(factors) + 1} loops, and {len(names)} are named")
    return _split_by(nest, loop, factors, names, given.number, balanced=given.has("balanced"))


def _split_by(
    nest: Nest, loop: Loop, factors: list[int], names: list[str], line: int, *, balanced: bool = False
) -> Nest:
    """Split from the outermost level in; what is still to be split keeps a name nobody can write."""
    for level, factor in enumerate(factors):
        rest = names[level + 1] if level + 1 == len(factors) else f"{names[-1]}'{level}"
        nest = split(nest, loop, factor, (names[level], rest), line, balanced=balanced)
        if level + 1 < len(factors):
            loop = find_loop(nest, f"{loop.stage}.{rest}")
    return _renamed_children(nest, names)


def _renamed_children(nest: Nest, names: list[str]) -> Nest:
    """Forget the loops between levels, which have no names for people."""
    children = {
        old: tuple(each for each in made if "'" not in each) or made
        for old, made in nest.children.items()
        if "'" not in old
    }
    return replace(nest, children=children)


def _tile(nest: Nest, given: Arguments) -> Nest:
    loops = given.loops(nest)
    factors = given.integers("by")
    names = given.results
    count = len(loops)
    if len(factors) != count or len(names) != 2 * count:
        raise Refusal("schedule", f"a tile of {count} loops takes {count} factors and {2 * count} names")
    for position, (loop, factor) in enumerate(zip(loops, factors)):
        loop = path_to(nest.body, loop.symbol)[-1]  # its range may speak of a loop that was split before
        nest = split(nest, loop, factor, (names[position], names[count + position]), given.number)
    return reorder(
        nest, [find_loop(nest, f"{_stage(loops, n, count)}.{name}") for n, name in enumerate(names)], given.number
    )


def _stage(loops: list[Loop], position: int, count: int) -> str:
    return loops[position % count].stage


def _fuse(nest: Nest, given: Arguments) -> Nest:
    return fuse(nest, given.loops(nest), given.results[0], given.number)


def _reorder(nest: Nest, given: Arguments) -> Nest:
    return reorder(nest, given.loops(nest), given.number)


def _unroll(nest: Nest, given: Arguments) -> Nest:
    for text in given.refs():
        nest = unroll(nest, find_loop(nest, text), given.number)
    return nest


def _parallel(nest: Nest, given: Arguments) -> Nest:
    for text in given.refs():
        nest = parallel(nest, find_loop(nest, text), given.number)
    return nest


def _vectorize(nest: Nest, given: Arguments) -> Nest:
    lanes = given.integers("by")
    (loop,) = given.loops(nest)
    return vectorize(nest, loop, lanes[0] if lanes else None, given.number)


def _cache(nest: Nest, given: Arguments) -> Nest:
    (tensor,) = given.refs()
    place = given.ref("at") or ""
    loop = find_loop(nest, place)
    memory = given.ref("in")
    if memory not in (None, "register", "stack", "arena"):
        raise Refusal("cache", f"this target has no memory `{memory}`", "a CPU has `register` and `stack`")
    name = given.ref("as") or f"{tensor}.{loop.name}"
    layout = given.clause("layout")
    items = None
    if layout is not None:
        values = layout.values[0].items if isinstance(layout.values[0], syntax.Array) else layout.values
        items = tuple(value.text if isinstance(value, syntax.Ref) else "" for value in values)
    if tensor not in nest.tensors:
        raise Refusal("cache", f"there is no tensor `{tensor}`")
    return cache(nest, Request(tensor, loop, name, memory, items, given.number))  # type: ignore[arg-type]


def _check_placed(nest: Nest, tensor: str) -> None:
    """A stage that can be placed: a reduction inside a definition has its place, where it is used."""
    find_stage(nest, tensor)
    if tensor not in nest.groups:
        raise Refusal("placement", f"`{tensor}` is a copy, or a part of a tensor: it has its place")
    if is_accumulator(nest, tensor):
        group = nest.groups[tensor]
        message = f"`{tensor}` is gathered where `{group}` uses it, and goes where `{group}` goes"
        raise Refusal("placement", message)


def _compute(nest: Nest, given: Arguments) -> Nest:
    (tensor,) = given.refs()
    place = given.ref("at") or "root"
    _check_placed(nest, tensor)
    if place == "root":
        return compute_at_root(nest, tensor)
    return compute_at(nest, tensor, find_loop(nest, place), given.number)


def _store(nest: Nest, given: Arguments) -> Nest:
    (tensor,) = given.refs()
    _check_placed(nest, tensor)
    return store_at(nest, tensor, find_loop(nest, given.ref("at") or ""), given.number)


def _fold(nest: Nest, given: Arguments) -> Nest:
    tensor, _, name = given.refs()[0].rpartition(".")
    _check_placed(nest, tensor)
    (count,) = given.integers("by")
    return fold(nest, tensor, axis_named(nest, tensor, name), count, given.number)


def _inline(nest: Nest, given: Arguments) -> Nest:
    for tensor in given.refs():
        nest = inline(nest, find_stage(nest, tensor), given.number)
    return nest


def _rfactor(nest: Nest, given: Arguments) -> Nest:
    (loop,) = given.loops(nest)
    return rfactor(nest, loop, given.results[0], given.number)


def _skew(nest: Nest, given: Arguments) -> Nest:
    outer, inner = given.loops(nest)
    factors = given.integers("by") or [1]
    return skew(nest, outer, inner, factors[0], (given.results[0], given.results[1]), given.number)


def _peel(nest: Nest, given: Arguments) -> Nest:
    for text in given.refs():
        nest = peel(nest, find_loop(nest, text), given.number)
    return nest


def _fast_math(nest: Nest, given: Arguments) -> Nest:
    return replace(nest, fast_math=True)


def _stream(nest: Nest, given: Arguments) -> Nest:
    for tensor in given.refs():
        nest = stream(nest, tensor, given.number)
    return nest


def _prefetch(nest: Nest, given: Arguments) -> Nest:
    (tensor,) = given.refs()
    ahead = given.integers("ahead") or [1]
    return prefetch(nest, tensor, find_loop(nest, given.ref("at") or ""), ahead[0], given.number)


def _double_buffer(nest: Nest, given: Arguments) -> Nest:
    for tensor in given.refs():
        nest = double_buffer(nest, tensor, given.number)
    return nest


def _layout(nest: Nest, given: Arguments) -> Nest:
    call = given.line.operands[0]
    assert isinstance(call, syntax.Call)
    axes = [argument.value.text for argument in call.args if isinstance(argument.value, syntax.Ref)]
    tensor = call.callee.text
    if tensor not in nest.buffers:
        raise Refusal("cache", f"there is no tensor `{tensor}`")
    if len(axes) != len(nest.tensors[tensor].shape):
        raise Refusal("cache", f"`{tensor}` has another number of dimensions than {len(axes)}")
    clause = given.clause("layout")
    layout = given.values.forms(clause.values if clause is not None else (), axes)
    pad = given.number_of("pad")
    return store_in(nest, tensor, layout, given.number, pack=(pad or 0) if given.has("pack") else None)


def _for_gpu(nest: Nest, given: Arguments) -> Nest:
    verb = given.line.verb.text
    raise Refusal("schedule", f"`{verb}` is for `gpu` targets, and this schedule runs on a `cpu`")


def _tensorize(nest: Nest, given: Arguments) -> Nest:
    (loop,) = given.loops(nest)
    return tensorize(nest, loop, given.intrinsic(), given.number)


def axis_named(nest: Nest, tensor: str, name: str) -> int:
    """The axis of a tensor that an index of one of its definitions runs along."""
    for stage in nest.stages.values():
        for target in stage.writes:
            for axis, coordinate in enumerate(target.coordinates):
                own = coordinate.symbol if target.tensor == tensor else None
                if own is not None and name == index_name(own):
                    return axis
    raise Refusal("unknown-loop", f"`{tensor}` has no axis `{name}`")


def require(nest: Nest, fact: tree.Expr) -> Nest:
    """A fact that the rest of the schedule may use; one that is false refuses the schedule."""
    if value_of(fact) is False:
        raise Refusal("fact", "what is required does not hold at these sizes")
    return replace(nest, program=replace(nest.program, facts=(*nest.program.facts, fact)))


VERBS: dict[str, Change] = {
    "split": _split,
    "tile": _tile,
    "fuse": _fuse,
    "reorder": _reorder,
    "unroll": _unroll,
    "parallel": _parallel,
    "vectorize": _vectorize,
    "cache": _cache,
    "compute": _compute,
    "store": _store,
    "fold": _fold,
    "inline": _inline,
    "rfactor": _rfactor,
    "skew": _skew,
    "peel": _peel,
    "fast_math": _fast_math,
    "stream": _stream,
    "prefetch": _prefetch,
    "double_buffer": _double_buffer,
    "layout": _layout,
    "tensorize": _tensorize,
    "bind": _for_gpu,
    "cooperate": _for_gpu,
}

OF_LOOPS = frozenset(
    {"split", "tile", "fuse", "reorder", "skew", "unroll", "parallel", "vectorize", "peel", "tensorize"}
)
"""Lines that change the loops of stages and nothing else."""

OF_STAGES = frozenset({"compute", "store", "fold", "inline"})
"""Lines that say where a stage is computed and kept."""
