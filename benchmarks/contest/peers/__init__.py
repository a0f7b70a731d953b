"""What each contender calls for a row. A module of this package has

    prepare(workload, inputs, threads) -> [Call, ...]

and may import what is not installed: then the contender is missing, which the table says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Column = Literal["plain", "packed"]
PEERS = ("openblas", "torch", "onnxruntime", "halide", "numba")
OURS = "ours"


@dataclass(frozen=True, slots=True)
class Call:
    """One way to compute a row. `column` says whether B is given as it is, or was prepared before the clock starts.

    `result` gives the array that `run` wrote last, itself and not a copy, so that it can be spoilt before the next.
    """

    name: str
    run: Callable[[], object]
    result: Callable[[], np.ndarray[Any, Any]]
    column: Column = "plain"
