"""The kinds of stages that random ops are made of. Each writes a definition or a recurrence of the latest array."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from tests.compiler.schedule.generated.ops import Array, Builder, RandomOp

NAMES = ("i", "j", "k", "l", "m")


@dataclass(frozen=True)
class Kind:
    name: str
    weight: int
    fits: Callable[[Builder], bool]
    write: Callable[[Builder], Array]


# ---- pieces of text


def at(array: Array, subscripts: Sequence[str], boundary: str = "") -> str:
    inside = ", ".join(subscripts)
    tail = f" | {boundary}" if boundary else ""
    return f"{array.name}[{inside}{tail}]" if subscripts else array.name


def ranges(indices: Sequence[str], dims: Sequence[str]) -> str:
    inside = ", ".join(f"{index} in 0..{_end(dim)}" for index, dim in zip(indices, dims))
    return f"  for {inside}" if inside else ""


def _end(dim: str) -> str:
    return f"({dim})" if " " in dim else dim


def number(b: Builder) -> str:
    value = str(b.rng.choice((2, 3, 5, 7)))
    return value if not b.dtype.startswith("f") else f"{value}.0"


def mixed(b: Builder, terms: Sequence[str]) -> str:
    """An expression of terms that is exact in every dtype, as long as few are multiplied."""
    result = terms[0]
    for term in terms[1:]:
        form = b.rng.choice(("{0} + {1}", "{0} - {1}", "max({0}, {1})", "min({0}, {1} + 1)"))
        result = form.format(result, term)
    form = b.rng.choice(("{0}", "{0}", "{0} * {1}", "{0} + {1}", "{0} if {2} > {1} else {1}", "max({0}, {1})"))
    return form.format(f"({result})" if " " in result else result, number(b), terms[0])


def define(b: Builder, target: Array, indices: Sequence[str], value: str, *, ranged: bool) -> Array:
    head = at(target, indices)
    tail = ranges(indices, target.dims) if ranged or b.rng.random() < 0.3 else ""
    b.write(f"{head} = {value}{tail}")
    return target


def named(dims: Sequence[str]) -> list[int]:
    """The axes whose size is a plain dimension."""
    return [axis for axis, dim in enumerate(dims) if dim.isalpha()]


# ---- elementwise


def pointwise(b: Builder) -> Array:
    source = b.latest
    here = NAMES[: len(source.dims)]
    terms = [at(source, here)]
    for _ in range(b.rng.randrange(3)):
        axes = sorted(b.rng.sample(range(len(here)), b.rng.randint(0, len(here))))
        other = b.some_input([source.dims[axis] for axis in axes])
        terms.append(at(other, [here[axis] for axis in axes]))
    return define(b, b.target(source.dims), here, mixed(b, terms), ranged=False)


def transposed(b: Builder) -> Array:
    source = b.latest
    here = NAMES[: len(source.dims)]
    order = b.rng.sample(range(len(here)), len(here))
    target = b.target([source.dims[axis] for axis in order])
    return define(b, target, [here[axis] for axis in order], mixed(b, [at(source, here)]), ranged=False)


def guarded(b: Builder) -> Array:
    """A branch that an access outside would be under."""
    source = b.latest
    here = list(NAMES[: len(source.dims)])
    axis = b.rng.randrange(len(here))
    back = [f"{each} - 1" if position == axis else each for position, each in enumerate(here)]
    value = f"{at(source, back)} + {at(source, here)} if {here[axis]} > 0 else {at(source, here)}"
    return define(b, b.target(source.dims), here, value, ranged=True)


def pieces(b: Builder) -> Array:
    """Two or three definitions that share a tensor."""
    source = b.latest
    here = list(NAMES[: len(source.dims)])
    axis = b.rng.choice(named(source.dims))
    size = source.dims[axis]
    target = b.target(source.dims)
    if b.rng.random() < 0.3:
        cut = f"{here[axis]} % 2 == 0"
        b.write(
            f"{at(target, here)} = {at(source, here)} + 1{ranges(here, target.dims)} if {cut}",
            f"{at(target, here)} = {mixed(b, [at(source, here)])}{ranges(here, target.dims)} if not ({cut})",
        )
        return target
    first = b.rng.randint(1, 2)
    b.need(f"{size} >= {first}")
    for position in range(first if first == 1 else 1):
        there = [str(position) if each == axis else index for each, index in enumerate(here)]
        b.write(f"{at(target, there)} = {at(source, there)}")
    bounds = (1, first) if first > 1 else (1, 1)
    if first > 1:
        b.write(f"{at(target, here)} = {at(source, here)} * 2  for {here[axis]} in {bounds[0]}..{first}")
    b.write(f"{at(target, here)} = {mixed(b, [at(source, here)])}  for {here[axis]} in {first}..{size}")
    return target


# ---- neighbours


def stencil(b: Builder) -> Array:
    source = b.latest
    here = list(NAMES[: len(source.dims)])
    boundary = b.rng.choice(("0", "0", "1", "edge", "wrap", "mirror"))
    if boundary.isalpha():
        for dim in source.dims:
            b.need(f"{dim} >= 1")
    terms = []
    for _ in range(b.rng.randint(2, 3)):
        moved = [f"{index}{b.rng.choice(('', '', ' - 1', ' + 1', ' + 2'))}" for index in here]
        terms.append(at(source, moved, boundary))
    if b.rng.random() < 0.3:
        axis = b.rng.randrange(len(here))
        moved = [f"{index} + d" if position == axis else index for position, index in enumerate(here)]
        return define(b, b.target(source.dims), here, f"sum({at(source, moved, boundary)} for d in -1..2)", ranged=True)
    return define(b, b.target(source.dims), here, mixed(b, terms), ranged=True)


def valid(b: Builder) -> Array:
    """A stencil over whole windows only."""
    source = b.latest
    here = list(NAMES[: len(source.dims)])
    axis = b.rng.choice(named(source.dims))
    reach = b.rng.randint(1, 3)
    b.need(f"{source.dims[axis]} >= {reach}")
    dims = [f"{dim} - {reach}" if position == axis else dim for position, dim in enumerate(source.dims)]
    terms = [
        at(source, [f"{index} + {step}" if position == axis and step else index for position, index in enumerate(here)])
        for step in sorted(b.rng.sample(range(reach + 1), min(reach + 1, 2)))
    ]
    return define(b, b.target(dims), here, mixed(b, terms), ranged=True)


def strided(b: Builder) -> Array:
    source = b.latest
    here = list(NAMES[: len(source.dims)])
    axis = b.rng.choice(named(source.dims))
    step = b.rng.choice((2, 3))
    dims = [f"{dim}//{step}" if position == axis else dim for position, dim in enumerate(source.dims)]
    terms = [
        at(source, [f"{step}*{index} + {each}" if position == axis else index for position, index in enumerate(here)])
        for each in b.rng.sample(range(step), 2)
    ]
    return define(b, b.target(dims), here, mixed(b, terms), ranged=True)


def convolution(b: Builder) -> Array:
    source = b.latest
    here = list(NAMES[: len(source.dims)])
    taps = b.input(["3"])
    axis = b.rng.randrange(len(here))
    moved = [f"{index} + r - 1" if position == axis else index for position, index in enumerate(here)]
    value = f"sum({at(source, moved, '0')} * {at(taps, ['r'])} for r)"
    return define(b, b.target(source.dims), here, value, ranged=True)


# ---- reductions


def reduction(b: Builder) -> Array:
    source = b.latest
    here = list(NAMES[: len(source.dims)])
    over = sorted(b.rng.sample(range(len(here)), b.rng.randint(1, min(2, len(here)))))
    kept = [axis for axis in range(len(here)) if axis not in over]
    kind = b.rng.choice(("sum", "sum", "max", "min", "prod", "any", "all"))
    value = at(source, here)
    if kind == "prod" and b.dtype.startswith("f"):
        value = f"(1.0 if {value} > 0 else -1.0)"
    if kind in ("any", "all"):
        value = f"{value} {'>' if kind == 'any' else '>='} 0"
    condition = f" if {at(source, here)} > 0" if b.rng.random() < 0.2 else ""
    names = ", ".join(here[axis] for axis in b.rng.sample(over, len(over)))
    target = b.target([source.dims[axis] for axis in kept])
    made = f"{kind}({value} for {names}{condition})"
    if kind in ("any", "all"):
        made = f"{b.dtype}({made})"
    elif b.rng.random() < 0.25:
        made = f"{made} * {number(b)} + {number(b)}"
    return define(b, target, [here[axis] for axis in kept], made, ranged=False)


def contraction(b: Builder) -> Array:
    source = b.latest
    here = list(NAMES[: len(source.dims)])
    axis = b.rng.randrange(len(here))
    shared = [each for each in range(len(here)) if each != axis and b.rng.random() < 0.25]
    width = b.fresh_dim()
    other = b.some_input([*(source.dims[each] for each in shared), source.dims[axis], width])
    k, n = here[axis], NAMES[len(here)]
    product = f"{at(source, here)} * {at(other, [*(here[each] for each in shared), k, n])}"
    made = f"sum({product} for {k})"
    kept = [each for each in range(len(here)) if each != axis]
    target = b.target([*(source.dims[each] for each in kept), width])
    indices = [*(here[each] for each in kept), n]
    if b.rng.random() < 0.3:
        made = f"max({made} + {at(b.some_input([width]), [n])}, 0)"
    return define(b, target, indices, made, ranged=False)


def normalisation(b: Builder) -> Array:
    """Row by row: a maximum, a sum, and what these make of each element."""
    source = b.latest
    here = list(NAMES[: len(source.dims)])
    axis = b.rng.randrange(len(here))
    kept = [index for position, index in enumerate(here) if position != axis]
    dims = [dim for position, dim in enumerate(source.dims) if position != axis]
    top = b.target(dims) if not b.last else Array(f"T{len(b.lines)}", tuple(dims), b.dtype)
    b.write(f"{at(top, kept)} = max({at(source, here)} for {here[axis]})")
    total = Array(f"T{len(b.lines)}", tuple(dims), b.dtype)
    b.write(f"{at(total, kept)} = sum({at(top, kept)} - {at(source, here)} for {here[axis]})")
    value = f"({at(top, kept)} - {at(source, here)}) * 2 + {at(total, kept)}"
    return define(b, b.target(source.dims), here, value, ranged=False)


def inside(b: Builder) -> Array:
    """A reduction in the middle of an expression."""
    source = b.latest
    here = list(NAMES[: len(source.dims)])
    axis = b.rng.randrange(len(here))
    over = ["q" if position == axis else index for position, index in enumerate(here)]
    value = f"{at(source, here)} + {b.rng.choice(('sum', 'max'))}({at(source, over)} for q)"
    if b.rng.random() < 0.3:
        value = f"{value} * 2 - min({at(source, over)} + 1 for q)"
    return define(b, b.target(source.dims), here, value, ranged=False)


def triangle(b: Builder) -> Array:
    source = b.latest
    here = list(NAMES[: len(source.dims)])
    axis = b.rng.randrange(len(here))
    over = ["q" if position == axis else index for position, index in enumerate(here)]
    bounds = b.rng.choice(("0..{i}", "0..{i} + 1", "{i}..{n}")).format(i=here[axis], n=_end(source.dims[axis]))
    return define(b, b.target(source.dims), here, f"sum({at(source, over)} for q in {bounds})", ranged=True)


def winner(b: Builder) -> Array:
    source = b.latest
    here = list(NAMES[: len(source.dims)])
    over = sorted(b.rng.sample(range(len(here)), b.rng.randint(1, min(2, len(here)))), reverse=b.rng.random() < 0.3)
    kept = [axis for axis in range(len(here)) if axis not in over]
    dims = [source.dims[axis] for axis in kept]
    best = b.target(dims)
    place = Array(f"{best.name}p", best.dims, "i32")
    if best in b.outputs:
        b.outputs.append(place)
    indices = [here[axis] for axis in kept]
    kind = b.rng.choice(("argmax", "argmin"))
    payload = f"i32({here[over[-1]]})"
    names = ", ".join(here[axis] for axis in over)
    b.write(f"({at(best, indices)}, {at(place, indices)}) = {kind}(({at(source, here)}, {payload}) for {names})")
    return best


PAIR = """reducer total[T: number]((s: T, n: i32), (t: T, m: i32)) -> (T, i32) {
    identity (0, 0)
    combine (s + t, n + m)
}
"""
LAST = """reducer widest[T: number](a: T, b: T) -> T {
    identity 0
    combine a if abs(a) > abs(b) or (abs(a) == abs(b) and a > b) else b
}
"""


def reducer(b: Builder) -> Array:
    """A user's reducer, of one value or of two."""
    source = b.latest
    here = list(NAMES[: len(source.dims)])
    axis = b.rng.randrange(len(here))
    kept = [index for position, index in enumerate(here) if position != axis]
    dims = [dim for position, dim in enumerate(source.dims) if position != axis]
    target = b.target(dims)
    text = b.rng.choice((PAIR, LAST))
    if text not in b.reducers:
        b.reducers.append(text)
    if text is LAST:
        b.write(f"{at(target, kept)} = widest({at(source, here)} for {here[axis]})")
        return target
    count = Array(f"{target.name}n", target.dims, "i32")
    if target in b.outputs:
        b.outputs.append(count)
    b.write(f"({at(target, kept)}, {at(count, kept)}) = total(({at(source, here)}, 1) for {here[axis]})")
    return target


