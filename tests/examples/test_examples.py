"""The examples as a reader runs them: their programs pass their own tests, and the scripts give what they promise."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tdl.compiler.trial import try_case
from tdl.language import syntax
from tdl.language.analysis import analyse
from tdl.language.cases import check_case
from tdl.language.source import Source

EXAMPLES = Path(__file__).parents[2] / "examples"
PHOTO = EXAMPLES / "photo"
PROGRAMS = sorted(EXAMPLES.rglob("*.tdl"))
KERNEL = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])

Array = np.ndarray[Any, Any]


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """A Python script or module, in a process of its own that finds the packages this one finds."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, *command], capture_output=True, encoding="utf-8", env=environment, check=False
    )


def pixels(path: Path) -> Array:
    return np.asarray(Image.open(path))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_checks_and_its_tests_pass(path: Path) -> None:
    analysis = analyse(Source(str(path), path.read_text(encoding="utf-8")))
    assert analysis.diagnostics == ()
    declarations = [entry.declaration for entry in analysis.module.entries]
    cases = [check_case(each).case for each in declarations if isinstance(each.item, syntax.Test)]
    assert cases
    for case in cases:
        assert case is not None
        verdict = try_case(case, schedules=analysis.module.schedules)
        assert verdict.is_good, (case.name, verdict.failure, str(verdict.difference))


# ---- digits


@pytest.fixture(scope="module")
def report() -> subprocess.CompletedProcess[str]:
    return run(EXAMPLES / "digits" / "classify.py")


def test_digits_are_read_as_well_as_scikit_learn_reads_them(report: subprocess.CompletedProcess[str]) -> None:
    assert report.stderr == ""
    assert report.returncode == 0
    peer = json.loads((EXAMPLES / "digits" / "accuracy.json").read_text(encoding="utf-8"))
    words = " ".join(report.stdout.split())  # columns are as wide as the times in them
    assert f"TDL {peer['accuracy']:.2%} {peer['correct']} of {peer['images']} right" in words
    assert "the same" in report.stdout


def test_the_confusion_table_counts_every_picture(report: subprocess.CompletedProcess[str]) -> None:
    rows = [line.split() for line in report.stdout.splitlines()]
    table = [row[1:] for row in rows if len(row) == 11 and row[0].isdigit()]
    labels = np.load(EXAMPLES / "digits" / "digits.npz")["labels"]
    counts = [[0 if cell == "·" else int(cell) for cell in row] for row in table]
    assert [sum(row) for row in counts] == np.bincount(labels).tolist()


# ---- photo


def test_a_photograph_is_blurred_and_its_edges_found(tmp_path: Path) -> None:
    result = run(PHOTO / "run.py", "-o", tmp_path)
    assert result.returncode == 0, result.stderr
    photo = np.asarray(Image.open(PHOTO / "photo.jpg").convert("RGB"))
    blurred, edges = pixels(tmp_path / "blurred.png"), pixels(tmp_path / "edges.png")
    assert nearly_equal(blurred, gaussian(photo, sigma=3, radius=9))
    assert nearly_equal(edges, sobel(photo))
    height, width = edges.shape
    side_by_side = pixels(tmp_path / "photo.png")
    assert side_by_side.shape[0] == height
    assert (side_by_side[:, :width] == photo).all()
    assert (side_by_side[:, -width:] == edges[..., None]).all()


def test_the_command_of_the_readme_gives_the_same_edges(tmp_path: Path) -> None:
    out = tmp_path / "edges.png"
    command = ("run", PHOTO / "photo.tdl", "sobel", f"X={PHOTO / 'photo.jpg'}", "-o", out)
    result = run("-m", "tdl.compiler.cli.main", *command)
    assert result.returncode == 0, result.stderr
    assert nearly_equal(pixels(out), sobel(np.asarray(Image.open(PHOTO / "photo.jpg").convert("RGB"))))


def nearly_equal(found: Array, wanted: Array) -> bool:
    """Equal but for a few pixels that round the other way."""
    apart = np.abs(found.astype(int) - wanted.astype(int))
    return found.shape == wanted.shape and apart.max() <= 1 and bool((apart > 0).mean() < 0.001)


def gaussian(photo: Array, sigma: float, radius: int) -> Array:
    weights = np.exp(-((np.arange(-radius, radius + 1) / sigma) ** 2) / 2)
    weights /= weights.sum()
    padded = np.pad(photo.astype(float), [(radius, radius), (radius, radius), (0, 0)], mode="edge")
    for axis in (0, 1):
        padded = np.lib.stride_tricks.sliding_window_view(padded, len(weights), axis=axis) @ weights
    return np.rint(padded)


def sobel(photo: Array) -> Array:
    luma = np.pad(photo @ np.array([0.299, 0.587, 0.114]), 1, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(luma, (3, 3))
    across, down = (np.einsum("ijrs,rs->ij", windows, kernel) for kernel in (KERNEL, KERNEL.T))
    steep = np.hypot(across, down)
    return np.rint(255 * steep / steep.max())
