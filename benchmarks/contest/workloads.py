"""The rows of the table: what is computed, on which inputs, and the answer in float64.

    find("skinny 4x1024x1024").inputs()      [A: f32[4, 1024], B: f32[1024, 1024]]

Inputs come from a seed, so that every worker makes the same ones. Work is counted in multiplications and additions for
products, and in bytes that have to move for stencils: every input is read once, every output written once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

SQUARES = (256, 512, 1000, 1023, 1024, 2048)
SKINNY = ((1, 1024, 1024), (1, 4096, 4096), (4, 1024, 1024), (4, 4096, 4096), (1024, 1024, 8), (4096, 4096, 8))
TRANSFORMER = ((128, 768, 3072), (128, 3072, 768))
PHOTO = (2160, 3840)


@dataclass(frozen=True, slots=True)
class Workload:
    """`sizes` are M, K, N of a product, with B before them of a batched one; height and width of an image."""

    family: str
    sizes: tuple[int, ...]
    dtype: str = "f32"
    variant: str = ""

    @property
    def name(self) -> str:
        """`square 512`, `skinny 1x1024x1024`, `blur / 3`."""
        if self.is_blur:
            return f"blur {self.variant}"
        sizes = self.sizes[:1] if self.family == "square" else self.sizes
        return f"{self.family} {'x'.join(map(str, sizes))}"

    @property
    def is_blur(self) -> bool:
        return self.family == "blur"

    @property
    def work(self) -> int:
        """Additions and multiplications of a product, bytes of a stencil."""
        if self.is_blur:
            height, width = self.sizes
            return 4 * (height * width + (height - 2) * (width - 2))
        return 2 * int(np.prod(self.sizes))

    @property
    def tolerance(self) -> float:
        """How far an answer may be from the reference, as a share of the reference's greatest element."""
        return 1e-12 if self.dtype == "f64" else 1e-5

    def inputs(self) -> list[Array]:
        kind = np.float64 if self.dtype == "f64" else np.float32
        generator = np.random.default_rng(7)
        if self.is_blur:
            return [generator.random(self.sizes, dtype=np.float32)]
        *batch, m, k, n = self.sizes
        return [generator.standard_normal((*batch, *shape)).astype(kind) for shape in ((m, k), (k, n))]

    def reference(self, inputs: list[Array]) -> Array:
        wide = [each.astype(np.float64) for each in inputs]
        return _blurred(wide[0]) if self.is_blur else np.asarray(wide[0] @ wide[1])


def _blurred(image: Array) -> Array:
    rows = (image[:, :-2] + image[:, 1:-1] + image[:, 2:]) / 3
    return np.asarray((rows[:-2] + rows[1:-1] + rows[2:]) / 3)


def error(answer: Array, reference: Array) -> float:
    """The greatest difference, as a share of the reference's greatest element; infinite where shapes differ."""
    if answer.shape != reference.shape:
        return float("inf")
    worst = float(np.max(np.abs(answer - reference)) / np.max(np.abs(reference)))
    return float("inf") if np.isnan(worst) else worst


ROWS = (
    *(Workload("square", (n, n, n)) for n in SQUARES),
    *(Workload("skinny", sizes) for sizes in SKINNY),
    *(Workload("transformer", sizes) for sizes in TRANSFORMER),
    Workload("batched", (12, 512, 64, 512)),
    Workload("f64", (1024, 1024, 1024), "f64"),
    Workload("blur", PHOTO, variant="/ 3, shared schedule"),
    Workload("blur", PHOTO, variant="/ 3"),
    Workload("blur", PHOTO, variant="* (1/3)"),
)


def find(name: str) -> Workload:
    return next(row for row in ROWS if row.name == name)


def matching(pattern: str) -> list[Workload]:
    return [row for row in ROWS if re.search(pattern, row.name)]