# ---- recurrences


def scan(b: Builder) -> Array:
    source = b.latest
    here = list(NAMES[: len(source.dims)])
    axis = b.rng.choice(named(source.dims))
    size = source.dims[axis]
    b.need(f"{size} >= 1")
    target = b.target(source.dims)
    reach = b.rng.choice((1, 1, 1, 2))
    ascends = b.rng.random() < 0.7

    def there(value: str) -> list[str]:
        return [value if position == axis else index for position, index in enumerate(here)]

    t = here[axis]
    before = at(target, there(f"{t} - 1" if ascends else f"{t} + 1"))
    step = b.rng.choice(("{0} + {1}", "max({0}, {1})", "{1} - {0}", "min({0} + 1, {1})"))
    value = step.format(before, at(source, here))
    if reach == 2:
        value += f" + {at(source, there(f'{t} - 1' if ascends else f'{t} + 1'), '0')}"
    first = "0" if ascends else f"{size} - 1"
    span = f"1..{size}" if ascends else f"0..{size} - 1"
    b.write(
        f"{at(target, there(first))} = {at(source, there(first))}", f"{at(target, here)} = {value}  for {t} in {span}"
    )
    return target


def table(b: Builder) -> Array:
    """A recurrence of two axes, with what is outside of it given."""
    source = b.latest
    here = list(NAMES[: len(source.dims)])
    first, second = b.rng.sample(range(len(here)), 2)
    target = b.target(source.dims)
    signs = b.rng.choice(((-1, -1), (-1, -1), (-1, 1), (1, -1)))
    steps = b.rng.choice(
        (((1, 0), (0, 1)), ((1, 1), (1, 0)), ((1, 0), (0, 1), (1, 1)), ((1, -1), (0, 1)), ((2, 0), (0, 1)))
    )
    terms = []
    for step in steps:
        moves = {first: step[0] * signs[0], second: step[1] * signs[1]}
        moved = [
            f"{index} {'+' if moves[p] > 0 else '-'} {abs(moves[p])}" if moves.get(p) else index
            for p, index in enumerate(here)
        ]
        terms.append(at(target, moved, "0"))
    value = f"max({terms[0]}, {terms[1]}{''.join(f' + {term}' for term in terms[2:])}) + {at(source, here)}"
    return define(b, target, here, value, ranged=True)


