"""The values of a reduction: which kind it is, and what it gives when there is nothing to reduce."""

from __future__ import annotations

import numpy as np
from tdl.language.arithmetic import Value, number
from tdl.language.evaluate.accumulations import UFUNCS, accumulated, identity_of
from tdl.language.evaluate.foldings import best, combine, folded
from tdl.language.evaluate.integers import Evaluator
from tdl.language.evaluate.lanes import Lanes
from tdl.language.tree import Reduce

_BEST = {"argmax": best(np.greater), "argmin": best(np.less)}


def reduced(node: Reduce, outer: Lanes, evaluate: Evaluator) -> tuple[Value, ...]:
    """The reduction's values in the outer lanes, as many as it has arguments."""
    reducer = node.reducer
    if not reducer.is_builtin:
        identity = tuple(evaluate(each, outer) for each in reducer.identity)
        return folded(node, outer, evaluate, combine(reducer, outer, evaluate), identity)
    if reducer.name in UFUNCS:
        return (accumulated(node, outer, evaluate),)
    key, *payloads = reducer.dtypes
    nothing = (identity_of(reducer.name, key), *(number(0, each) for each in payloads))
    return folded(node, outer, evaluate, _BEST[reducer.name], nothing)
