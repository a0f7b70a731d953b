"""Accumulators: identities, combining, and reductions that stayed inside expressions.

    winner (argmax, argmin): its key, its payloads, and where it was found, an i64 for each reduced index; the first of
    equal keys wins in whatever order they come. Nothing found yet is at the greatest i64.

Lanes that share an accumulator are combined first, the upper half with the lower until one is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from tdl.compiler.backends.llvm.arithmetic import compare, is_nan
from tdl.compiler.backends.llvm.block import Block
from tdl.compiler.backends.llvm.context import Context, Site
from tdl.compiler.backends.llvm.integers import form_value
from tdl.compiler.backends.llvm.lowering import Lower
from tdl.compiler.backends.llvm.memory import Element, read, write
from tdl.compiler.backends.llvm.scalars import concrete, number, register_type, round_half
from tdl.compiler.backends.llvm.values import (
    FALSE,
    Value,
    any_of,
    intrinsic,
    operate,
    part,
    select,
    spread,
    test,
    vector_type,
)
from tdl.language.diagnostic import InternalError
from tdl.language.dtypes import I64, DType
from tdl.language.source import Span
from tdl.language.tree import Binary, Binder, Expr, Reduce, Reducer

_NOWHERE = number(I64.greatest, I64)


def identity(context: Context, reducer: Reducer, count: int, lower: Lower) -> list[Value]:
    """The values of an accumulator that has seen nothing; `count` of them, more than values where a winner is kept."""
    if not reducer.is_builtin:
        return [lower(context, each) for each in reducer.identity]
    first, *payloads = (concrete(dtype) for dtype in reducer.dtypes)
    values = [_identity(reducer.name.removeprefix("arg"), first), *(number(0, dtype) for dtype in payloads)]
    return values + [_NOWHERE] * (count - len(values))


def initialise(context: Context, reducer: Reducer, places: Sequence[Element], lower: Lower) -> None:
    """Store the reducer's identity."""
    for place, value in zip(places, identity(context, reducer, len(places), lower)):
        write(context, place, value)


def update(context: Context, reducer: Reducer, places: Sequence[Element], args: tuple[Expr, ...], lower: Lower) -> None:
    """Combine the accumulator with the arguments' values."""
    values = _arguments(context, reducer, args, lower)
    if context.lane is not None and places[0].is_shared:
        values = _across_lanes(context, reducer, values, lower)
    old = [read(context, place) for place in places]
    for place, value in zip(places, combined(context, reducer, old, values, lower)):
        write(context, place, value)


def _arguments(context: Context, reducer: Reducer, args: tuple[Expr, ...], lower: Lower) -> list[Value]:
    """The arguments' values; a product added into a sum may be fused with the addition."""
    if reducer.is_builtin and reducer.name == "sum" and reducer.dtypes[0].is_float:
        match args[0]:
            case Binary("mul", left, right) if not concrete(reducer.dtypes[0]).is_half:
                factors = lower(context, left), lower(context, right)
                return [operate(context.block, "fmul contract", *factors)]
    return [lower(context, arg) for arg in args]


def combined(
    context: Context, reducer: Reducer, old: Sequence[Value], new: Sequence[Value], lower: Lower
) -> list[Value]:
    if not reducer.is_builtin:
        with ExitStack() as stack:
            for name, value in zip((*reducer.left, *reducer.right), (*old, *new)):
                stack.enter_context(context.bound(name, value))
            return [lower(context, each) for each in reducer.combine]
    if reducer.name in ("argmax", "argmin"):
        wins = _wins(context.block, reducer, old, new)
        return [select(context.block, wins, *pair) for pair in zip(new, old)]
    return [_combined(context.block, reducer.name, old[0], new[0], concrete(reducer.dtypes[0]))]


# ---- lanes


def _across_lanes(context: Context, reducer: Reducer, values: list[Value], lower: Lower) -> list[Value]:
    """One accumulator's values for all lanes that run."""
    block = context.block
    values = [spread(block, value, context.lanes) for value in values]
    if context.mask is not None:
        nothing = identity(context, reducer, len(values), lower)
        values = [select(block, context.mask, value, other) for value, other in zip(values, nothing)]
    before = context.lane, context.mask
    context.lane = context.mask = None
    count = context.lanes
    while count > 1:
        count //= 2
        halves = [[part(block, value, start, count) for value in values] for start in (0, count)]
        values = combined(context, reducer, halves[0], halves[1], lower)
    context.lane, context.mask = before
    return values


# ---- reductions inside expressions


def lower_reduce(context: Context, reduce: Reduce, lower: Lower) -> Value:
    """The first value of a reduction that runs where its expression does."""
    accumulator = _Slots(context, reduce, lower)
    _run(context, reduce, reduce.binders, accumulator, lower)
    return accumulator.read()[0]


class _Slots:
    """An accumulator in the function's frame, which LLVM keeps in registers."""

    def __init__(self, context: Context, reduce: Reduce, lower: Lower) -> None:
        reducer = reduce.reducer
        self.context, self.reducer, self.binders = context, reducer, reduce.binders
        self.lanes = context.lanes if context.varies(reduce) or context.mask is not None else 0
        is_winner = reducer.is_builtin and reducer.name in ("argmax", "argmin")
        self.kinds = [register_type(dtype) for dtype in reducer.dtypes]
        self.kinds += ["i64"] * (len(reduce.binders) if is_winner else 0)
        first = [
            spread(context.block, value, self.lanes) for value in identity(context, reducer, len(self.kinds), lower)
        ]
        self.pointers = [context.block.slot(value.type, reducer.name) for value in first]
        self._store(first)

    def read(self) -> list[Value]:
        return [
            Value(self.context.block.value(f"load {vector_type(kind, self.lanes)}, ptr {pointer}"), kind, self.lanes)
            for kind, pointer in zip(self.kinds, self.pointers)
        ]

    def combine(self, args: tuple[Expr, ...], lower: Lower) -> None:
        context, block = self.context, self.context.block
        new = _arguments(context, self.reducer, args, lower)
        new += [context.symbols[binder.index] for binder in self.binders][: len(self.kinds) - len(new)]
        old = self.read()
        values = [spread(block, value, self.lanes) for value in combined(context, self.reducer, old, new, lower)]
        if context.mask is not None and self.lanes:
            values = [select(block, context.mask, value, was) for value, was in zip(values, old)]
        self._store(values)

    def _store(self, values: Sequence[Value]) -> None:
        for value, pointer in zip(values, self.pointers):
            self.context.block.do(f"store {value.typed}, ptr {pointer}")


