"""A stage's statement as text: `C[i, j] += A[i, k] * B[k, j]`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tdl.compiler.schedule.text import access_text, expr_text
from tdl.compiler.schedule.touches import rewritten
from tdl.compiler.schedule.tree import Copy, Initial, Stage, Store, Update
from tdl.language import forms
from tdl.language.dtypes import DType, Type
from tdl.language.forms import Form, Symbol
from tdl.language.tree import Reducer, Target

_IDENTITIES = {"sum": "0", "prod": "1", "any": "false", "all": "true"}
_COMBINES = {"sum": "+=", "prod": "*=", "max": "max=", "min": "min=", "any": "or=", "all": "and="}


def statement_text(stage: Stage, values: Mapping[Symbol, Form], through: Mapping[str, str]) -> str:
    """What a stage does, its own indices written as `values` say."""
    match stage.work:
        case Store(targets, exprs):
            left = _group(_target(target, values, through) for target in targets)
            return f"{left} = {_group(expr_text(rewritten(expr, values, through)) for expr in exprs)}"
        case Copy(target, source):
            return f"{_target(target, values, through)} = {_target(source, values, through)}"
        case Update(targets, reducer, args):
            left = _group(_target(target, values, through) for target in targets)
            right = _group(expr_text(rewritten(arg, values, through)) for arg in args)
            combine = _COMBINES.get(reducer.name) if reducer.is_builtin else None
            return f"{left} {combine} {right}" if combine else f"{left} = {reducer.name}({left}, {right})"
        case Initial(targets, reducer):
            left = _group(_target(target, values, through) for target in targets)
            return f"{left} = {_group(_identities(reducer))}"


def _identities(reducer: Reducer) -> Iterator[str]:
    if not reducer.is_builtin:
        yield from map(expr_text, reducer.identity)
        return
    first, *payloads = reducer.dtypes
    kind = reducer.name.removeprefix("arg")
    yield _IDENTITIES[kind] if kind in _IDENTITIES else _extreme(kind, first)
    yield from ("0" for _ in payloads)


def _extreme(kind: str, dtype: Type) -> str:
    """The identity of max or min: the least or the greatest value of the dtype."""
    if dtype.is_float:
        return "-inf" if kind == "max" else "inf"
    if isinstance(dtype, DType):
        return str(dtype.least if kind == "max" else dtype.greatest)
    return f"{'least' if kind == 'max' else 'greatest'}({dtype})"


def _group(texts: Iterable[str]) -> str:
    every = list(texts)
    return every[0] if len(every) == 1 else f"({', '.join(every)})"


def _target(target: Target, values: Mapping[Symbol, Form], through: Mapping[str, str]) -> str:
    coordinates = tuple(forms.substitute(form, values) for form in target.coordinates)
    return access_text(through.get(target.tensor, target.tensor), coordinates)
