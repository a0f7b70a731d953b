"""What `tdlc run` prints: each input and result in one line, some elements of results, and the time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tdl.compiler.cli.duration import duration
from tdl.language.frame import Fragment, Line

if TYPE_CHECKING:
    import numpy as np
    from tdl.language.binding import Bound

    Array = np.ndarray[Any, Any]


def describe_run(
    bound: Bound,
    inputs: Mapping[str, Array],
    results: Mapping[str, Array],
    given: Mapping[str, str],
    targets: Mapping[str, Sequence[str]],
    timing: tuple[float, float],
) -> Iterator[Line]:
    """All lines of the summary."""
    types = {name: _type(bound, name, array) for name, array in {**inputs, **results}.items()}
    names, width = max(map(len, types)), max(map(len, types.values()))
    for name in inputs:
        origin = given.get(name, "random")
        yield (*_head(name, types[name], names, width), Fragment(_short(origin), "dim"))
    for name, array in results.items():
        files = [path for path, held in targets.items() if name in held]
        place = (Fragment(f"  -> {', '.join(files)}", "good"),) if files else ()
        yield (*_head(name, types[name], names, width), *_statistics(array), *place)
        if not targets:
            yield from ((Fragment(f"    {row}"),) for row in _elements(array))
    compiled, ran = timing
    yield (Fragment(f"ran in {duration(ran)}, compiled in {duration(compiled)}", "dim"),)


def _head(name: str, type: str, names: int, width: int) -> Line:
    return (Fragment(name.ljust(names), "message"), Fragment(f"  {type.ljust(width)}  ", "place"))


def _type(bound: Bound, name: str, array: Array) -> str:
    shape = f"[{', '.join(map(str, array.shape))}]" if array.ndim else ""
    return f"{bound.program.tensors[name].dtype}{shape}"


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _statistics(array: Array) -> Line:
    """Least, mean and greatest; how many are NaN where some are."""
    import numpy as np

    if array.dtype == bool:
        return (Fragment(f"{int(array.sum())} of {array.size} true"),)
    numbers = array.astype(np.float64) if array.dtype.kind not in "iu" else array
    missing = int(np.isnan(numbers).sum()) if numbers.dtype.kind == "f" else 0
    known = numbers[~np.isnan(numbers)] if missing else numbers
    if not known.size or array.ndim == 0:
        return (Fragment(f"{missing} NaN" if missing else "empty" if not array.size else "", "warning"),)
    with np.errstate(all="ignore"):
        parts = [("min", known.min()), ("mean", known.mean(dtype=np.float64)), ("max", known.max())]
    line = tuple(
        fragment for word, value in parts for fragment in (Fragment(f"{word} ", "dim"), Fragment(f"{_number(value)}  "))
    )
    return (*line, Fragment(f"{missing} NaN", "warning")) if missing else line


def _number(value: Any) -> str:
    return str(value) if value.dtype.kind in "iu" else f"{value:.4g}"


def _elements(array: Array) -> Sequence[str]:
    """The corners of the array, at most a few lines."""
    import numpy as np

    wide = array.astype(np.float32) if array.dtype.kind == "V" or array.dtype.name == "bfloat16" else array
    text = np.array2string(wide, precision=4, threshold=60, edgeitems=3, max_line_width=96, suppress_small=True)
    lines = text.splitlines()
    return lines if len(lines) <= 12 else [*lines[:11], "..."]
