"""Accumulators: identities, combining, and reductions that stayed inside expressions.

A winner (argmax, argmin) is its key, its payloads, and where it was found, an i64 for each reduced index; the first of
equal keys wins in whatever order they come. Nothing found yet is at the greatest i64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from tdl.compiler.backends.c.context import Code
from tdl.compiler.backends.c.integers import form_value
from tdl.compiler.backends.c.lowering import Lower
from tdl.compiler.backends.c.operators import binary
from tdl.compiler.backends.c.values import (
    AND,
    OR,
    SUM,
    Value,
    call,
    number,
    operation,
    value_type,
)
from tdl.compiler.backends.llvm.context import Site
from tdl.compiler.backends.llvm.scalars import concrete
from tdl.compiler.kernel.reducers import is_winner
from tdl.language.diagnostic import InternalError
from tdl.language.dtypes import I64, DType
from tdl.language.tree import Binary, Binder, Expr, Local, Reduce, Reducer, walk

_OPERATORS = {"prod": "mul", "max": "max", "min": "min"}


def identity(code: Code, reducer: Reducer, count: int, lower: Lower) -> list[Value]:
    """The values of an accumulator that has seen nothing; `count` of them, more than values where a winner is kept."""
    if not reducer.is_builtin:
        return [lower(code, each) for each in reducer.identity]
    first, *payloads = (concrete(dtype) for dtype in reducer.dtypes)
    values = [_identity(reducer.name.removeprefix("arg"), first), *(number(0, dtype) for dtype in payloads)]
    return values + [number(I64.greatest, I64)] * (count - len(values))


def _identity(name: str, dtype: DType) -> Value:
    match name:
        case "sum" | "prod":
            return number(name == "prod", dtype)
        case "any" | "all":
            return number(name == "all", dtype)
        case "max":
            return number(float("-inf") if dtype.is_float else dtype.least, dtype)
        case "min":
            return number(float("inf") if dtype.is_float else dtype.greatest, dtype)
    raise InternalError(f"reducer {name}")


def types_of(reducer: Reducer, count: int) -> list[str]:
    """The types of an accumulator's values."""
    types = [value_type(dtype) for dtype in reducer.dtypes]
    return types + ["int64_t"] * (count - len(types))


def combined(
    code: Code, reducer: Reducer, old: Sequence[Value], args: tuple[Expr, ...], places: Sequence[Value], lower: Lower
) -> list[Value]:
    """What an accumulator becomes with the arguments' values; `places` is where a candidate was found."""
    if reducer.is_builtin and reducer.name == "sum" and reducer.dtypes[0].is_float:
        match args[0]:
            case Binary("mul", left, right) if not concrete(reducer.dtypes[0]).is_half:
                factors = lower(code, left), lower(code, right)
                return [call(code.unit.helper(f"tdl_madd_{reducer.dtypes[0]}"), *factors, old[0])]
    new = [*(lower(code, arg) for arg in args), *places][: len(old)]
    if is_winner(reducer):
        return _winner(code, reducer, old, new)
    if reducer.is_builtin:
        return [_combined(code, reducer.name, old[0], new[0], concrete(reducer.dtypes[0]))]
    names = (*reducer.left, *reducer.right)
    kept = [
        named(code, name, type_, value, reducer.combine)
        for name, type_, value in zip(names, types_of(reducer, len(old)) * 2, (*old, *new))
    ]
    with ExitStack() as stack:
        for name, value in zip(names, kept):
            stack.enter_context(code.bound(name, value))
        return [lower(code, each) for each in reducer.combine]


def named(code: Code, name: str, type_: str, value: Value, users: Sequence[Expr]) -> Value:
    """A value that expressions have a name for: as it is where they use it once, and in no loop of their own."""
    nodes = [node for user in users for node in walk(user)]
    is_repeated = any(isinstance(node, Reduce) for node in nodes)
    count = sum(isinstance(node, Local) and node.name == name for node in nodes)
    return value if count <= (0 if is_repeated else 1) else code.temporary(type_, value, name)


def _combined(code: Code, name: str, old: Value, new: Value, dtype: DType) -> Value:
    match name:
        case "any":
            return operation(old, "||", new, OR)
        case "all":
            return operation(old, "&&", new, AND)
        case "sum" if dtype.is_float and not dtype.is_half:
            return operation(old, "+", new, SUM)
        case "sum":
            return binary(code, "add", old, new, dtype)
    return binary(code, _OPERATORS[name], old, new, dtype)


