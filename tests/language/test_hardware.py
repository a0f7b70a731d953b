"""Intrinsics, memories and targets: checked names, properties and meaning."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tdl.language.analysis import Analysis
from tdl.language.hardware import MEMORY_PROPERTIES, TARGET_PROPERTIES, TARGETS, ancestors
from tdl.language.report import Report
from tdl.language.scope import Context, Environment, Scope

Marked = Callable[..., Analysis]


# ---- memories and targets


def test_properties_have_values_of_their_kind(marked: Marked) -> None:
    marked("""
        const BYTES = 4096
        memory a {
            capacity 48KiB
            align    16
            scope    block
        }
        memory b { capacity 2 * BYTES }
        memory c {
            capacity 0  # error: [definition] <0> `capacity` is at least 1, not 0
            align 24  # error: [definition] <24> for example 16 or 32
            banks 1.5  # error: [dtype] <1.5> `banks` is a float, not an integer
            width 8, 16  # error: [definition] `width` takes one value, not 2
            latency  # error: [definition] `latency` takes one value, not 0
            scope world  # error: [unknown-name] <world> unknown scope `world`
            copy 3  # error: [definition] <3> `copy` takes names
        }
    """)


def test_a_property_is_one_of_the_table_and_given_once(marked: Marked) -> None:
    analysed = marked("""
        memory a {
            capcity 48KiB  # error: [unknown-name] <capcity> did you mean `capacity`?
            align 16
            align 32  # error: [duplicate-name] <align> `align` is given twice
        }
        target t { lnes 32 }  # error: [unknown-name] <lnes> a target has no property `lnes`
    """)
    assert [fix.text for fix in analysed.diagnostics[0].fixes] == ["capacity"]


def test_the_names_in_properties_are_known(marked: Marked) -> None:
    marked("""
        memory near {
            capacity 1MiB
            copy load, lod  # error: [unknown-name] <lod> unknown intrinsic `lod`
        }
        intrinsic load(x: f32[8]) -> y: f32[8] for npu { y[i] = x[i] }
        target npu for cpu {
            features turbo
            vector 512
        }
    """)


def test_targets_are_a_tree(marked: Marked) -> None:
    marked("""
        target npu for gpu { }
        target big for npu { }
        target cpu { }  # error: [duplicate-name] <cpu> the target `cpu` is built in
        target lost for nowhere { }  # error: [unknown-name] <nowhere> unknown target `nowhere`
        target self for self { }  # error: [definition] <self> `self` refers to itself
    """)


def test_a_target_comes_before_what_it_is_a_kind_of(marked: Marked) -> None:
    analysed = marked("""
        target npu for opencl { }
        target big for npu { }
        op f(X: f32) -> Y: f32 { Y = X }
        schedule f for big { }
    """)
    schedule = analysed.module.entries[-1].declaration
    assert ancestors("big", Scope(Context(Report(), ""), schedule.environment, {})) == ["big", "npu", "opencl", "gpu"]
    assert ancestors("x86", Scope(Context(Report(), ""), Environment(), {})) == ["x86", "cpu"]


@pytest.mark.parametrize("table", [MEMORY_PROPERTIES, TARGET_PROPERTIES])
def test_every_property_says_what_it_is(table: dict[str, object]) -> None:
    assert all(form.summary for form in table.values())  # type: ignore[attr-defined]


def test_every_parent_of_a_target_is_one() -> None:
    assert {parent for parent in TARGETS.values() if parent is not None} <= set(TARGETS)


# ---- intrinsics


def test_an_intrinsic_is_checked_as_an_op_is(marked: Marked) -> None:
    marked('''
        intrinsic vpdpbusd(a: u8[4], b: i8[16, 4], c0: i32[16]) -> c: i32[16] for x86 with avx512vnni, avx512f {
            c[n] = c0[n] + sum(i32(a[k]) * i32(b[n, k]) for k)
            emit llvm """..."""
            emit c "..."
        }
        intrinsic short(a: f32[4]) -> c: f32[4] for x86 {
            c[i] = a[i + 1]  # error: [out-of-bounds] i = 3
        }
        intrinsic mixed(a: f32[4], b: f64[4]) -> c: f32[4] for x86 {
            c[i] = a[i] + b[i]  # error: [dtype] f64
        }
        intrinsic hole(a: f32[4]) -> c: f32[4] for x86 {  # error: [missing-output] c
            emit llvm "..."
        }
        intrinsic half(a: f32[4]) -> c: f32[4] for x86 {
            c[i] = a[i] for i in 0..2  # error: [uncovered] c[2]
        }
    ''')


def test_the_sizes_of_an_intrinsic_are_constants_or_parameters(marked: Marked) -> None:
    marked("""
        const LANES = 8
        intrinsic a[n: int = 4](x: f32[n]) -> y: f32[n] for x86 { y[i] = x[i] }
        intrinsic b(x: f32[LANES]) -> y: f32[2 * LANES - 8] for x86 { y[i] = x[i] }
        intrinsic c(x: f32[N]) -> y: f32[N] for x86 { y[i] = x[i] }  # error: [shape] <f32[N]> the size `N`
        intrinsic d(x: f32[..S]) -> y: f32[..S] for x86 { y[..i] = x[..i] }  # error: [shape] <f32[..S]> `S`
    """)


def test_targets_features_and_texts_of_an_intrinsic_are_known(marked: Marked) -> None:
    marked("""
        intrinsic a(x: f32[8]) -> y: f32[8] for x68 { y[i] = x[i] }  # error: [unknown-name] <x68> did you mean `x86`?
        intrinsic b(x: f32[8]) -> y: f32[8] with avx, avx { y[i] = x[i] }  # error: [duplicate-name] <avx> listed twice
        intrinsic c(x: f32[8]) -> y: f32[8] for x86 {
            y[i] = x[i]
            emit lvm "..."  # error: [unknown-name] <lvm> did you mean `llvm`?
            emit c "..."
            emit c "..."  # error: [duplicate-name] <c> `emit c` is given twice
        }
    """)