def mutual(b: Builder) -> Array:
    """Two tensors, each made of the other."""
    source = b.latest
    here = list(NAMES[: len(source.dims)])
    axis = b.rng.randrange(len(here))
    one = b.target(source.dims)
    two = Array(f"{one.name}b", source.dims, b.dtype)
    if one in b.outputs:
        b.outputs.append(two)
    back = [f"{index} - 1" if position == axis else index for position, index in enumerate(here)]
    b.write(
        f"{at(one, here)} = {at(two, back, '0')} + {at(source, here)}{ranges(here, source.dims)}",
        f"{at(two, here)} = max({at(one, back, '1')}, {at(one, here)}) - 1{ranges(here, source.dims)}",
    )
    return one


# ---- through data


def gather(b: Builder) -> Array:
    source = b.latest
    here = list(NAMES[: len(source.dims)])
    axis = b.rng.choice(named(source.dims))
    size = source.dims[axis]
    boundary = b.rng.choice(("0", "edge", ""))
    b.need(f"{size} >= 1")
    where = b.input([b.fresh_dim()], "i32")
    b.indices.append((where.name, size))
    there = [at(where, [index]) if position == axis else index for position, index in enumerate(here)]
    dims = [where.dims[0] if position == axis else dim for position, dim in enumerate(source.dims)]
    if boundary == "edge":
        for dim in source.dims:
            b.need(f"{dim} >= 1")
    return define(b, b.target(dims), here, mixed(b, [at(source, there, boundary)]), ranged=True)


