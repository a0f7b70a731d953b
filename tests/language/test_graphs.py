"""Graphs: each value once, in any order, without a circle; calls agree with what they call."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tdl.language.analysis import Analysis

Marked = Callable[..., Analysis]

OPS = """
op dense[T: float = f32](x: T[M, K], w: T[K, N], b: T[N]) -> y: T[M, N] {
    y[i, j] = sum(x[i, k] * w[k, j] for k) + b[j]
}
op relu[T: number](x: T[..S]) -> y: T[..S] { y[..i] = max(x[..i], 0) }
op scale(x: f32[N], s: f32) -> y: f32[N] { y[i] = x[i] * s }
op two(x: f32[N]) -> (y: f32[N], z: i32[N]) {
    y[i] = x[i]
    z[i] = 1
}
op every[stride: int = 1, T: float = f32](x: T[H, W]) -> y: T[(H + stride - 1)//stride, W] {
    y[i, j] = x[i * stride, j]
}
op doubled(x: f32[2*N]) -> y: f32[N] { y[i] = x[2*i] }
"""


def test_calls_nest_and_values_are_assigned_in_any_order(marked: Marked) -> None:
    marked(
        OPS
        + """
graph mlp(x: f32[B, 784], w1: f32[784, 256], b1: f32[256], w2: f32[256, 10], b2: f32[10]) -> y: f32[B, 10] {
    y = relu(dense(h, w2, b2))
    h = relu(dense(x, w1, b=b1))
}
graph pair(x: f32[B, 784], w1: f32[784, 256], b1: f32[256], w2: f32[256, 10], b2: f32[10])
    -> (y: f32[B, 10], z: f32[B, 10]) {
    y = mlp(x, w1, b1, w2, b2)
    z = y
}
"""
    )


def test_several_results_have_several_names(marked: Marked) -> None:
    marked(
        OPS
        + """
graph g(x: f32[64]) -> (y: f32[64], z: i32[64]) { (y, z) = two(scale(x, 2.0)) }
graph h(x: f32[64]) -> y: f32[64] {
    y = two(x)  # error: [arguments] <y = two(x)> this gives 2 values, and 1 is assigned
}
graph k(x: f32[64]) -> (y: f32[64], z: i32[64]) {
    (y, z) = scale(x, 1)  # error: [arguments] <(y, z) = scale(x, 1)> this gives 1 value, and 2 are assigned
}
graph l(x: f32[64]) -> y: f32[64] {
    y = relu(two(x))  # error: [arguments] <two(x)> this gives 2 values, and one is needed
}
"""
    )


def test_every_value_is_known_and_assigned_once(marked: Marked) -> None:
    marked(
        OPS
        + """
graph g(x: f32[4]) -> (y: f32[4], z: f32[4]) {  # error: [missing-output] <z> nothing gives the output `z`
    y = relu(hidden)  # error: [unknown-name] <hidden> unknown value `hidden`
    a = relu(x)
    a = relu(x)  # error: [duplicate-name] <a> `a` is assigned twice
    x = relu(x)  # error: [definition] <x> `x` is an input
    b = relu(aa)  # error: [unknown-name] <aa> unknown value `aa`
}
graph h[n: int = 2](x: f32[B]) -> y: f32[B] {
    n = relu(x)  # error: [duplicate-name] <n> `n` already names something in this graph
    y = relu(B)  # error: [not-a-value] <B> `B` is not a tensor
}
"""
    )


def test_a_circle_is_refused(marked: Marked) -> None:
    marked(
        OPS
        + """
graph g(x: f32[4]) -> y: f32[4] {
    a = relu(b)  # error: [cycle] <a> `a` needs `b` needs `c` needs `a`
    b = relu(c)
    c = relu(a)
    y = relu(x)
}
graph again(x: f32[4]) -> y: f32[4] { y = again(x) }  # error: [definition] <again> `again` refers to itself
"""
    )


def test_a_graph_calls_ops_and_graphs(marked: Marked) -> None:
    marked(
        OPS
        + """
fn f(x: f32) -> f32 = x
reducer r(a: f32, b: f32) -> f32 { identity 0
    combine a + b }
graph g(x: f32[4]) -> y: f32[4] {
    y = f(x)  # error: [not-a-value] <f> `f` is a function of scalars
    a = r(x)  # error: [not-a-value] <r> `r` is a reducer
    b = rleu(x)  # error: [unknown-name] <rleu> unknown op `rleu`
    c = x + 1  # error: [not-a-value] <x + 1> a graph holds calls of ops and names of values
    d = relu(x[0])  # error: [not-a-value] <x[0]> a graph holds calls
}
"""
    )


def test_inputs_are_each_given_once(marked: Marked) -> None:
    marked(
        OPS
        + """
