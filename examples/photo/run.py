"""Blurs a photograph and finds its edges with two ops written in TDL, and writes the pictures beside each other.

    python examples/photo/run.py                    # writes out/blurred.png, out/edges.png and out/photo.png
    python examples/photo/run.py my.jpg -o there

The same from the shell, one op at a time:

    tdlc run examples/photo/photo.tdl sobel X=examples/photo/photo.jpg -o edges.png
    tdlc run examples/photo/photo.tdl blur X=examples/photo/photo.jpg --set sigma=6 -o blurred.png
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from tdl.compiler import load

HERE = Path(__file__).parent
GAP = 12
"""White pixels between pictures that stand side by side."""

Array = np.ndarray[Any, Any]


def main() -> None:
    options = _options()
    ops = load(HERE / "photo.tdl")
    photo = np.asarray(Image.open(options.photo).convert("RGB"))
    options.out.mkdir(parents=True, exist_ok=True)

    blurred = _timed("blur", lambda: ops.blur(photo))
    edges = _timed("sobel", lambda: ops.sobel(photo))
    for name, picture in (("blurred", blurred), ("edges", edges), ("photo", side_by_side(photo, blurred, edges))):
        path = options.out / f"{name}.png"
        Image.fromarray(picture).save(path, optimize=True)
        print(f"{path}  {picture.shape[1]}x{picture.shape[0]}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Blur a photograph and find its edges.")
    parser.add_argument("photo", nargs="?", type=Path, default=HERE / "photo.jpg", help="any picture Pillow reads")
    parser.add_argument("-o", "--out", type=Path, default=HERE / "out", help="folder for the results")
    return parser.parse_args()


def _timed(name: str, run: Callable[[], Array]) -> Array:
    """The result, run twice: the first call compiles."""
    run()
    start = time.perf_counter()
    result = run()
    print(f"{name}: {(time.perf_counter() - start) * 1e3:.1f} ms")
    return result


def side_by_side(*pictures: Array) -> Array:
    """Pictures of one height in a row, grey ones as colour."""
    height = pictures[0].shape[0]
    gap = np.full((height, GAP, 3), 255, np.uint8)
    parts = [gap]
    for picture in pictures:
        parts += [picture if picture.ndim == 3 else np.repeat(picture[..., None], 3, axis=2), gap]
    return np.concatenate(parts[1:-1], axis=1)


if __name__ == "__main__":
    main()
