"""Pictures as arrays, through Pillow where it is installed.

Floats are brightness from 0 to 1, integers are the file's own 0 to 255. The declared shape says what is wanted: two
dimensions are grey, three with a last (or first) size of 1, 3 or 4 are channels. Pictures are turned upright.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from tdl.compiler.cli.fault import ERRORS, USAGE, Fault

if TYPE_CHECKING:
    import numpy as np
    from tdl.compiler.cli.arrays import Wanted

    Array = np.ndarray[Any, Any]

_MODES = {1: "L", 3: "RGB", 4: "RGBA"}


def require_pillow(path: str) -> None:
    """Pillow is an extra: say so where it is missing."""
    try:
        import PIL.Image  # noqa: F401
    except ImportError:
        raise Fault(f"{path}: pictures need Pillow", "pip install 'tdlang[images]'", USAGE) from None


def read_image(path: str, data: bytes, wanted: Wanted) -> Array:
    """A picture in the dtype and shape that the op declares."""
    require_pillow(path)
    import numpy as np
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as opened:
            picture = ImageOps.exif_transpose(opened)
            channels, first = _channels(path, wanted)
            deep = picture.mode.startswith(("I", "F"))
            pixels = np.asarray(picture if deep else picture.convert(_MODES[channels]))
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise Fault(f"{path} is not a picture that can be read ({error})", exit_code=ERRORS) from None
    if deep and channels > 1:
        raise Fault(f"{path} is grey and {wanted.name} has {channels} channels", exit_code=ERRORS)
    if pixels.ndim == 2 and len(wanted.shape) == 3:
        pixels = pixels[..., None]
    return _scaled(np.moveaxis(pixels, -1, 0) if first else pixels, 65535 if deep else 255, wanted)


def _channels(path: str, wanted: Wanted) -> tuple[int, bool]:
    """How many, and whether they come first."""
    match wanted.shape:
        case (_, _):
            return 1, False
        case (_, _, 1 | 3 | 4 as last):
            return last, False
        case (1 | 3 | 4 as first, _, _):
            return first, True
        case (_, _, _):
            return 3, False
    raise Fault(
        f"{path}: a picture has 2 dimensions, or 3 with its channels, and {wanted.name} has {len(wanted.shape)}",
        exit_code=ERRORS,
    )


def _scaled(pixels: Array, greatest: int, wanted: Wanted) -> Array:
    import numpy as np

    if wanted.dtype.kind not in "iub":
        return (pixels.astype(np.float64) / greatest).astype(wanted.dtype)
    if wanted.dtype == bool:
        return pixels * 2 > greatest
    if np.iinfo(wanted.dtype).max < 255:
        raise Fault(f"{wanted.name}: {wanted.dtype} cannot hold the 0 to 255 of a picture", exit_code=ERRORS)
    return (pixels if greatest == 255 else pixels // 257).astype(wanted.dtype)


def write_image(path: str, name: str, array: Array, file: io.BytesIO) -> None:
    """Write a picture; floats outside 0 to 1 are clipped."""
    import numpy as np
    from PIL import Image

    pixels = _bytes(path, name, array)
    match pixels.shape:
        case (_, _):
            pass
        case (_, _, 1):
            pixels = pixels[..., 0]
        case (_, _, 3 | 4):
            pass
        case (1, _, _):
            pixels = pixels[0]
        case (3 | 4, _, _):
            pixels = np.moveaxis(pixels, 0, -1)
        case shape:
            raise Fault(f"cannot write {path}: {name} has the shape {shape}, not a picture's", "use .npy", ERRORS)
    if pixels.size == 0:
        raise Fault(f"cannot write {path}: {name} is empty", "use .npy", ERRORS)
    kind = Image.registered_extensions()["." + path.rsplit(".", 1)[1].lower()]
    picture = Image.fromarray(np.ascontiguousarray(pixels))
    picture.convert("RGB" if kind == "JPEG" and picture.mode == "RGBA" else picture.mode).save(file, kind)


def _bytes(path: str, name: str, array: Array) -> Array:
    import numpy as np

    if array.dtype == np.uint8:
        return array
    if array.dtype.kind == "b":
        return _bytes(path, name, array.astype(np.float32))
    if array.dtype.kind in "iu":
        raise Fault(f"cannot write {path}: {name} is {array.dtype}, a picture u8, bool or a float", "use .npy", ERRORS)
    bright = np.nan_to_num(array.astype(np.float64), nan=0.0)
    pixels: Array = np.rint(np.clip(bright, 0, 1) * 255).astype(np.uint8)
    return pixels