def ragged(b: Builder) -> Array:
    """Rows whose ends are data."""
    source = b.latest
    here = list(NAMES[: len(source.dims)])
    axis = b.rng.choice(named(source.dims))
    size = source.dims[axis]
    ends = b.input(["L + 1"], "i32")
    b.offsets.append((ends.name, size))
    n = "n"
    over = ["p" if position == axis else index for position, index in enumerate(here)]
    indices = [n if position == axis else index for position, index in enumerate(here)]
    dims = ["L" if position == axis else dim for position, dim in enumerate(source.dims)]
    boundary = b.rng.choice(("0", ""))
    value = f"sum({at(source, over, boundary)} for p in {ends.name}[{n}]..{ends.name}[{n} + 1])"
    return define(b, b.target(dims), indices, value, ranged=True)


def masked(b: Builder) -> Array:
    """A filter that is data."""
    source = b.latest
    here = list(NAMES[: len(source.dims)])
    axis = b.rng.randrange(len(here))
    kept = [index for position, index in enumerate(here) if position != axis]
    dims = [dim for position, dim in enumerate(source.dims) if position != axis]
    mask = b.input([source.dims[axis]], "bool")
    value = f"sum({at(source, here)} for {here[axis]} if {at(mask, [here[axis]])})"
    return define(b, b.target(dims), kept, value, ranged=False)


