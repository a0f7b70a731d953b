"""Reads 450 handwritten digits with a network written in TDL, and compares it with scikit-learn on the same weights.

    python examples/digits/classify.py

It needs numpy and tdl alone. The exit code is 0 where exactly as many digits are read right as scikit-learn reads.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text
from tdl.compiler import load

HERE = Path(__file__).parent
SHADES = " ░▒▓█"
INK = 16
"""The value of a pixel that is all ink."""

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Reader:
    """The ops of `digits.tdl` with trained weights."""

    ops: Any
    weights: dict[str, Array]

    def read(self, images: Array) -> tuple[Array, Array]:
        """How sure the network is of each picture, and the digit it sees there."""
        ops, weights = self.ops, self.weights
        hidden = ops.relu(ops.dense(ops.brightness(images), weights["w1"], weights["b1"]))
        sure, digits = ops.decide(ops.softmax(ops.dense(hidden, weights["w2"], weights["b2"])))
        return sure, digits

    def seconds_per_image(self, images: Array, rounds: int = 25) -> float:
        """The median of some rounds, each over all images at once. Ops are compiled by then."""
        times = []
        for _ in range(rounds):
            start = time.perf_counter()
            self.read(images)
            times.append(time.perf_counter() - start)
        return float(np.median(times)) / len(images)


# ---- what is shown


def summary(right: int, images: int, peer: int, seconds: float) -> Table:
    table = Table.grid(padding=(0, 2))
    verdict = Text("the same", "bold green") if right == peer else Text("different", "bold red")
    table.add_row("TDL", Text(f"{right / images:.2%}", "bold"), f"{right} of {images} right")
    table.add_row("scikit-learn", Text(f"{peer / images:.2%}", "bold"), f"{peer} of {images} right", verdict)
    table.add_row("time", Text(f"{seconds * 1e6:.2f} µs", "bold"), "an image")
    return table


def confusion(labels: Array, digits: Array) -> Table:
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (labels, digits), 1)
    table = Table(box=None, padding=(0, 1), title="written ↓  read →", title_style="dim", title_justify="left")
    table.add_column(style="bold")
    for digit in range(10):
        table.add_column(str(digit), justify="right")
    for label, row in enumerate(counts):
        table.add_row(str(label), *(_count(number, label == digit) for digit, number in enumerate(row)))
    return table


def _count(number: int, is_right: bool) -> Text:
    if not number:
        return Text("·", "dim")
    return Text(str(number), "green" if is_right else "bold red")


def gallery(images: Array, labels: Array, digits: Array, sure: Array, chosen: Array, is_colored: bool) -> Table:
    """The chosen pictures side by side, each over what it is read as."""
    table = Table.grid(padding=(0, 3))
    table.add_row(*(picture(images[each], is_colored) for each in chosen))
    table.add_row(*(_caption(labels[each], digits[each], sure[each]) for each in chosen))
    return table


def _caption(label: int, digit: int, sure: float) -> Text:
    if digit == label:
        return Text.assemble((f"{digit}", "bold green"), (f"  {sure:.0%} sure", "dim"))
    return Text.assemble((f"{digit}", "bold red"), f" not {label}", (f"  {sure:.0%}", "dim"))


def picture(pixels: Array, is_colored: bool) -> Text:
    """Two characters a pixel: shades of grey, or blocks of some density where there are no colours."""
    text = Text()
    for row in pixels:
        for ink in row.tolist():
            if is_colored:
                grey = 24 + 216 * ink // INK
                text.append("  ", f"on rgb({grey},{grey},{grey})")
            else:
                text.append(SHADES[(len(SHADES) - 1) * ink // INK] * 2)
        text.append("\n")
    return text[:-1]


def report(images: Array, labels: Array, digits: Array, sure: Array, is_colored: bool) -> Group:
    is_right = digits == labels
    right = np.array([np.flatnonzero(is_right & (labels == digit))[0] for digit in (0, 3, 4, 5)])
    wrong = np.flatnonzero(~is_right)[:4]
    shown = (gallery(images, labels, digits, sure, chosen, is_colored) for chosen in (right, wrong))
    titles = (Text(title, "dim") for title in ("some it reads", "some it misreads"))
    return Group(confusion(labels, digits), *(part for row in zip(titles, shown) for part in ("", *row)))


def main() -> int:
    data = np.load(HERE / "digits.npz")
    images, labels = data["images"], data["labels"]
    reader = Reader(load(HERE / "digits.tdl"), dict(np.load(HERE / "weights.npz")))
    sure, digits = reader.read(images)
    right = int((digits == labels).sum())
    peer = json.loads((HERE / "accuracy.json").read_text(encoding="utf-8"))["correct"]

    console = Console()
    console.print("", summary(right, len(labels), peer, reader.seconds_per_image(images)), sep="\n")
    console.print("", report(images, labels, digits, sure, is_colored=console.color_system is not None), sep="\n")
    return 0 if right == peer else 1


if __name__ == "__main__":
    sys.exit(main())