def _winner(code: Code, reducer: Reducer, old: Sequence[Value], new: Sequence[Value]) -> list[Value]:
    types = types_of(reducer, len(old))
    hints = ["key", *["payload"] * (len(reducer.dtypes) - 1), *["found"] * (len(old) - len(reducer.dtypes))]
    kept = [code.temporary(type_, value, hint) for type_, value, hint in zip(types, new, hints)]
    wins = code.temporary("bool", _wins(reducer, old, kept), "wins")
    return [Value(f"{wins.text} ? {mine.within(OR)} : {theirs.within(OR)}", 10) for mine, theirs in zip(kept, old)]


def _wins(reducer: Reducer, old: Sequence[Value], new: Sequence[Value]) -> Value:
    """Whether the new key is strictly better, is NaN against a number, or is as good and was found earlier."""
    one, other, count = new[0].text, old[0].text, len(reducer.dtypes)
    better = f"{one} {'>' if reducer.name == 'argmax' else '<'} {other}"
    as_good = f"{one} == {other}"
    if reducer.dtypes[0].is_float:
        better = f"{better} || (isnan({one}) && !isnan({other}))"
        as_good = f"({as_good} || (isnan({one}) && isnan({other})))"
    earlier = ""
    for mine, theirs in reversed(list(zip(new[count:], old[count:]))):
        same = f" || ({mine.text} == {theirs.text} && ({earlier}))" if earlier else ""
        earlier = f"{mine.text} < {theirs.text}{same}"
    return Value(f"{better} || ({as_good} && ({earlier}))" if earlier else better, OR)


# ---- reductions inside expressions


def lower_reduce(code: Code, reduce: Reduce, lower: Lower) -> Value:
    """The first value of a reduction that runs where its expression does."""
    reducer = reduce.reducer
    count = len(reducer.dtypes) + (len(reduce.binders) if is_winner(reducer) else 0)
    names = [code.block.fresh(reducer.name) for _ in range(count)]
    for type_, name, value in zip(types_of(reducer, count), names, identity(code, reducer, count, lower)):
        code.block.put(f"{type_} {name} = {value.text};")
    old = [Value(name) for name in names]

    def combine() -> None:
        places = [code.symbol(binder.index) for binder in reduce.binders]
        assign(code, names, types_of(reducer, count), combined(code, reducer, old, reduce.args, places, lower))

    _run(code, reduce, reduce.binders, combine, lower)
    return old[0]


def assign(code: Code, places: Sequence[str], types: Sequence[str], values: Sequence[Value]) -> None:
    """Give places their new values, all of which are computed before any is given."""
    if len(places) > 1:
        values = [code.temporary(type_, value, "next") for type_, value in zip(types, values)]
    for place, value in zip(places, values):
        code.block.put(f"{place} = {value.text};")


def _run(code: Code, reduce: Reduce, binders: tuple[Binder, ...], combine: Callable[[], None], lower: Lower) -> None:
    if binders:
        binder, *inner = binders
        run_loop(code, binder, Site(reduce.span), lambda: _run(code, reduce, tuple(inner), combine, lower), lower)
    elif reduce.filter is None:
        combine()
    else:
        condition = lower(code, reduce.filter)
        with code.block.braces(f"if ({condition.text})"):
            combine()


def run_loop(
    code: Code,
    binder: Binder,
    site: Site,
    body: Callable[[], None],
    lower: Lower,
    *,
    descending: bool = False,
    comment: str = "",
) -> None:
    """A loop over the binder's range, in which its index has a name."""
    block = code.block
    lo, hi = (form_value(code, end, lower, site) for end in (binder.lo, binder.hi))
    hint = index_name(binder.index.name)
    lo, hi = (_once(code, end, f"{hint}_{which}") for end, which in ((lo, "first"), (hi, "end")))
    with block.inside():
        name = block.fresh(hint)
        code.symbols[binder.index] = Value(name)
        if descending:
            last = operation(hi, "-", Value("1"), SUM)
            head = f"for (int64_t {name} = {last.text}; {name} >= {lo.within(SUM)}; --{name})"
        else:
            head = f"for (int64_t {name} = {lo.text}; {name} < {hi.within(SUM)}; ++{name})"
        block.depth -= 1
        block.put(f"{head} {{{comment and f'  /* {comment} */'}")
        block.depth += 1
        body()
        del code.symbols[binder.index]
    block.put("}")


def index_name(name: str) -> str:
    """What a loop's counter is called: `ji` for `C.init.ji`, `ji_lane` for its lanes."""
    *_, before, last = ("", *name.split("."))
    return f"{before}_{last}" if last in ("lane", "vector") else last


def _once(code: Code, end: Value, hint: str) -> Value:
    """The end of a loop, computed once where it is more than a sum."""
    return code.temporary("int64_t", end, hint) if "(" in end.text or "[" in end.text else end