def _always(_: Builder) -> bool:
    return True


def _some(b: Builder) -> bool:
    return len(b.latest.dims) >= 1


def _named(b: Builder) -> bool:
    return bool(named(b.latest.dims))


def _plane(b: Builder) -> bool:
    return len(b.latest.dims) >= 2


def _signed(b: Builder) -> bool:
    return _some(b) and not b.dtype.startswith("u")


KINDS = (
    Kind("pointwise", 4, _always, pointwise),
    Kind("pointwise", 2, _plane, transposed),
    Kind("branch", 2, _some, guarded),
    Kind("pieces", 2, _named, pieces),
    Kind("stencil", 4, _some, stencil),
    Kind("stencil", 4, _named, valid),
    Kind("stencil", 2, _named, strided),
    Kind("contraction", 3, _some, convolution),
    Kind("contraction", 6, _some, contraction),
    Kind("reduction", 4, _some, reduction),
    Kind("normalisation", 3, _some, normalisation),
    Kind("normalisation", 2, _some, inside),
    Kind("reduction", 1, _some, triangle),
    Kind("winner", 3, _some, winner),
    Kind("reducer", 2, _signed, reducer),
    Kind("recurrence", 3, _named, scan),
    Kind("recurrence", 3, _plane, table),
    Kind("recurrence", 2, _some, mutual),
    Kind("data", 2, _named, gather),
    Kind("data", 2, _named, ragged),
    Kind("data", 1, _some, masked),
)


def any_rank(rng: Random) -> RandomOp:
    """An op on tensors of any rank, which a test gives sizes."""
    value = rng.choice(("max(X[..i], 0)", "X[..i] * 2 + Z[..i]"))
    more = ", Z: i32[..S]" if "Z" in value else ""
    text = f"op f(X: i32[..S]{more}) -> Y: i32[..S] {{\n    Y[..i] = {value}\n}}\n"
    return RandomOp(text, ("pack",), (), ())


SPECIAL = (any_rank,)
