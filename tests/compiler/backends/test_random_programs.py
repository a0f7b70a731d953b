"""Random programs: compiled code gives exactly what the evaluator gives.

Programs are made as text, so that they are what people can write: definitions with shifted accesses and boundaries,
branches, filters, reductions in any place, intermediates, recurrences. Integers wrap exactly, and floats are summed in
no reduction, so every operation rounds once and results must be equal to the bit.
"""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tdl.language.arrays import numpy_dtype
from tdl.language.dtypes import DTYPES

INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
FLOATS = ("f64", "f32", "f16", "bf16")
BOUNDARIES = ("edge", "wrap", "mirror", "0", "1")


class Maker:
    """Draws the text of an op over `X: T[N, M]`, `Y: T[M]`, `k: i64[N]` and `b: bool[N]`."""

    def __init__(self, draw, dtype: str) -> None:
        self.draw = draw
        self.dtype = dtype
        self.names = 0

    def pick(self, *choices):
        return self.draw(st.sampled_from(choices))

    def number(self) -> str:
        return (
            self.pick("0", "1", "2", "3", "7", "100")
            if self.dtype in INTEGERS
            else self.pick("0", "0.5", "1.5", "3", "inf")
        )

    def subscript(self, indices: list[str]) -> str:
        index = self.pick(*indices)
        return self.pick(
            index,
            f"{index} + 1",
            f"{index} - 2",
            f"2*{index}",
            f"{index} // 2",
            f"3 - {index}",
            "0",
            f"k[{index} | edge]",
        )

    def access(self, indices: list[str]) -> str:
        tensor, rank = self.pick(("X", 2), ("Y", 1), ("t", 2))
        inside = ", ".join(self.subscript(indices) for _ in range(rank))
        return f"{tensor}[{inside} | {self.pick(*BOUNDARIES)}]"

    def condition(self, indices: list[str], depth: int) -> str:
        kind = self.pick("compare", "index", "data", "not", "and", "or") if depth else self.pick("index", "data")
        match kind:
            case "compare":
                sign = self.pick("<", "<=", "==", "!=", ">", ">=")
                return f"({self.value(indices, depth - 1)} {sign} {self.value(indices, depth - 1)})"
            case "index":
                return f"({self.pick(*indices)} {self.pick('<', '==', '>=')} {self.pick(*indices, '1', 'N - 1')})"
            case "data":
                return f"b[{self.pick(*indices)} | {self.pick('edge', 'true')}]"
            case "not":
                return f"(not {self.condition(indices, depth - 1)})"
        return f"({self.condition(indices, depth - 1)} {kind} {self.condition(indices, depth - 1)})"

    def value(self, indices: list[str], depth: int) -> str:
        if depth <= 0:
            return self.pick(self.access(indices), self.access(indices), self.number())
        kinds = ["access", "operator", "operator", "call", "choice", "reduction", "index"]
        match self.pick(*kinds):
            case "access":
                return self.access(indices)
            case "operator":
                return self.operator(indices, depth)
            case "call":
                one, other = (self.value(indices, depth - 1) for _ in range(2))
                return self.pick(
                    f"max({one}, {other})", f"min({one}, {other})", f"abs({one})", f"({one})**2", f"(0 - {one})"
                )
            case "choice":
                one, other = (self.value(indices, depth - 1) for _ in range(2))
                return f"({one} if {self.condition(indices, depth - 1)} else {other})"
            case "index":
                return f"{self.dtype}({self.pick(*indices)})"
        return self.reduction(indices, depth)

    def operator(self, indices: list[str], depth: int) -> str:
        one, other = (self.value(indices, depth - 1) for _ in range(2))
        if self.dtype in FLOATS:
            return f"({one} {self.pick('+', '-', '*', '/', '//', '%')} {other})"
        sign = self.pick("+", "-", "*", "//", "%", "shl", "shr", "bit_xor")
        if sign in ("//", "%"):
            return f"({one} {sign} {self.pick('3', '7', f'max({other}, 1)')})"
        return f"({one} {sign} {other})" if len(sign) == 1 else f"{sign}({one}, {other})"

    def reduction(self, indices: list[str], depth: int) -> str:
        self.names += 1
        index = f"r{self.names}"
        inner = [*indices, index]
        reducer = self.pick("max", "min") if self.dtype in FLOATS else self.pick("sum", "prod", "max", "min")
        span = self.pick("0..3", f"0..{indices[0]}", "0..M", f"{indices[-1]}..N", f"0..k[{indices[0]} | edge] % 4")
        only = f" if {self.condition(inner, depth - 1)}" if self.pick(True, False) else ""
        return f"{reducer}({self.value(inner, depth - 1)} for {index} in {span}{only})"

    def program(self) -> str:
        dtype = self.dtype
        t = self.value(["i", "j"], 2).replace("t[", "X[")
        if self.pick(True, False):
            first = f"t[i, j] = {t} for i in 0..N, j in 0..M"
        else:
            back = self.pick(
                "t[i - 1, j | 1]", "t[i + 1, j + 1 | 0]", "t[i, j - 1 | 0]", "t[i - 1, k[j | edge] % M | 1]"
            )
            first = f"t[i, j] = ({t}) {self.pick('+', '-')} {back} for i in 0..N, j in 0..M"
            first = f"let t: {dtype}[N, M]\n    {first}"
        condition = self.condition(["i", "j"], 1)
        second = [
            f"Z[i, j] = {self.value(['i', 'j'], 3)} for i in 0..N, j in 0..M if j % 2 == 0",
            f"Z[i, j] = {self.value(['i', 'j'], 2)} for i in 0..N, j in 0..M if j % 2 == 1",
        ]
        if self.pick(True, False):
            second = [f"Z[i, j] = {self.value(['i', 'j'], 3)} if {condition} else {self.value(['i', 'j'], 2)}"]
        lines = "\n    ".join([first, *second])
        return (
            f"op f(X: {dtype}[N, M], Y: {dtype}[M], k: i64[N], b: bool[N]) -> Z: {dtype}[N, M]\n"
            f"    where N >= 1, M >= 1 {{\n    {lines}\n}}\n"
        )


@st.composite
def programs(draw) -> tuple[str, str]:
    dtype = draw(st.sampled_from(INTEGERS + FLOATS))
    return dtype, Maker(draw, dtype).program()


def array(random: np.random.Generator, dtype: str, *shape: int) -> np.ndarray:
    kind = DTYPES[dtype]
    if kind.is_float:
        values = random.choice([0.0, -0.0, 1.0, -2.5, np.nan, np.inf, 1e-3, 7.0], shape)
        return np.where(random.random(shape) < 0.7, random.standard_normal(shape) * 3, values).astype(numpy_dtype(kind))
    small = random.integers(0 if kind.kind == "unsigned" else -9, 10, shape)
    return np.where(random.random(shape) < 0.9, small, kind.greatest).astype(numpy_dtype(kind))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(), st.integers(1, 6), st.integers(1, 19), st.integers(0, 1 << 30))
def test_compiled_is_evaluated(check_both, program, n, m, seed):
    dtype, text = program
    random = np.random.default_rng(seed)
    k = random.integers(-3, 9, n)
    with np.errstate(all="ignore"):
        check_both(text, array(random, dtype, n, m), array(random, dtype, m), k, random.random(n) < 0.5, exact=True)
