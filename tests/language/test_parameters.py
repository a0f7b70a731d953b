"""Compile-time parameters: their kinds, defaults, and how calls give and arguments fix them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from tdl.language.analysis import Analysis
from tdl.language.binding import ArrayType, BindError, Bound, bind
from tdl.language.check import check_op
from tdl.language.dtypes import DTYPES

Marked = Callable[..., Analysis]
Run = Callable[..., dict[str, np.ndarray]]


def bound(
    analysed: Analysis,
    op: str,
    arrays: Mapping[str, tuple[str, tuple[int, ...]]],
    **parameters: object,
) -> Bound:
    types = {name: ArrayType(DTYPES[dtype], shape) for name, (dtype, shape) in arrays.items()}
    return bind(analysed.module.ops[op], types, parameters)


# ---- kinds


def test_value_parameters_of_every_kind(marked: Marked, run: Run) -> None:
    text = """
        op f[k: int = 2, b: bool = true, e: f32 = 1e-5, n: i8 = -3, u: u64 = 18446744073709551615, h: bf16 = 0.5](
            X: f32[N]) -> (A: f32[N + k], B: f32[N], C: i8, D: u64, E: bf16) {
            A[i] = X[i - k | 0]
            B[i] = X[i] + e if b else 0
            C    = n * 2
            D    = u
            E    = h
        }
    """
    marked(text)
    found = run(text, X=[1.0])
    assert found["A"].tolist() == [0, 0, 1]
    assert (found["C"], found["D"], found["E"]) == (-6, 2**64 - 1, 0.5)


def test_dtype_parameters_of_every_class(marked: Marked) -> None:
    marked("""
        op f[F: float, I: integer, N: number, D: dtype](a: F[M], b: I[M], c: N[M], d: D[M])
            -> (A: F[M], B: I[M], C: N[M], E: D[M], G: bool[M]) {
            A[i] = exp(a[i]) / 2
            B[i] = bit_and(b[i], 1) // 3
            C[i] = c[i] * c[i] + 1
            E[i] = d[i] if i % 2 == 0 else d[0]
            G[i] = d[i] == d[0]
        }
    """)


def test_a_dtype_parameter_takes_what_all_of_its_class_take(marked: Marked) -> None:
    marked("""
        op f[F: float, I: integer, N: number, D: dtype](a: F, b: I, c: N, d: D)
            -> (A: F, B: I, C: N, E: D, G: N, H: D) {
            A = bit_not(a)  # error: [dtype] <a> `bit_not` takes integers, not F
            B = exp(b)  # error: [dtype] <b> `exp` takes floats, not I
            C = c / 2  # error: [dtype] <c / 2> `/` takes floats, not N
            E = d + d  # error: [dtype] <d + d> `+` takes numbers, not D
            G = c * 0.5  # error: [dtype] <c * 0.5> N and a float
            H = 0  # error: [dtype] <0> `H` is D and its definition gives a number
        }
    """)


def test_two_dtype_parameters_are_two_types(marked: Marked) -> None:
    marked("""
        op f[T: float, U: float](a: T, b: U) -> (x: T, y: T) {
            x = a + T(b)
            y = a + b  # error: [dtype] <a + b> the operands of `+` are T and U
        }
    """)


def test_what_is_wrong_with_a_declaration(marked: Marked) -> None:
    marked("""
        op a[k: integr = 1](X: f32) -> Y: f32 { Y = X }  # error: [unknown-name] <integr> did you mean `integer`?
        op b[k: int = 2.5](X: f32) -> Y: f32 { Y = X }  # error: [parameter] <2.5> `k` takes an integer, not a float
        op c[k: int = true](X: f32) -> Y: f32 { Y = X }  # error: [parameter] <true> `k` takes an integer, not bool
        op d[b: bool = 1](X: f32) -> Y: f32 { Y = X }  # error: [parameter] <1> `b` takes true or false
        op e[n: u8 = 256](X: f32) -> Y: f32 { Y = X }  # error: [literal] <256> u8 cannot hold 256
        op g[T: float = i32](X: T) -> Y: T { Y = X }  # error: [parameter] <i32> takes a dtype of class float, and i32
        op h[T: float = 3](X: T) -> Y: T { Y = X }  # error: [parameter] <3> `T` takes a dtype
        op i[T: float = fp32](X: T) -> Y: T { Y = X }  # error: [unknown-name] <fp32> did you mean `f32`?
        op j[k: int = M + 1](X: f32) -> Y: f32 { Y = X }  # error: [unknown-name] <M> unknown name `M`
        op l[T: dtype = number](X: T) -> Y: T { Y = X }  # error: [not-a-value] <number> `number` is a class of dtypes
        op m[k: int = N](X: f32[N]) -> Y: f32 { Y = 0 }  # error: [unknown-name] <N> unknown name `N`
    """)


# ---- defaults


def test_an_op_is_checked_with_its_defaults_and_symbolically_without(marked: Marked) -> None:
    marked("""
        op with[k: int = 1](X: f32[N]) -> Y: f32[N] { Y[i] = X[i + k - 1] }
        op over[k: int = 2](X: f32[N]) -> Y: f32[N] { Y[i] = X[i + k - 1] }
        # error: [out-of-bounds] <X[i + k - 1]> N = 1, i = 0: X[1]
        op none[k: int](X: f32[N]) -> Y: f32[N] { Y[i] = X[i + k] }
        # error: [out-of-bounds] <X[i + k]> X[
        op fact[k: int](X: f32[N]) -> Y: f32[N - k] where k >= 0 { Y[i] = X[i + k] }
    """)


def test_an_op_is_checked_again_for_every_instance(marked: Marked) -> None:
    marked("""
        op f[k: int = 0](X: f32[N]) -> Y: f32[N] { Y[i] = X[i + k] }
        test same: f(N=3)
        test next: f[k=1](N=3)  # error: [out-of-bounds] <f[k=1](N=3)> `f` cannot run: `X[i + 1]` reads outside
        op g[T: number = i32](X: T[N]) -> Y: T[N] { Y[i] = X[i] * 300 }
        test wide: g[T=f64](N=3)
        test thin: g[T=i8](N=3)  # error: [literal] <g[T=i8](N=3)> `g` cannot run: i8 cannot hold 300
    """)


def test_a_default_may_depend_on_earlier_parameters_and_constants(marked: Marked) -> None:
    analysed = marked("""
        const TWO = 2
        op f[a: int = TWO, b: int = a * 3 - 1, T: float = f32, U: float = T](X: T[N]) -> (Y: f32[b], Z: U[a]) {
            Y[i] = 0
            Z[i] = 0
        }
        test d: f(N=1) expect Y = [0, 0, 0, 0, 0], Z = [0, 0]
        test a: f[a=1](N=1) expect Y = [0, 0], Z = [0]
        test b: f[b=1](N=1) expect Y = [0], Z = [0, 0]
        test c: f(N=1, a=0, b=0) expect Y = [], Z = []
    """)
    program = bound(analysed, "f", {"X": ("f64", (3,))}).program
    assert str(program.tensors["Z"].dtype) == "f64"


# ---- what arguments fix


def test_arguments_win_over_defaults(marked: Marked) -> None:
    analysed = marked("""
        op f[K: int = 3, T: float = f32](X: T[N], F: T[K]) -> Y: T[K] { Y[i] = F[i] + sum(X[n] for n) }
        test five: f(X=[0], F=[1, 2, 3, 4, 5]) expect Y = [1, 2, 3, 4, 5]
        test none: f(N=1, F=[1, 2, 3]) expect Y = [1, 2, 3]
        test deft: f(N=1)
    """)
    program = bound(analysed, "f", {"X": ("f16", (1,)), "F": ("f16", (7,))}).program
    assert program.parameters == {"K": 7, "T": DTYPES["f16"]}


def test_an_explicit_parameter_that_arguments_contradict_is_an_error(marked: Marked) -> None:
    analysed = marked("""
        op f[K: int = 3, T: float = f32](F: T[K], G: T[K]) -> Y: T[K] { Y[i] = F[i] + G[i] }
        test bad:  f[K=2](F=[1, 2, 3])  # error: [shape] <F=[1, 2, 3]> dimension 0 of `F` is 3, and should be 2
        test good: f[K=3](F=[1, 2, 3])
        test both: f(F=[1, 2], G=[1])  # error: [shape] <G=[1]> dimension 0 of `G` is 1, and should be K = 2
    """)
    with pytest.raises(BindError, match="`F` is f64, and T is f32 by the parameter given") as raised:
        bound(analysed, "f", {"F": ("f64", (3,)), "G": ("f64", (3,))}, T="f32")
    assert (raised.value.code, raised.value.argument) == ("dtype", "F")
    with pytest.raises(BindError, match="`G` is f64, and T is f32 by `F`"):
        bound(analysed, "f", {"F": ("f32", (3,)), "G": ("f64", (3,))})


def test_a_parameter_without_default_must_be_given_or_fixed(marked: Marked) -> None:
    marked("""
        op f[k: int, T: float](X: T[N, k]) -> Y: T[N] { Y[i] = sum(X[i, j] for j) }
        test dtype: f(X=[[1, 2]])  # error: [parameter] <f(X=[[1, 2]])> the dtype `T` is not fixed by any argument
        test fixed: f[T=f32](X=[[1, 2]]) expect Y = [3]
        test given: f[2, f64](N=3)
        op g[k: int](X: f32[N]) -> Y: f32[N] { Y[i] = X[i] }
        test lacks: g(N=3)  # error: [parameter] <g(N=3)> `g` needs its compile-time parameter `k`
        op h[e: f32](X: f32[N]) -> Y: f32[N] { Y[i] = X[i] + e }
        test value: h(N=3)  # error: [parameter] <h(N=3)> `h` needs its compile-time parameter `e`
        test right: h[e=1](X=[1]) expect Y = [2]
    """)


def test_integer_parameters_are_solved_like_dimensions(marked: Marked) -> None:
    marked("""
        op f[k: int = 1](X: f32[2*k + 1]) -> Y: f32[k] { Y[i] = X[2*i + 1] }
        test good: f(X=[1, 2, 3, 4, 5]) expect Y = [2, 4]
        test even: f(X=[1, 2])  # error: [shape] <X=[1, 2]> no k gives 2*k + 1 = 2
    """)


# ---- parameters in calls


def test_parameters_are_given_by_position_or_name(marked: Marked) -> None:
    marked("""
        op f[a: int = 1, b: int = 2](X: f32[N]) -> Y: f32[10*a + b] { Y[i] = 0 }
        test p: f[0, 3](N=1) expect Y = [0, 0, 0]
        test n: f[b=3, a=0](N=1) expect Y = [0, 0, 0]
        test m: f[0, b=1](N=1) expect Y = [0]
        test i: f(N=1, a=0, b=1) expect Y = [0]
        test w: f[c=3](N=1)  # error: [unknown-name] <c> compile-time parameter of `f`
        test t: f[1, 2, 3](N=1)  # error: [parameter] <3> `f` has 2 compile-time parameters
        test d: f[1, a=2](N=1)  # error: [parameter] <a=2> `a` is given twice
        test e: f[a=1](N=1, a=2)  # error: [arguments] <a=2> `a` is given twice
        test k: f[a=2.5](N=1)  # error: [parameter] <2.5> `a` takes an integer, not a float
        test l: f[a=N](N=1)  # error: [unknown-name] <N> unknown name `N`
        test x: f[a=f32](N=1)  # error: [not-a-value] <f32> `f32` is a dtype, not a value
    """)


def test_dtypes_given_in_a_call_are_of_the_class(marked: Marked) -> None:
    marked("""
        op f[T: float](X: T[N]) -> Y: T[N] { Y[i] = X[i] }
        test i: f[T=i32](N=1)  # error: [parameter] <i32> `T` takes a dtype of class float, and i32 is not
        test n: f[T=3](N=1)  # error: [parameter] <3> `T` takes a dtype
        test u: f[T=f31](N=1)  # error: [unknown-name] <f31> did you mean `f32`?
    """)


# ---- values from Python


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"k": 2.5}, "`k` takes an integer, not 2.5"),
        ({"k": True}, "`k` takes an integer, not True"),
        ({"k": "3"}, "`k` takes an integer, not '3'"),
        ({"k": 2**70}, "`k` takes an integer"),
        ({"b": 1}, "`b` takes True or False, not 1"),
        ({"e": "x"}, "`e` takes a value of f32, not 'x'"),
        ({"u": 256}, "`u` takes a value of u8, not 256"),
        ({"T": "i32"}, "`T` takes a dtype of class float, not 'i32'"),
        ({"T": 3}, "`T` takes a dtype of class float, not 3"),
        ({"z": 3}, "`f` has no compile-time parameter `z`"),
    ],
)
def test_values_of_the_wrong_kind_are_refused(marked: Marked, parameters: dict[str, object], words: str) -> None:
    analysed = marked("""
        op f[k: int = 1, b: bool = true, e: f32 = 1, u: u8 = 3, T: float = f32](X: T[N]) -> Y: T[N] { Y[i] = X[i] }
    """)
    with pytest.raises(BindError) as raised:
        bound(analysed, "f", {"X": ("f32", (1,))}, **parameters)
    assert raised.value.code == "parameter"
    assert words in raised.value.message


def test_values_of_the_right_kind_are_taken(marked: Marked) -> None:
    analysed = marked("""
        op f[k: int = 1, b: bool = true, e: f32 = 1, T: float = f32](X: T[N]) -> Y: T[N + k] { Y[i] = T(e) if b else 0 }
    """)
    for parameters in ({"k": 3}, {"b": False}, {"e": 2}, {"e": 0.5}, {"T": "f32"}, {"T": DTYPES["f32"]}):
        program = bound(analysed, "f", {"X": ("f32", (1,))}, **parameters).program
        assert not set(parameters) - set(program.parameters)


def test_a_symbolic_program_keeps_its_parameters_open(marked: Marked) -> None:
    analysed = marked("op f[k: int, e: f32, T: float, d: int = 3](X: T[N]) -> Y: T[k] { Y[i] = T(e) }")
    parameters = check_op(analysed.module.ops["f"]).program.parameters
    assert parameters == {"k": None, "e": None, "T": None, "d": 3}
