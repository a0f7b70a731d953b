"""Tests and benches: the sizes, parameters and data they give, and what they expect."""

from __future__ import annotations

from collections.abc import Callable

from tdl.language.analysis import Analysis
from tdl.language.cases import Case, check_case

Marked = Callable[..., Analysis]

DENSE = """
        op dense(X: f32[M, K], W: f32[K, N], b: f32[N]) -> Y: f32[M, N] {
            Y[i, j] = sum(X[i, k] * W[k, j] for k) + b[j]
        }"""


def cases(analysed: Analysis) -> dict[str, Case]:
    """The cases of a module that has no errors in them."""
    found = (entry.declaration for entry in analysed.module.entries)
    checked = [check_case(each).case for each in found if type(each.item).__name__ in ("Test", "Bench")]
    return {case.name: case for case in checked if case is not None}


# ---- arguments


def test_arguments_name_dimensions_packs_parameters_or_inputs(marked: Marked) -> None:
    analysed = marked("""
        op f[k: int = 1, T: float = f32](X: T[..S, N], w: T) -> Y: T[..S, N + k] { Y[..i, j] = w }
        test sizes:  f(S=[3, 50], N=7)
        test both:   f[2](N=7, S=[], T=f64)
        test inputs: f(X=[[1, 2]], w=3)
        test mixed:  f(w=3, N=2, S=[2])
        bench big:   f(S=[1024], N=1024, k=3)
    """)
    found = cases(analysed)
    assert {name: case.bound.output_shapes["Y"] for name, case in found.items()} == {
        "sizes": (3, 50, 8), "both": (9,), "inputs": (1, 3), "mixed": (2, 3), "big": (1024, 1027),
    }  # fmt: skip
    assert set(found["inputs"].given) == {"X", "w"}
    assert set(found["mixed"].given) == {"w"}


def test_inputs_are_also_given_by_position(marked: Marked) -> None:
    marked(f"""{DENSE}
        test a: dense([[1, 2]], [[3], [4]], b=[1]) expect Y = [[12]]
        test b: dense([[1, 2]], N=3)
        test c: dense([[1]], [[1]], [1], [1])  # error: [arguments] <[1]> `dense` has 3 inputs
        test d: dense([[1]], X=[[1]])  # error: [arguments] <X=[[1]]> `X` is given twice
        test e: dense(M=1, M=2, K=1, N=1)  # error: [arguments] <M=2> `M` is given twice
    """)


def test_sizes_that_are_none(marked: Marked) -> None:
    marked(f"""{DENSE}
        test a: dense(M=1, K=2.5, N=1)  # error: [test] <2.5> the size `K` takes an integer
        test b: dense(M=-1, K=2, N=1)  # error: [shape] <M=-1> the dimension `M` would be -1
        test c: dense(M=true, K=2, N=1)  # error: [test] <true> the size `M` takes an integer
        test d: dense(M=[1], K=2, N=1)  # error: [shape] <M=[1]> the dimension `M` takes one integer
        test e: dense(M=1, K=2, Q=1)  # error: [shape] <Q=1> `dense` has no dimension `Q` (it has `M`, `K`, `N`)
        test g: dense(M=1, K=2)  # error: [shape] <dense(M=1, K=2)> the dimension `N` of `dense` is not known
        test h: dense(M=L, K=1, N=1)  # error: [unknown-name] <L> unknown name `L`
        op pack(X: f32[..S]) -> Y: f32[..S] {{ Y[..i] = X[..i] }}
        test i: pack(S=3)  # error: [shape] <S=3> `S` is a pack: give a list, as in `S=[3, 50]`
        test j: pack(S=[3, -1])  # error: [shape] <S=[3, -1]> the dimension `S.1` would be -1
        test k: pack(S=[[3]])  # error: [test] <[[3]]> the size `S` takes an integer
        test m: dense(M=99999999999999999999, K=1, N=1)  # error: [shape] `M` would be 99999999999999999999, too large
        op cube(X: f32[N]) -> Y: f32[N*N*N] {{ Y[i] = 0 }}
        test n: cube(N=4194304)  # error: [shape] <cube(N=4194304)> which is too large
        test l: pack()  # error: [shape] <pack()> the dimension `S` of `pack` is not known
    """)


# ---- data


def test_data_is_numbers_and_lists_of_equal_length(marked: Marked) -> None:
    marked(f"""{DENSE}
        const FOUR = 4
        test a: dense([[1, 2.5], [-3, FOUR / 8]], [[inf], [-inf]], [nan])
        test b: dense(X=[[1, 2], [3]])  # error: [shape] <[3]> this entry has shape [1], and the first has [2]
        test c: dense(X=[1, [2]])  # error: [shape] <[2]> this entry has shape [1], and the first has []
        test d: dense(X="text")  # error: [not-a-value] <"text"> a string is not a value
        test e: dense(X=[[i]])  # error: [unknown-name] <i> unknown name `i`
        test g: dense(X=(1, 2))  # error: [not-a-value] <(1, 2)> a tuple is not a single value
        test h: dense(X=[[sum(1 for k in 0..3)]])  # error: [test] data in a test is numbers and lists of them
    """)


