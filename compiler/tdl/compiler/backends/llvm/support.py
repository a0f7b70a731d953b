"""Small functions in LLVM text that generated code calls; LLVM inlines them. Only those that are used are included.

Half floats are converted by integer arithmetic, rounding to nearest even and keeping NaN, so that no target needs a
library for them; where the machine converts f16 itself, its instruction is used. Each has a form for every number of
lanes (`tdl.pack.bf16.v16`), made from one text: `$i32` is the type, `$i32(7)` a constant of it. `fail` keeps the first
failure.
"""

from __future__ import annotations

import re

from tdl.compiler.backends.llvm.values import Value, mangled, spread_constant, vector_type

_INLINE = "alwaysinline nounwind memory(none)"
_KINDS = {"f32": "float", "f64": "double", "f16": "half", "i32": "i32", "i16": "i16", "i1": "i1"}

_ALWAYS = {
    "tdl.extend.bf16": """
define internal $f32 @${self}($i16 %x) $inline {
  %wide = zext $i16 %x to $i32
  %bits = shl $i32 %wide, $i32(16)
  %value = bitcast $i32 %bits to $f32
  ret $f32 %value
}""",
    "tdl.pack.bf16": """
define internal $i16 @${self}($f32 %x) $inline {
  %bits = bitcast $f32 %x to $i32
  %high = lshr $i32 %bits, $i32(16)
  %odd = and $i32 %high, $i32(1)
  %half = add $i32 %odd, $i32(32767)
  %sum = add $i32 %bits, %half
  %near = lshr $i32 %sum, $i32(16)
  %quiet = or $i32 %high, $i32(64)
  %nan = fcmp uno $f32 %x, %x
  %chosen = select $i1 %nan, $i32 %quiet, $i32 %near
  %value = trunc $i32 %chosen to $i16
  ret $i16 %value
}""",
    "tdl.round.bf16": """
define internal $f32 @${self}($f32 %x) $inline {
  %packed = call $i16 @tdl.pack.bf16${lanes}($f32 %x)
  %value = call $f32 @tdl.extend.bf16${lanes}($i16 %packed)
  ret $f32 %value
}""",
    "tdl.round.f16": """
define internal $f32 @${self}($f32 %x) $inline {
  %packed = call $i16 @tdl.pack.f16${lanes}($f32 %x)
  %value = call $f32 @tdl.extend.f16${lanes}($i16 %packed)
  ret $f32 %value
}""",
    # f64 to f32 rounding to odd: a second rounding to 16 bits then gives what one rounding would have given.
    "tdl.odd.f64": """
define internal $f32 @${self}($f64 %x) $inline {
  %near = fptrunc $f64 %x to $f32
  %back = fpext $f32 %near to $f64
  %bits = bitcast $f32 %near to $i32
  %size = call $f64 @llvm.fabs.$name(f64)($f64 %x)
  %reached = call $f64 @llvm.fabs.$name(f64)($f64 %back)
  %beyond = fcmp ogt $f64 %reached, %size
  %below = sext $i1 %beyond to $i32
  %down = add $i32 %bits, %below
  %odd = or $i32 %down, $i32(1)
  %inexact = fcmp one $f64 %back, %x
  %chosen = select $i1 %inexact, $i32 %odd, $i32 %bits
  %value = bitcast $i32 %chosen to $f32
  ret $f32 %value
}""",
}

_MACHINE_F16 = {
    "tdl.extend.f16": """
define internal $f32 @${self}($i16 %x) $inline {
  %half = bitcast $i16 %x to $f16
  %value = fpext $f16 %half to $f32
  ret $f32 %value
}""",
    "tdl.pack.f16": """
define internal $i16 @${self}($f32 %x) $inline {
  %half = fptrunc $f32 %x to $f16
  %value = bitcast $f16 %half to $i16
  ret $i16 %value
}""",
}

