"""Small functions in LLVM text that generated code calls; LLVM inlines them. Only those that are used are included.

Half floats are converted by integer arithmetic, rounding to nearest even and keeping NaN, so that no target needs a
library for them; where the machine converts f16 itself, its instruction is used. `fail` keeps the first failure.
"""

from __future__ import annotations

import re

_INLINE = "alwaysinline nounwind memory(none)"

_ALWAYS = {
    "tdl.extend.bf16": f"""
define internal float @tdl.extend.bf16(i16 %x) {_INLINE} {{
  %wide = zext i16 %x to i32
  %bits = shl i32 %wide, 16
  %value = bitcast i32 %bits to float
  ret float %value
}}""",
    "tdl.pack.bf16": f"""
define internal i16 @tdl.pack.bf16(float %x) {_INLINE} {{
  %bits = bitcast float %x to i32
  %high = lshr i32 %bits, 16
  %odd = and i32 %high, 1
  %half = add i32 %odd, 32767
  %sum = add i32 %bits, %half
  %near = lshr i32 %sum, 16
  %quiet = or i32 %high, 64
  %nan = fcmp uno float %x, %x
  %chosen = select i1 %nan, i32 %quiet, i32 %near
  %value = trunc i32 %chosen to i16
  ret i16 %value
}}""",
    "tdl.round.bf16": f"""
define internal float @tdl.round.bf16(float %x) {_INLINE} {{
  %packed = call i16 @tdl.pack.bf16(float %x)
  %value = call float @tdl.extend.bf16(i16 %packed)
  ret float %value
}}""",
    "tdl.round.f16": f"""
define internal float @tdl.round.f16(float %x) {_INLINE} {{
  %packed = call i16 @tdl.pack.f16(float %x)
  %value = call float @tdl.extend.f16(i16 %packed)
  ret float %value
}}""",
    # f64 to f32 rounding to odd: a second rounding to 16 bits then gives what one rounding would have given.
    "tdl.odd.f64": f"""
define internal float @tdl.odd.f64(double %x) {_INLINE} {{
  %near = fptrunc double %x to float
  %back = fpext float %near to double
  %bits = bitcast float %near to i32
  %size = call double @llvm.fabs.f64(double %x)
  %reached = call double @llvm.fabs.f64(double %back)
  %beyond = fcmp ogt double %reached, %size
  %below = sext i1 %beyond to i32
  %down = add i32 %bits, %below
  %odd = or i32 %down, 1
  %inexact = fcmp one double %back, %x
  %chosen = select i1 %inexact, i32 %odd, i32 %bits
  %value = bitcast i32 %chosen to float
  ret float %value
}}""",
    "tdl.fail": """
define internal void @tdl.fail(ptr %error, i32 %code, i64 %site, i64 %a, i64 %b, i64 %c) noinline cold nounwind {
  %won = cmpxchg ptr %error, i32 0, i32 %code acq_rel monotonic
  %first = extractvalue { i32, i1 } %won, 1
  br i1 %first, label %record, label %done
record:
  %site.at = getelementptr inbounds i8, ptr %error, i64 8
  store i64 %site, ptr %site.at
  %a.at = getelementptr inbounds i8, ptr %error, i64 16
  store i64 %a, ptr %a.at
  %b.at = getelementptr inbounds i8, ptr %error, i64 24
  store i64 %b, ptr %b.at
  %c.at = getelementptr inbounds i8, ptr %error, i64 32
  store i64 %c, ptr %c.at
  br label %done
done:
  ret void
}""",
}

_MACHINE_F16 = {
    "tdl.extend.f16": f"""
define internal float @tdl.extend.f16(i16 %x) {_INLINE} {{
  %half = bitcast i16 %x to half
  %value = fpext half %half to float
  ret float %value
}}""",
    "tdl.pack.f16": f"""
define internal i16 @tdl.pack.f16(float %x) {_INLINE} {{
  %half = fptrunc float %x to half
  %value = bitcast half %half to i16
  ret i16 %value
}}""",
}

_SOFT_F16 = {
    # The exponent is moved by a product with 2**112, which is exact and makes subnormal numbers normal.
    "tdl.extend.f16": f"""
define internal float @tdl.extend.f16(i16 %x) {_INLINE} {{
  %wide = zext i16 %x to i32
  %size = and i32 %wide, 32767
  %moved = shl i32 %size, 13
  %small = bitcast i32 %moved to float
  %scaled = fmul float %small, 0x46F0000000000000
  %scaled.bits = bitcast float %scaled to i32
  %top = or i32 %moved, 2139095040
  %is.top = icmp uge i32 %size, 31744
  %bits = select i1 %is.top, i32 %top, i32 %scaled.bits
  %sign = and i32 %wide, 32768
  %sign.bit = shl i32 %sign, 16
  %all = or i32 %bits, %sign.bit
  %value = bitcast i32 %all to float
  ret float %value
}}""",
    # Normal results round by adding just under half of the last digit; subnormal ones by adding 0.5, whose last digit
    # is theirs; 65520 and beyond is infinite.
    "tdl.pack.f16": f"""
define internal i16 @tdl.pack.f16(float %x) {_INLINE} {{
  %bits = bitcast float %x to i32
  %size = and i32 %bits, 2147483647
  %sign = lshr i32 %bits, 16
  %sign.bit = and i32 %sign, 32768
  %shifted = lshr i32 %size, 13
  %odd = and i32 %shifted, 1
  %half = add i32 %odd, 4095
  %sum = add i32 %size, %half
  %based = sub i32 %sum, 939524096
  %normal = lshr i32 %based, 13
  %positive = bitcast i32 %size to float
  %aligned = fadd float %positive, 0.5
  %aligned.bits = bitcast float %aligned to i32
  %subnormal = sub i32 %aligned.bits, 1056964608
  %is.small = icmp ult i32 %size, 947912704
  %finite = select i1 %is.small, i32 %subnormal, i32 %normal
  %is.large = icmp uge i32 %size, 1199566848
  %bounded = select i1 %is.large, i32 31744, i32 %finite
  %nan = icmp ugt i32 %size, 2139095040
  %chosen = select i1 %nan, i32 32256, i32 %bounded
  %all = or i32 %chosen, %sign.bit
  %value = trunc i32 %all to i16
  ret i16 %value
}}""",
}

_NAME = re.compile(r"@(tdl\.[\w.]+)\(")
_DECLARED = re.compile(r"call (?:(?:reassoc|contract) )*(\S+|\{[^}]*\}) @((?:llvm\.)[\w.]+|[a-z]\w*)\(([^)]*)\)")


def support_for(text: str, machine_f16: bool) -> str:
    """The functions that the text calls, those that they call, and declarations of intrinsics and libm's functions."""
    library = {**_ALWAYS, **(_MACHINE_F16 if machine_f16 else _SOFT_F16)}
    wanted: dict[str, str] = {}
    waiting = [text]
    while waiting:
        for name in _NAME.findall(waiting.pop()):
            if name in library and name not in wanted:
                wanted[name] = library[name]
                waiting.append(library[name])
    body = "\n".join(wanted.values())
    declared: dict[str, str] = {}
    for result, name, args in _DECLARED.findall(text + body):
        types = ", ".join(arg.strip().split(" ")[0] for arg in args.split(",") if arg.strip())
        attributes = "" if name.startswith("llvm.") else " nounwind willreturn speculatable memory(none)"
        declared.setdefault(name, f"declare {result} @{name}({types}){attributes}")
    return "\n".join(declared.values()) + "\n" + body + "\n"
