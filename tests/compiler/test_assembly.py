"""Loops read from assembly."""

from textwrap import dedent

import pytest
from tdl.compiler.assembly import hot_loop, loops

PRODUCT = dedent("""\
    kernel:
     xorl %eax, %eax
    .LBB0_1:                                # =>This Loop Header: Depth=1
     xorl %ecx, %ecx
    .LBB0_2:                                # %inner
     vbroadcastss -4096(%rax,%rbx), %zmm24
     vmovaps (%r11), %zmm25
     vmovups %zmm25, 64(%rsp)                # 64-byte Spill
     vfmadd231ps %zmm24, %zmm25, %zmm7   # zmm7 = (zmm25 * zmm24) + zmm7
     vaddps %zmm1, %zmm2, %zmm2
     vmovups %zmm7, 64(%r8,%r10)
     addq $4, %rbx
     jne .LBB0_2
    # %bb.3:
     incq %rax
     jne .LBB0_1
    .LBB0_4:
     movl (%rdi), %eax
     addss %xmm0, %xmm1
     jne .LBB0_4
     retq
""")


def test_the_hot_loop_is_the_innermost_with_most_arithmetic():
    loop = hot_loop(PRODUCT)
    assert loop is not None
    assert (loop.first, loop.last, loop.depth, loop.width) == (4, 12, 1, 512)
    assert loop.counts == {"load": 2, "spill": 1, "fma": 1, "arithmetic": 1, "store": 1, "scalar": 1, "branch": 1}
    assert loop.summary().endswith("; 512-bit vectors; 1 spill")


def test_innermost_loops_only():
    assert [(loop.first, loop.last) for loop in loops(PRODUCT)] == [(4, 12), (16, 19)]
    assert loops(PRODUCT)[1].width == 0


@pytest.mark.parametrize(
    ("line", "kind", "width"),
    [
        ("vmovaps	(%r11), %ymm3", "load", 256),
        ("vmovntps	%zmm3, (%r11,%rax,4)", "store", 512),
        ("vpgatherdd	(%rax,%zmm1,4), %zmm2 {%k1}", "gather", 512),
        ("vpermps	%zmm1, %zmm2, %zmm3", "shuffle", 512),
        ("vpdpbusd	%zmm1, %zmm2, %zmm3", "fma", 512),
        ("vaddss	%xmm1, %xmm2, %xmm3", "arithmetic", 0),
        ("movq	8(%rsp), %rax", "spill", 0),
        ("leaq	(%rax,%rax), %rbx", "scalar", 0),
    ],
)
def test_kinds(line, kind, width):
    (loop,) = loops(f".L1:\n\t{line}\n\tjne\t.L1\n")
    assert loop.instructions[0][1:] == (kind, width)


def test_text_without_loops():
    assert hot_loop("f:\n\tvaddps\t%zmm1, %zmm2, %zmm2\n\tretq\n") is None
    assert loops("") == []