graph g(x: f32[4, 4], b: f32[4]) -> y: f32[4, 4] {
    y = dense(x, x)  # error: [arguments] <dense(x, x)> `b` is missing
    a = dense(x, x, b, b)  # error: [arguments] `dense` takes 3 arguments, not 4
    c = dense(x, x, b, x=x)  # error: [arguments] <x=x> `x` of `dense` is given twice
    d = dense(x, w=x, w=x, b=b)  # error: [arguments] <w=x> `w` of `dense` is given twice
    e = dense(x, w=x, bias=b)  # error: [unknown-name] <bias> unknown argument of `dense`
}
"""
    )


def test_dtypes_agree(marked: Marked) -> None:
    marked(
        OPS
        + """
graph g[T: float = f32](x: T[4, 4], b: T[4], d: f64[4], i: i32[4, 4]) -> (y: T[4, 4], z: f64[4, 4]) {
    y = dense(x, x, b)
    a = dense(x, x, d)  # error: [dtype] <d> `b` of `dense` is f32, and is given f64
    z = dense(x, x, b)  # error: [dtype] <dense(x, x, b)> `z` is f64, and is given f32
    c = every(i)  # error: [dtype] <i> `x` of `every` takes a float dtype, and is given i32
    e = relu[T=f64](d)
    f = relu[T=f32](d)  # error: [dtype] <d> `x` of `relu` is f32, and is given f64
    h = relu[T=3](d)  # error: [parameter] <3> `T` takes a dtype
    k = relu[T=f31](d)  # error: [unknown-name] <f31> unknown dtype `f31`
}
"""
    )


def test_ranks_agree(marked: Marked) -> None:
    marked(
        OPS
        + """
graph g(x: f32[4, 4], b: f32[4]) -> y: f32[4] {
    y = relu(dense(x, x, b))  # error: [rank] `y` has 1 dimension, and is given a value with 2
    a = dense(b, x, b)  # error: [rank] <b> `x` of `dense` has 2 dimensions, and is given a value with 1
    c = scale(b, b)  # error: [rank] `s` of `scale` has 0 dimensions
    d = relu(relu(x))
}
"""
    )


def test_numbers_for_one_size_agree_and_names_are_left_for_the_call(marked: Marked) -> None:
    marked(
        OPS
        + """
graph g(x: f32[B, 784], w: f32[785, 10], b: f32[10]) -> y: f32[B, 10] {
    y = dense(x, w, b)  # error: [shape] <w> dimension 0 of `w` of `dense` is 784, and is given 785
}
graph h(x: f32[B, C], w: f32[D, 10], b: f32[E]) -> y: f32[B, 10] { y = dense(x, w, b) }
graph k(x: f32[9, 4]) -> y: f32[3, 4] { y = every[stride=4](x) }
graph l(x: f32[9, 4]) -> y: f32[3, 4] {
    y = every(x)  # error: [shape] <every(x)> dimension 0 of `y` is 3, and is given 9
}
graph m[s: int](x: f32[9, 4]) -> y: f32[3, 4] { y = every(x, stride=s) }
graph n(x: f32[8]) -> y: f32[5] { y = doubled(x) }
"""
    )


@pytest.mark.parametrize(
    ("call", "mark"),
    [
        ("every[stride=2.5](x)", "[dtype] <2.5> `stride` is a float, not an integer"),
        ("every[strid=2](x)", "[unknown-name] <strid> did you mean `stride`?"),
        ("every[2, f32, 3](x)", "[parameter] <3> `every` has 2 compile-time parameters"),
        ("every[2](x, stride=2)", "[parameter] <stride=2> `stride` is given twice"),
    ],
)
def test_compile_time_arguments_fit(call: str, mark: str, marked: Marked) -> None:
    marked(f"{OPS}graph g(x: f32[9, 4]) -> y: f32[9, 4] {{\n    y = {call}  # error: {mark}\n}}\n")


def test_a_number_or_constant_stands_for_a_scalar(marked: Marked) -> None:
    marked(
        OPS
        + """
const HALF = 0.5
graph g(x: f32[4]) -> y: f32[4] { y = scale(scale(scale(x, -1), HALF), s=inf) }
"""
    )


def test_a_statement_that_does_not_parse_still_gives_its_value(marked: Marked) -> None:
    marked(
        OPS
        + """
graph g(x: f32[4]) -> (y: f32[4], z: f32[4]) {
    a = relu(x +)  # error: [syntax] expected
    y = relu(a)
    z = relu(x)
}
"""
    )
