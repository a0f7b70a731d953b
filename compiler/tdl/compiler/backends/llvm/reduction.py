"""Accumulators: identities, combining, and reductions that stayed inside expressions.

An accumulator is a list of places to load from and store to: stack slots that become registers, or elements in memory.
`argmax` and `argmin` keep one more, whether anything was seen, so that the first of several equal keys wins even when
the key is the identity.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from tdl.compiler.backends.llvm.arithmetic import compare
from tdl.compiler.backends.llvm.context import Context, Site
from tdl.compiler.backends.llvm.integers import form_value
from tdl.compiler.backends.llvm.lowering import Lower
from tdl.compiler.backends.llvm.scalars import concrete, load, number, register_type, round_half, store, suffix
from tdl.language.diagnostic import InternalError
from tdl.language.dtypes import DType
from tdl.language.source import Span
from tdl.language.tree import Binary, Binder, Expr, Reduce, Reducer


@dataclass(frozen=True, slots=True)
class Places:
    """Where an accumulator's values are: registers unless `in_memory`. `seen` is an i1, for argmax and argmin."""

    pointers: tuple[str, ...]
    dtypes: tuple[DType, ...]
    in_memory: bool = False
    seen: str | None = None

    def read(self, context: Context) -> list[str]:
        if self.in_memory:
            return [load(context.block, pointer, dtype) for pointer, dtype in zip(self.pointers, self.dtypes)]
        return [
            context.block.value(f"load {register_type(dtype)}, ptr {pointer}")
            for pointer, dtype in zip(self.pointers, self.dtypes)
        ]

    def write(self, context: Context, values: list[str]) -> None:
        for pointer, dtype, value in zip(self.pointers, self.dtypes, values):
            if self.in_memory:
                store(context.block, pointer, value, dtype)
            else:
                context.block.do(f"store {register_type(dtype)} {value}, ptr {pointer}")


def register_places(context: Context, reducer: Reducer, hint: str) -> Places:
    """Fresh registers for the reducer's values."""
    dtypes = tuple(concrete(dtype) for dtype in reducer.dtypes)
    pointers = tuple(context.block.slot(register_type(dtype), hint) for dtype in dtypes)
    seen = context.block.slot("i1", f"{hint}.seen") if _is_arg(reducer) else None
    return Places(pointers, dtypes, seen=seen)


def initialise(context: Context, reducer: Reducer, places: Places, lower: Lower) -> None:
    """Store the reducer's identity."""
    if places.seen is not None:
        context.block.do(f"store i1 false, ptr {places.seen}")
    if not reducer.is_builtin:
        places.write(context, [lower(context, each) for each in reducer.identity])
        return
    first, *payloads = places.dtypes
    values = [_identity(reducer.name.removeprefix("arg"), first)]
    places.write(context, values + [number(0, dtype) for dtype in payloads])


def update(context: Context, reducer: Reducer, places: Places, args: tuple[Expr, ...], lower: Lower) -> None:
    """Combine the accumulator with the arguments' values."""
    if not reducer.is_builtin:
        _update_by_user(context, reducer, places, args, lower)
    elif places.seen is not None:
        _update_best(context, reducer.name, places, places.seen, [lower(context, arg) for arg in args])
    else:
        dtype = places.dtypes[0]
        value = _summand(context, reducer.name, args[0], dtype, lower)
        old = places.read(context)[0]
        places.write(context, [_combined(context, reducer.name, old, value, dtype)])


def lower_reduce(context: Context, reduce: Reduce, lower: Lower) -> str:
    """The first value of a reduction that runs where its expression does."""
    places = register_places(context, reduce.reducer, reduce.reducer.name)
    initialise(context, reduce.reducer, places, lower)
    _run(context, reduce, reduce.binders, places, lower)
    return places.read(context)[0]


def _run(context: Context, reduce: Reduce, binders: tuple[Binder, ...], places: Places, lower: Lower) -> None:
    if binders:
        binder, *inner = binders
        run_loop(context, binder, reduce.span, lambda: _run(context, reduce, tuple(inner), places, lower), lower)
    elif reduce.filter is None:
        update(context, reduce.reducer, places, reduce.args, lower)
    else:
        holds = lower(context, reduce.filter)
        context.block.when(holds, lambda: update(context, reduce.reducer, places, reduce.args, lower))