def test_data_has_the_type_of_its_input(marked: Marked) -> None:
    analysed = marked("""
        op f(a: f64, b: u64, c: i8, d: bool, e: f16) -> (A: f64, B: u64, C: i8, D: bool, E: f16) {
            A = a
            B = b
            C = c
            D = d
            E = e
        }
        test a: f(1e300, 18446744073709551615, -128, true, 65504) expect A = 1e300, B = 18446744073709551615, D = true
        test b: f(a=true)  # error: [literal] <a=true> `a` is f64, which cannot hold true
        test c: f(b=-1)  # error: [literal] <b=-1> `b` is u64, which cannot hold -1
        test d: f(c=128)  # error: [literal] <c=128> `c` is i8, which cannot hold 128
        test e: f(c=1.0)  # error: [literal] <c=1.0> `c` is i8, which cannot hold 1.0
        test g: f(d=1)  # error: [literal] <d=1> `d` is bool, which cannot hold 1
        test h: f(e=1e5)  # error: [literal] <e=1e5> `e` is f16, which cannot hold 100000.0
        test i: f(b=18446744073709551616)  # error: [literal] <b=18446744073709551616> which cannot hold
        test j: f(a=1e999)  # error: [literal] <1e999> no type can hold 1e999
        test k: f(c=inf)  # error: [literal] <c=inf> `c` is i8, which cannot hold inf
    """)
    assert cases(analysed)["a"].given["a"] == 1e300


def test_data_fixes_sizes_and_is_matched_like_arguments(marked: Marked) -> None:
    marked(f"""{DENSE}
        test a: dense(X=[[1, 2, 3]], W=[[1], [2]])  # error: [shape] <W=[[1], [2]]> dimension 0 of `W` is 2
        test b: dense(X=[1, 2])  # error: [rank] <X=[1, 2]> `X` has 2 dimensions, and is given an array with 1
        test c: dense(X=[[]], N=0) expect Y = [[]]
        test d: dense(M=0, K=0, N=3) expect Y = []
    """)


# ---- expect


def test_expectations(marked: Marked) -> None:
    marked("""
        op f(X: f32[N]) -> (Y: f32[N], z: i32) { Y[i] = X[i]
            z = 1 }
        test a: f(X=[1, 2]) expect Y = [1, 2], z = 1
        test b: f(X=[1, 2]) expect Y = [1]  # error: [shape] <Y = [1]> `Y` has shape [2], and [1] is expected
        test c: f(X=[1, 2]) expect W = [1]  # error: [test] <W = [1]> `W` is not an output of `f` (it has `Y`, `z`)
        test d: f(X=[1, 2]) expect X = [1, 2]  # error: [test] <X = [1, 2]> `X` is not an output of `f`
        test e: f(X=[1, 2]) expect z = 1.5  # error: [literal] <z = 1.5> `z` is i32, which cannot hold 1.5
        test g: f(X=[1]) expect Y = [1], Y = [1]  # error: [test] <Y = [1]> `Y` is expected twice
        test h: f(X=[1, 2]) expect Y = [nan, -inf], z = 4
        test i: f(X=[1, 2]) expect z = [1]  # error: [shape] <z = [1]> `z` has shape [], and [1] is expected
    """)


# ---- what is called


def test_tests_call_ops(marked: Marked) -> None:
    marked("""
        fn g(x: f32) -> f32 = x
        reducer r(a: f32, b: f32) -> f32 { identity 0
            combine a + b }
        op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] }
        test a: g(1)  # error: [test] <g> `g` is not an op
        test b: r(1)  # error: [test] <r> `r` is not an op
        test c: missing(N=3)  # error: [unknown-name] <missing> unknown op `missing`
        test d: ff(N=3)  # error: [unknown-name] <ff> a test calls an op of this module, or one it imports
        bench e: exp(N=3)  # error: [unknown-name] <exp> unknown op `exp`
    """)


def test_a_wrong_op_is_not_reported_at_its_tests(marked: Marked) -> None:
    marked("""
        op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] + b }  # error: [unknown-name] <b> unknown name `b`
        op g(X: f32[N]) -> Y: f32[N] { Y[i] = X[i + 1] }  # error: [out-of-bounds] <X[i + 1]> N = 1
        op h(X: f32[N]) -> Y: f32[N] { Y[i] = }  # error: [syntax] <}> expected an expression
        test a: f(N=3)
        test b: g(N=3, K=2)
        test c: h(N=3) expect Y = [1]
        bench d: g(X=[[1]])
    """)


def test_what_waits_for_sizes_is_proved_for_each_case(marked: Marked) -> None:
    marked("""
        op flat(X: f32[A, B]) -> Y: f32[A*B] { Y[p] = X[p // B, p % B] }
        test a: flat(A=3, B=4)
        test b: flat(A=3, B=0)
        op wide(X: f32[A, B], Z: f32[C]) -> Y: f32[C] { Y[p] = X[p // B, p % B] + Z[p] }
        test c: wide(A=3, B=4, C=12)
        test d: wide(A=3, B=4, C=13)  # error: [out-of-bounds] `wide` cannot run at A = 3, B = 4
    """)


def test_syntax_errors_of_cases(marked: Marked) -> None:
    marked("""
        op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] }
        test a: f(N=)  # error: [syntax] <)> expected an expression
        test b: f  # error: [syntax] expected `(`
        test c  # error: [syntax] expected `:`
        test d: f(N=3) expect  # error: [syntax] expected
    """)


def test_several_tests_may_have_one_name(marked: Marked) -> None:
    marked("""
        op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] }
        test f: f(N=3)
        test f: f(N=4)
        bench f: f(N=4)
    """)