def _run(context: Context, reduce: Reduce, binders: tuple[Binder, ...], slots: _Slots, lower: Lower) -> None:
    if binders:
        binder, *inner = binders
        run_loop(context, binder, reduce.span, lambda: _run(context, reduce, tuple(inner), slots, lower), lower)
    elif reduce.filter is None:
        slots.combine(reduce.args, lower)
    else:
        run_where(context, lower(context, reduce.filter), lambda: slots.combine(reduce.args, lower))


def run_where(context: Context, condition: Value, body: Callable[[], None]) -> None:
    """Run the body where the condition holds: behind a branch, and where lanes differ, in those in which it does."""
    block = context.block
    if not condition.lanes:
        block.when(condition.text, body)
        return
    active = condition if context.mask is None else operate(block, "and", condition, context.mask)

    def masked() -> None:
        with context.where(active, is_certain=True):
            body()

    block.when(any_of(block, active).text, masked)


def run_loop(
    context: Context, binder: Binder, span: Span, body: Callable[[], None], lower: Lower, *, descending: bool = False
) -> None:
    """A loop over the binder's range, in which its index has a value.

    Where lanes have ranges of their own, it runs over all of them, and each lane in its own.
    """
    lo, hi = (form_value(context, end, lower, Site(span)) for end in (binder.lo, binder.hi))

    def inside(index: str) -> None:
        here = Value(index, "i64")
        context.symbols[binder.index] = here
        if lo.lanes or hi.lanes:
            within = [test(context.block, "icmp sge", here, lo), test(context.block, "icmp slt", here, hi)]
            run_where(context, operate(context.block, "and", *within), body)
        else:
            body()
        del context.symbols[binder.index]

    first, last = _extreme_end(context, "smin", lo), _extreme_end(context, "smax", hi)
    context.block.loop(first.text, last.text, inside, descending=descending, hint=binder.index.name)


def _extreme_end(context: Context, kind: str, end: Value) -> Value:
    """The least or greatest end of the lanes that run."""
    if not end.lanes:
        return end
    block = context.block
    if context.mask is not None:
        bound = I64.greatest if kind == "smin" else I64.least
        end = select(block, context.mask, end, number(bound, I64))
    return Value(block.value(f"call i64 @llvm.vector.reduce.{kind}.v{end.lanes}i64({end.typed})"), "i64")


# ---- built-in reducers


def _identity(name: str, dtype: DType) -> Value:
    match name:
        case "sum":
            return number(0, dtype)
        case "prod":
            return number(1, dtype)
        case "any" | "all":
            return number(name == "all", dtype)
        case "max":
            return number(float("-inf") if dtype.is_float else dtype.least, dtype)
        case "min":
            return number(float("inf") if dtype.is_float else dtype.greatest, dtype)
    raise InternalError(f"reducer {name}")


def _combined(block: Block, name: str, old: Value, value: Value, dtype: DType) -> Value:
    match name:
        case "sum" | "prod" if dtype.is_float:
            operation = "fadd" if name == "sum" else "fmul"
            return round_half(block, operate(block, f"{operation} reassoc contract", old, value), dtype)
        case "sum" | "prod":
            return operate(block, "add" if name == "sum" else "mul", old, value)
        case "any" | "all":
            return operate(block, "or" if name == "any" else "and", old, value)
        case "max" | "min" if dtype.is_float:
            # The intrinsic, since LLVM vectorises a reduction with it and not one with comparisons that respect NaN.
            return intrinsic(block, f"{name}imum", old, value)
        case "max" | "min":
            return intrinsic(block, f"{'s' if dtype.kind == 'signed' else 'u'}{name}", old, value)
    raise InternalError(f"reducer {name}")


def _wins(block: Block, reducer: Reducer, old: Sequence[Value], new: Sequence[Value]) -> Value:
    """Whether the new key is strictly better, is NaN against a number, or is as good and was found earlier."""
    dtype, count = concrete(reducer.dtypes[0]), len(reducer.dtypes)
    better = compare(block, "gt" if reducer.name == "argmax" else "lt", new[0], old[0], dtype)
    as_good = compare(block, "eq", new[0], old[0], dtype)
    if dtype.is_float:
        new_nan, old_nan = is_nan(block, new[0]), is_nan(block, old[0])
        older = operate(block, "xor", old_nan, Value("true", "i1"))
        better = operate(block, "or", better, operate(block, "and", new_nan, older))
        as_good = operate(block, "or", as_good, operate(block, "and", new_nan, old_nan))
    earlier = FALSE
    for mine, theirs in reversed(list(zip(new[count:], old[count:]))):
        same = operate(block, "and", test(block, "icmp eq", mine, theirs), earlier)
        earlier = operate(block, "or", test(block, "icmp slt", mine, theirs), same)
    return operate(block, "or", better, operate(block, "and", as_good, earlier))
