"""Targets: what they are to LLVM and to schedules, and which schedules a library for one has."""

from __future__ import annotations

import pytest
from tdl.compiler.kernel.printing import print_kernel
from tdl.compiler.library.plan import plan_library
from tdl.compiler.library.target import NAMES, TargetError, find_target
from tdl.language.analysis import analyse
from tdl.language.source import Source

TEXT = """
from std.x86_64_v3 import x86_64_v3
op twice(X: f32[N]) -> Y: f32[N] { Y[i] = 2 * X[i] }
schedule twice for cpu { vectorize Y.i by 4 }
schedule twice for x86 { vectorize Y.i by 16 }
schedule twice for x86_64_v3 { vectorize Y.i by 8 }
"""


@pytest.mark.parametrize("name", NAMES)
def test_every_named_target(name):
    target = find_target(name)
    assert target.levels
    assert target.kinds[-1] == "cpu"


@pytest.mark.parametrize(
    ("name", "lanes"), [("x86-64-v3", 8), ("x86-64-v4", 16), ("x86-64", 16), ("aarch64", 4), ("armv7-m", 4)]
)
def test_the_schedule_for_a_target(name, lanes):
    analysis = analyse(Source("twice.tdl", TEXT))
    assert analysis.diagnostics == ()
    library = plan_library("twice", analysis, find_target(name))
    ((variant,),) = (function.variants for function in library.functions)
    assert f"lanes i.lane of {lanes}" in print_kernel(variant.kernel).replace("Y.", "")


def test_features_come_from_the_language():
    assert {"avx2", "fma", "f16c"} <= find_target("x86-64-v3").features(find_target("x86-64-v3").levels[0])
    assert "avx512f" not in find_target("x86-64-v3").levels[0].features


@pytest.mark.parametrize(
    ("name", "words"),
    [("x86-64-v7", "did you mean"), ("pdp-11", "there are host"), ("x86_64", "there are host"), ("", "there are host")],
)
def test_unknown_targets(name, words):
    with pytest.raises(TargetError) as raised:
        find_target(name)
    assert words in raised.value.remedy


def test_a_triple():
    assert find_target("powerpc64le-linux-gnu").kinds == ("cpu",)