_SOFT_F16 = {
    # The exponent is moved by a product with 2**112, which is exact and makes subnormal numbers normal.
    "tdl.extend.f16": """
define internal $f32 @${self}($i16 %x) $inline {
  %wide = zext $i16 %x to $i32
  %size = and $i32 %wide, $i32(32767)
  %moved = shl $i32 %size, $i32(13)
  %small = bitcast $i32 %moved to $f32
  %scaled = fmul $f32 %small, $f32(0x46F0000000000000)
  %scaled.bits = bitcast $f32 %scaled to $i32
  %top = or $i32 %moved, $i32(2139095040)
  %is.top = icmp uge $i32 %size, $i32(31744)
  %bits = select $i1 %is.top, $i32 %top, $i32 %scaled.bits
  %sign = and $i32 %wide, $i32(32768)
  %sign.bit = shl $i32 %sign, $i32(16)
  %all = or $i32 %bits, %sign.bit
  %value = bitcast $i32 %all to $f32
  ret $f32 %value
}""",
    # Normal results round by adding just under half of the last digit; subnormal ones by adding 0.5, whose last digit
    # is theirs; 65520 and beyond is infinite.
    "tdl.pack.f16": """
define internal $i16 @${self}($f32 %x) $inline {
  %bits = bitcast $f32 %x to $i32
  %size = and $i32 %bits, $i32(2147483647)
  %sign = lshr $i32 %bits, $i32(16)
  %sign.bit = and $i32 %sign, $i32(32768)
  %shifted = lshr $i32 %size, $i32(13)
  %odd = and $i32 %shifted, $i32(1)
  %half = add $i32 %odd, $i32(4095)
  %sum = add $i32 %size, %half
  %based = sub $i32 %sum, $i32(939524096)
  %normal = lshr $i32 %based, $i32(13)
  %positive = bitcast $i32 %size to $f32
  %aligned = fadd $f32 %positive, $f32(0.5)
  %aligned.bits = bitcast $f32 %aligned to $i32
  %subnormal = sub $i32 %aligned.bits, $i32(1056964608)
  %is.small = icmp ult $i32 %size, $i32(947912704)
  %finite = select $i1 %is.small, $i32 %subnormal, $i32 %normal
  %is.large = icmp uge $i32 %size, $i32(1199566848)
  %bounded = select $i1 %is.large, $i32 $i32(31744), $i32 %finite
  %nan = icmp ugt $i32 %size, $i32(2139095040)
  %chosen = select $i1 %nan, $i32 $i32(32256), $i32 %bounded
  %all = or $i32 %chosen, %sign.bit
  %value = trunc $i32 %all to $i16
  ret $i16 %value
}""",
}

_FAIL = """
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
}"""

_NAME = re.compile(r"@(tdl\.[a-z0-9.]+?)(?:\.v(\d+))?\(")
_TOKEN = re.compile(r"\$\{?(\w+)(?:\}|\(([^)]*)\))?")
_TYPE = r"(?:<\d+ x \w+>|\{[^}]*\}|\w+)"
_CALL = re.compile(rf"call (?:(?:reassoc|contract) )*({_TYPE}) @((?:llvm\.)[\w.]+|[a-z]\w*)\((.*)\)")
_GIVEN = re.compile(r"^(?:declare|define) .*$", re.MULTILINE)
_ARGUMENT = re.compile(rf"(?:^|, )({_TYPE})(?= )")


def support_for(text: str, machine_f16: bool) -> str:
    """The functions that the text calls, those that they call, and declarations of intrinsics and libm's functions."""
    library = {**_ALWAYS, **(_MACHINE_F16 if machine_f16 else _SOFT_F16)}
    wanted: dict[str, str] = {}
    waiting = [text]
    while waiting:
        for name, lanes in dict.fromkeys(_NAME.findall(waiting.pop())):
            full = f"{name}.v{lanes}" if lanes else name
            if (name in library or name == "tdl.fail") and full not in wanted:
                wanted[full] = _FAIL if name == "tdl.fail" else _instance(library[name], full, int(lanes or 0))
                waiting.append(wanted[full])
    body = "\n".join(wanted.values())
    given = "".join(_GIVEN.findall(text))
    declared: dict[str, str] = {}
    for result, name, args in _CALL.findall(text + body):
        if name not in declared and f"@{name}(" not in given:
            types = ", ".join(_ARGUMENT.findall(_without_constants(args)))
            attributes = "" if name.startswith("llvm.") else " nounwind willreturn speculatable memory(none)"
            declared[name] = f"declare {result} @{name}({types}){attributes}"
    return "\n".join(declared.values()) + "\n" + body + "\n"


def _instance(text: str, name: str, lanes: int) -> str:
    """The function for a number of lanes."""

    def token(found: re.Match[str]) -> str:
        word, argument = found.groups()
        match word:
            case "self":
                return name
            case "inline":
                return _INLINE
            case "lanes":
                return f".v{lanes}" if lanes else ""
            case "name":
                return mangled(_KINDS[argument], lanes)
        if argument is None:
            return vector_type(_KINDS[word], lanes)
        return spread_constant(Value(argument, _KINDS[word]), lanes).text

    return _TOKEN.sub(token, text)


def _without_constants(args: str) -> str:
    """The arguments without vector constants, whose elements would look like arguments."""
    return re.sub(r" <[^<>]*>(?=,|$)", " c", args)
