"""Reductions taken apart."""

import numpy as np
import pytest
from tdl.compiler import ProgramError, load

WINNER = """\
op best(X: i32[M, N, K]) -> (V: i32[N], A: i32[N]) where M >= 1, K >= 1 {
    (V[j], A[j]) = argmax((X[i, j, k], i32(10*i + k)) for i, k)
}
schedule best for cpu {
    LINES
}
"""


@pytest.fixture
def best(tmp_path):
    def made(lines):
        path = tmp_path / "w.tdl"
        path.write_text(WINNER.replace("LINES", lines))
        return load(path).best

    return made


@pytest.mark.parametrize("lines", ["rfactor V.i -> P", "split V.i by 2 -> io, ii\n    rfactor io -> P"])
def test_the_first_winner_stays_first_by_the_highest_digit(best, lines):
    op = best(lines)
    x = np.random.default_rng(0).integers(0, 2, (5, 3, 4)).astype(np.int32)
    values, first = op(x)
    for column in range(3):
        i, k = np.unravel_index(np.argmax(x[:, column, :]), (5, 4))
        assert (values[column], first[column]) == (x[i, column, k], 10 * i + k)


@pytest.mark.parametrize(
    "lines",
    [
        "rfactor V.k -> P",
        "split V.i by 2 -> io, ii\n    rfactor ii -> P",
        "reorder V.k, V.i\n    skew V.k, V.i by 1 -> w, p\n    rfactor w -> P",
    ],
)
def test_the_first_winner_would_be_lost(best, lines):
    with pytest.raises(ProgramError, match="keeps the first winner"):
        best(lines)
