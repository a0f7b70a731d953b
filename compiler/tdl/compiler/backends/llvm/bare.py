"""What code for machines without LLVM's own run-time library must bring along, or do without.

llvm.smul.with.overflow.i64     asks for a product of 128 bits, or a function of that library: by division instead
llvm.maximum and the like       are functions of C23, which embedded C libraries do not have: given, for the linker to
                                take where there is nothing else
"""

from __future__ import annotations

_PRODUCT = "llvm.smul.with.overflow.i64"


def is_bare(triple: str) -> bool:
    """Whether a target is without the run-time library."""
    return triple.startswith(("wasm", "arm", "thumb")) or "none" in triple.split("-")


def without_wide_products(ir: str) -> str:
    """The text with a function of its own for products that may be too large."""
    if f"@{_PRODUCT}(" not in ir:
        return ir
    lines = [line for line in ir.splitlines() if not line.startswith(f"declare {{ i64, i1 }} @{_PRODUCT}(")]
    return "\n".join(lines).replace(f"@{_PRODUCT}(", "@tdl.smul(") + _SMUL


# Sizes: neither side is negative.
_SMUL = """
define internal { i64, i1 } @tdl.smul(i64 %a, i64 %b) nounwind {
entry:
  %is.zero = icmp eq i64 %b, 0
  %safe = select i1 %is.zero, i64 1, i64 %b
  %most = udiv i64 9223372036854775807, %safe
  %over = icmp ugt i64 %a, %most
  %product = mul i64 %a, %b
  %first = insertvalue { i64, i1 } poison, i64 %product, 0
  %both = insertvalue { i64, i1 } %first, i1 %over, 1
  ret { i64, i1 } %both
}
"""


def functions_text() -> str:
    """Functions that may be missing, for the linker to take where there are no others."""
    return "".join(
        text.replace("$T", type_).replace("$f", suffix)
        for type_, suffix in (("float", "f"), ("double", ""))
        for text in (
            _ROUND,
            *(_EXTREME.replace("$name", name).replace("$test", test) for name, test in _EXTREMES.items()),
        )
    )


_EXTREMES = {"fmaximum": "ogt", "fminimum": "olt"}
_EXTREME = """
define weak hidden $T @$name$f($T %a, $T %b) nounwind {
  %wins = fcmp $test $T %a, %b
  %nan = fcmp uno $T %a, %a
  %mine = or i1 %wins, %nan
  %chosen = select i1 %mine, $T %a, $T %b
  ret $T %chosen
}
"""
_ROUND = """
declare $T @rint$f($T)
define weak hidden $T @roundeven$f($T %x) nounwind {
  %near = call $T @rint$f($T %x)
  ret $T %near
}
"""
