"""Arrays from files and command-line words, and back: `.npy`, `.npz`, `.csv`, images, and numbers as written.

    X=a.npy   W=weights.npz:dense   b=bias.csv   P=photo.jpg   lo=0   k=[1,2,1]

An `.npy` or `.npz` array is taken as it is, dtype and all; text and images have no dtype and take the declared one, if
it can hold them. This module knows nothing of ops: it is told what is wanted.
"""

from __future__ import annotations

import io
import json
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tdl.compiler.cli.fault import ERRORS, Fault
from tdl.compiler.cli.files import read_bytes, replace_file

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".gif")
_READABLE = (".npy", ".npz", ".csv", *IMAGES)
_JSON = {"inf": "Infinity", "nan": "NaN"}
_NUMBER = re.compile(r"[-+.\d\[]|(inf|nan|true|false)$", re.IGNORECASE)


@dataclass(frozen=True)
class Wanted:
    """A declared tensor: sizes that are numbers in the program are known, others None."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int | None, ...]


def read_array(text: str, wanted: Wanted) -> Array:
    """The array that `text` names or spells."""
    import numpy as np

    path, _, key = text.partition(".npz:")
    path = path + ".npz" if key else path
    suffix = _suffix(path)
    if suffix in _READABLE:
        data = read_bytes(path)
        match suffix:
            case ".npy":
                return _restored(_unpacked(path, data), wanted)
            case ".npz":
                return _restored(_from_archive(path, _unpacked(path, data), key, wanted), wanted)
            case ".csv":
                return _from_csv(path, data, wanted)
            case _:
                from tdl.compiler.cli.images import read_image

                return read_image(path, data, wanted)
    if not _NUMBER.match(text):
        kinds = ", ".join(_READABLE[:3])
        raise Fault(f"{wanted.name}: cannot read {text}", f"give a file ({kinds} or an image), a number or a list")
    try:
        value = json.loads(re.sub(r"\b(inf|nan)\b", lambda word: _JSON[word[0]], text.lower()))
        return exactly(np.array(value), wanted)
    except (ValueError, TypeError, RecursionError):
        raise Fault(f"{wanted.name}: {text} is not a number or a list of numbers") from None


def exactly(array: Array, wanted: Wanted) -> Array:
    """Numbers that have no dtype of their own, in the declared one; what it cannot hold is refused."""
    import numpy as np

    if array.dtype == object or array.dtype.kind in "USV":
        raise ValueError
    with np.errstate(all="ignore"):
        result = array.astype(wanted.dtype)
        is_float = wanted.dtype.kind not in "iub"
        same = True if is_float else bool(np.all(result == array))
    if not same:
        wrong = array[result != array].ravel()[0]
        raise Fault(f"{wanted.name}: {wanted.dtype} cannot hold {wrong}", exit_code=ERRORS)
    return result


# ---- files


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def _unpacked(path: str, data: bytes) -> Any:
    import numpy as np

    try:
        return np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, OSError, EOFError, KeyError) as error:
        if "pickle" in str(error).lower() and data[:6] == b"\x93NUMPY":
            raise Fault(f"{path} holds Python objects, not numbers", exit_code=ERRORS) from None
        raise Fault(f"{path} is not a NumPy file", exit_code=ERRORS) from None


def _from_archive(path: str, archive: Any, key: str, wanted: Wanted) -> Array:
    names = list(archive.files)
    key = key or (wanted.name if wanted.name in names else names[0] if len(names) == 1 else "")
    if key in names:
        return _unpacked(f"{path}:{key}", archive.zip.read(f"{key}.npy"))  # type: ignore[no-any-return]
    held = ", ".join(names) or "nothing"
    what = f"no array {key}" if key else f"several arrays and none called {wanted.name}"
    raise Fault(f"{path} holds {what}", f"it holds {held}; name one, as in {path}:{names[0] if names else 'key'}")


def _restored(array: Array, wanted: Wanted) -> Array:
    """NumPy files store bf16 as bytes without a name; they are read back as what is declared."""
    if array.dtype.kind == "V" and array.dtype.itemsize == wanted.dtype.itemsize:
        return array.view(wanted.dtype)
    return array


def _from_csv(path: str, data: bytes, wanted: Wanted) -> Array:
    import numpy as np

    text = data.decode("utf-8-sig", errors="replace")
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and not all(_NUMBER.match(cell.strip()) for cell in lines[0].split(",")):
        lines = lines[1:]
    try:
        kind = np.int64 if wanted.dtype.kind in "iub" and wanted.dtype != np.uint64 else np.float64
        kind = np.uint64 if wanted.dtype == np.uint64 else kind
        table = np.loadtxt(lines, dtype=kind, delimiter=",", ndmin=2) if lines else np.zeros((0, 0), kind)
    except ValueError as error:
        raise Fault(f"{path}: {error}", exit_code=ERRORS) from None
    return exactly(_with_rank(table, wanted), wanted)


def _with_rank(table: Array, wanted: Wanted) -> Array:
    """A table of one row, column or cell is also a vector or a scalar."""
    rank = len(wanted.shape)
    if rank == 1 and min(table.shape) <= 1:
        return table.reshape(-1)
    return table.reshape(()) if rank == 0 and table.size == 1 else table


# ---- writing


def check_writable(path: str) -> None:
    """Refuse an output file before the work is done rather than after it."""
    suffix = _suffix(path)
    if suffix not in _READABLE:
        what = (
            f"`{suffix}` is not a kind of file that is known" if suffix else "its name does not end in a kind of file"
        )
        raise Fault(f"cannot write {path}: {what}", f"known are {', '.join(_READABLE)}")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise Fault(f"cannot write {path}: there is no directory {folder}")
    if suffix in IMAGES:
        from tdl.compiler.cli.images import require_pillow

        require_pillow(path)


def write_arrays(path: str, arrays: dict[str, Array]) -> None:
    """Write one array, or for `.npz` any number by name, in the form that the file's name asks for."""
    import numpy as np

    file = io.BytesIO()
    suffix = _suffix(path)
    if suffix == ".npz":
        np.savez(file, **arrays)  # type: ignore[arg-type]
    else:
        ((name, array),) = arrays.items()
        match suffix:
            case ".npy":
                np.save(file, array, allow_pickle=False)
            case ".csv":
                _to_csv(path, name, array, file)
            case _:
                from tdl.compiler.cli.images import write_image

                write_image(path, name, array, file)
    replace_file(path, file.getvalue())


def _to_csv(path: str, name: str, array: Array, file: io.BytesIO) -> None:
    import numpy as np

    if array.ndim > 2:
        raise Fault(f"cannot write {path}: {name} has {array.ndim} dimensions, a table two", "use .npy", ERRORS)
    kind = "%d" if array.dtype.kind in "iub" else "%.17g" if array.dtype.itemsize == 8 else "%.9g"
    wide = array if array.dtype.kind in "iub" or array.dtype.itemsize == 8 else array.astype(np.float32)
    np.savetxt(file, np.atleast_1d(wide), fmt=kind, delimiter=",")