def run_loop(
    context: Context, binder: Binder, span: Span, body: Callable[[], None], lower: Lower, *, descending: bool = False
) -> None:
    """A loop over the binder's range, in which its index has a value."""
    lo, hi = (form_value(context, end, lower, Site(span)) for end in (binder.lo, binder.hi))

    def inside(index: str) -> None:
        context.symbols[binder.index] = index
        body()
        del context.symbols[binder.index]

    context.block.loop(lo, hi, inside, descending=descending, hint=binder.index.name)


def _is_arg(reducer: Reducer) -> bool:
    return reducer.is_builtin and reducer.name in ("argmax", "argmin")


def _identity(name: str, dtype: DType) -> str:
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


def _summand(context: Context, name: str, arg: Expr, dtype: DType, lower: Lower) -> str:
    """The argument's value; a product added into a sum may be fused with the addition."""
    if name == "sum" and dtype.is_float and not dtype.is_half:
        match arg:
            case Binary("mul", left, right):
                values = lower(context, left), lower(context, right)
                return context.block.value(f"fmul contract {register_type(dtype)} {values[0]}, {values[1]}")
    return lower(context, arg)


def _combined(context: Context, name: str, old: str, value: str, dtype: DType) -> str:
    block, kind = context.block, register_type(dtype)
    match name:
        case "sum" | "prod" if dtype.is_float:
            operation = "fadd" if name == "sum" else "fmul"
            return round_half(block, block.value(f"{operation} reassoc contract {kind} {old}, {value}"), dtype)
        case "sum" | "prod":
            return block.value(f"{'add' if name == 'sum' else 'mul'} {kind} {old}, {value}")
        case "any" | "all":
            return block.value(f"{'or' if name == 'any' else 'and'} i1 {old}, {value}")
        case "max" | "min" if dtype.is_float:
            # The intrinsic, since LLVM vectorises a reduction with it and not one with comparisons that respect NaN.
            return block.value(f"call {kind} @llvm.{name}imum.{suffix(dtype)}({kind} {old}, {kind} {value})")
        case "max" | "min":
            sign = "s" if dtype.kind == "signed" else "u"
            return block.value(f"call {kind} @llvm.{sign}{name}.{kind}({kind} {old}, {kind} {value})")
    raise InternalError(f"reducer {name}")


def _update_best(context: Context, name: str, places: Places, seen: str, values: list[str]) -> None:
    """Replace all values where the new key is the first, is strictly better, or is NaN against a number."""
    block = context.block
    old = places.read(context)
    key = places.dtypes[0]
    better = compare(block, "gt" if name == "argmax" else "lt", values[0], old[0], key)
    if key.is_float:
        kind = register_type(key)
        new_nan = block.value(f"fcmp uno {kind} {values[0]}, {values[0]}")
        old_number = block.value(f"fcmp ord {kind} {old[0]}, {old[0]}")
        better = block.value(f"or i1 {better}, {block.value(f'and i1 {new_nan}, {old_number}')}")
    was_seen = block.value(f"load i1, ptr {seen}")
    wins = block.value(f"or i1 {better}, {block.value(f'xor i1 {was_seen}, true')}")
    block.do(f"store i1 true, ptr {seen}")
    chosen = [
        block.value(f"select i1 {wins}, {register_type(dtype)} {new}, {register_type(dtype)} {was}")
        for dtype, new, was in zip(places.dtypes, values, old)
    ]
    places.write(context, chosen)


def _update_by_user(context: Context, reducer: Reducer, places: Places, args: tuple[Expr, ...], lower: Lower) -> None:
    values = [lower(context, arg) for arg in args]
    with ExitStack() as stack:
        for name, value in zip((*reducer.left, *reducer.right), (*places.read(context), *values)):
            stack.enter_context(context.bound(name, value))
        places.write(context, [lower(context, each) for each in reducer.combine])
