"""What generated C calls, in C: only the functions that are used, each before those that use it.

Half floats are converted by integer arithmetic, rounding to nearest even and keeping NaN. `tdl_fail` keeps the first
failure. Names end in a dtype: one text is for several, `$T` being its type, `$U` an unsigned one that is not promoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tdl.compiler.backends.c.values import integer, value_type
from tdl.language.dtypes import DTYPES, DType

HEADERS = """#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Each operation rounds once: no product is fused with a sum but where `fma` is called. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
"""

RUN = """#if !defined(__STDC_NO_ATOMICS__)
#include <stdatomic.h>
typedef atomic_int tdl_code;
#else
typedef int tdl_code; /* without atomics there are no threads */
#endif

/* A call that runs. `workspace` is aligned to 64 bytes; of failures, the first is kept. */
typedef struct tdl_run {
    unsigned char *workspace;
    void (*parallel_for)(
        void *state, void (*task)(void *closure, int64_t index, int32_t thread), void *closure, int64_t count);
    void *state;
    tdl_code code;
    int64_t site;
    int64_t details[3];
} tdl_run;
"""

_PLAIN = {
    "tdl_fail": """static void tdl_fail(tdl_run *run, int code, int64_t site, int64_t a, int64_t b, int64_t c) {
#if !defined(__STDC_NO_ATOMICS__)
    int none = 0;
    if (!atomic_compare_exchange_strong(&run->code, &none, code)) {
        return;
    }
#else
    if (run->code != 0) {
        return;
    }
    run->code = code;
#endif
    run->site = site;
    run->details[0] = a;
    run->details[1] = b;
    run->details[2] = c;
}
""",
    "tdl_failed": """static inline bool tdl_failed(tdl_run *run) {
    return run->code != 0;
}
""",
    "tdl_parallel": """static void tdl_parallel(
    tdl_run *run, void (*task)(void *closure, int64_t index, int32_t thread), void *closure, int64_t count) {
    if (run->parallel_for != NULL && count > 0) {
        run->parallel_for(run->state, task, closure, count);
        return;
    }
    for (int64_t index = 0; index < count; ++index) {
        task(closure, index, 0);
    }
}
""",
    "TDL_PREFETCH": """/* The address may be outside of the buffer, so it is computed as a number. */
#if defined(__GNUC__)
#define TDL_PREFETCH(base, bytes) __builtin_prefetch((const void *)((uintptr_t)(base) + (uintptr_t)(bytes)))
#else
#define TDL_PREFETCH(base, bytes) ((void)(base), (void)(bytes))
#endif
""",
    # Sizes stay at the greatest number where they would exceed it.
    "tdl_size_mul": """static inline int64_t tdl_size_mul(int64_t a, int64_t b) {
    if (a <= 0 || b <= 0) {
        return 0;
    }
    return a > INT64_MAX / b ? INT64_MAX : a * b;
}
""",
    "tdl_size_add": """static inline int64_t tdl_size_add(int64_t a, int64_t b) {
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}
""",
    "tdl_size_align": """static inline int64_t tdl_size_align(int64_t bytes) {
    return bytes > INT64_MAX - 63 ? INT64_MAX : (bytes + 63) / 64 * 64;
}
""",
    "tdl_end": """static int32_t tdl_end(tdl_run *run, int32_t *code, int64_t *site, int64_t *details) {
    *code = run->code;
    *site = run->site;
    memcpy(details, run->details, sizeof run->details);
    return *code;
}
""",
    "tdl_is_bad_buffer": """static inline bool tdl_is_bad_buffer(const void *buffer, int64_t bytes, uintptr_t align) {
    return bytes > 0 && (buffer == NULL || (uintptr_t)buffer % align != 0);
}
""",
    "tdl_allocate": """static void *tdl_allocate(int64_t bytes) {
#if defined(TDL_NO_MALLOC)
    (void)bytes;
    return NULL;
#else
    return (uint64_t)bytes > SIZE_MAX - 64 ? NULL : malloc((size_t)bytes + 64);
#endif
}

static inline void *tdl_aligned(void *memory) {
    return memory == NULL ? NULL : (void *)(((uintptr_t)memory + 63) / 64 * 64);
}

static inline void tdl_free(void *memory) {
#if defined(TDL_NO_MALLOC)
    (void)memory;
#else
    free(memory);
#endif
}
""",
    "tdl_f32_of_bits": """static inline float tdl_f32_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
""",
    "tdl_bits_of_f32": """static inline uint32_t tdl_bits_of_f32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
""",
    "tdl_f32_from_bf16": """static inline float tdl_f32_from_bf16(uint16_t x) {
    return tdl_f32_of_bits((uint32_t)x << 16);
}
""",
    "tdl_bf16_from_f32": """static inline uint16_t tdl_bf16_from_f32(float x) {
    const uint32_t bits = tdl_bits_of_f32(x);
    if (isnan(x)) {
        return (uint16_t)(bits >> 16 | 64u);
    }
    return (uint16_t)((bits + 32767u + (bits >> 16 & 1u)) >> 16);
}
""",
    # The exponent is moved by a product with 2**112, which is exact and makes subnormal numbers normal.
    "tdl_f32_from_f16": """static inline float tdl_f32_from_f16(uint16_t x) {
    const uint32_t moved = (uint32_t)(x & 0x7fffu) << 13;
    const uint32_t sign = (uint32_t)(x & 0x8000u) << 16;
    if ((x & 0x7fffu) >= 0x7c00u) {
        return tdl_f32_of_bits(moved | 0x7f800000u | sign);
    }
    return tdl_f32_of_bits(tdl_bits_of_f32(tdl_f32_of_bits(moved) * 5.192296858534828e33f) | sign);
}
""",
    # Normal results round by adding just under half of the last digit; subnormal ones by adding 0.5, whose last digit
    # is theirs; 65520 and beyond is infinite.
    "tdl_f16_from_f32": """static inline uint16_t tdl_f16_from_f32(float x) {
    const uint32_t bits = tdl_bits_of_f32(x);
    const uint32_t size = bits & 0x7fffffffu;
    const uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t half;
    if (size > 0x7f800000u) {
        half = 0x7e00u;
    } else if (size >= 0x477ff000u) {
        half = 0x7c00u;
    } else if (size < 0x38800000u) {
        half = tdl_bits_of_f32(tdl_f32_of_bits(size) + 0.5f) - 0x3f000000u;
    } else {
        half = (size + 4095u + (size >> 13 & 1u) - 0x38000000u) >> 13;
    }
    return (uint16_t)(half | sign);
}
""",
    "tdl_round_bf16": """static inline float tdl_round_bf16(float x) {
    return tdl_f32_from_bf16(tdl_bf16_from_f32(x));
}
""",
    "tdl_round_f16": """static inline float tdl_round_f16(float x) {
    return tdl_f32_from_f16(tdl_f16_from_f32(x));
}
""",
    # To odd: a second rounding to 16 bits then gives what one rounding would have given.
    "tdl_odd_f32": """static inline float tdl_odd_f32(double x) {
    const float near = (float)x;
    if (isnan(x) || (double)near == x) {
        return near;
    }
    const uint32_t bits = tdl_bits_of_f32(near);
    return tdl_f32_of_bits((fabs((double)near) > fabs(x) ? bits - 1u : bits) | 1u);
}
""",
    # The lowest 11 bits are gathered into one that a double keeps, so that rounding twice is harmless. They are dropped
    # only from numbers of more than 53 digits, of which a half float keeps at most 11.
    "tdl_sticky_u64": """static inline uint64_t tdl_sticky_u64(uint64_t x) {
    if (x <= UINT64_C(9007199254740992) || (x & 2047u) == 0) {
        return x;
    }
    return (x & ~UINT64_C(2047)) | 2048u;
}
""",
    "tdl_sticky_i64": """static inline int64_t tdl_sticky_i64(int64_t x) {
    if ((x <= INT64_C(9007199254740992) && x >= -INT64_C(9007199254740992)) || (x & 2047) == 0) {
        return x;
    }
    return (int64_t)(((uint64_t)x & ~UINT64_C(2047)) | 2048u);
}
""",
}

_INTEGERS = {
    "add": "static inline $T $name($T a, $T b) {\n    return ($T)(($U)a + ($U)b);\n}\n",
    "sub": "static inline $T $name($T a, $T b) {\n    return ($T)(($U)a - ($U)b);\n}\n",
    "mul": "static inline $T $name($T a, $T b) {\n    return ($T)(($U)a * ($U)b);\n}\n",
    "neg": "static inline $T $name($T a) {\n    return ($T)(($U)0 - ($U)a);\n}\n",
    "abs": "static inline $T $name($T a) {\n    return a < 0 ? ($T)(($U)0 - ($U)a) : a;\n}\n",
    "min": "static inline $T $name($T a, $T b) {\n    return a < b ? a : b;\n}\n",
    "max": "static inline $T $name($T a, $T b) {\n    return a > b ? a : b;\n}\n",
    "shl": "static inline $T $name($T a, $T b) {\n    return ($T)(($U)a << ((unsigned)b & $maskU));\n}\n",
    "floor_div": """static inline $T $name($T a, $T b) {
    if (b == -1) {
        return ($T)(($U)0 - ($U)a);
    }
    const $T quotient = ($T)(a / b);
    return a % b != 0 && (a < 0) != (b < 0) ? ($T)(quotient - 1) : quotient;
}
""",
    "mod": """static inline $T $name($T a, $T b) {
    if (b == -1) {
        return 0;
    }
    const $T rest = ($T)(a % b);
    return rest != 0 && (rest < 0) != (b < 0) ? ($T)(rest + b) : rest;
}
""",
}
_SHR = {
    "signed": """static inline $T $name($T a, $T b) {
    const unsigned count = (unsigned)b & $maskU;
    return a < 0 ? ($T)~(~a >> count) : ($T)(a >> count);
}
""",
    "unsigned": "static inline $T $name($T a, $T b) {\n    return ($T)(a >> ((unsigned)b & $maskU));\n}\n",
}
_SATURATING = {
    "signed": """static inline $T $name(double x) {
    if (!(x >= $least)) {
        return isnan(x) ? 0 : $LEAST;
    }
    return x >= $beyond ? $GREATEST : ($T)x;
}
""",
    "unsigned": """static inline $T $name(double x) {
    if (!(x >= 1.0)) {
        return 0;
    }
    return x >= $beyond ? $GREATEST : ($T)x;
}
""",
}
# `$f` is the suffix of the functions of the type, and of its numbers (none for double).
_FLOATS = {
    "min": "static inline $T $name($T a, $T b) {\n    return a < b || isnan(a) ? a : b;\n}\n",
    "max": "static inline $T $name($T a, $T b) {\n    return a > b || isnan(a) ? a : b;\n}\n",
    "madd": """static inline $T $name($T a, $T b, $T c) {
#if defined($FAST)
    return fma$f(a, b, c);
#else
    return a * b + c;
#endif
}
""",
    "rsqrt": "static inline $T $name($T x) {\n    return 1.0$f / sqrt$f(x);\n}\n",
    # Small results keep their digits.
    "sigmoid": """static inline $T $name($T x) {
    const $T power = exp$f(-fabs$f(x));
    return (x < 0.0$f ? power : 1.0$f) / (1.0$f + power);
}
""",
    "mod": """static inline $T $name($T a, $T b) {
    const $T whole = fmod$f(a, b);
    if (whole == 0.0$f) {
        return copysign$f(0.0$f, b);
    }
    return (whole < 0.0$f) != (b < 0.0$f) ? whole + b : whole;
}
""",
    # The exact remainder gives the quotient, which is then a whole number but for its rounding.
    "floor_div": """static inline $T $name($T a, $T b) {
    if (b == 0.0$f) {
        return a / b;
    }
    const $T whole = fmod$f(a, b);
    $T quotient = (a - whole) / b;
    if (!(whole == 0.0$f) && (whole < 0.0$f) != (b < 0.0$f)) {
        quotient -= 1.0$f;
    }
    if (quotient == 0.0$f) {
        return copysign$f(0.0$f, a / b);
    }
    const $T near = floor$f(quotient);
    return quotient - near > 0.5$f ? near + 1.0$f : near;
}
""",
}

_NAME = re.compile(r"\b(?:tdl_\w+|TDL_\w+)")
_TOKEN = re.compile(r"\$(maskU|T|U|name|least|LEAST|beyond|GREATEST|FAST|f)\b")


def support_for(names: Iterable[str]) -> str:
    """The text of helpers and of those that they call, in an order in which they can be compiled."""
    done: dict[str, str] = {}

    def visit(name: str) -> None:
        if name in done or (text := _text(name)) is None:
            return
        for other in _NAME.findall(text):
            if other != name:
                visit(other)
        done[name] = text

    for name in sorted(names):
        visit(name)
    return "\n".join(done.values())


def _text(name: str) -> str | None:
    """A helper's text; None for a name that is not one."""
    if name in _PLAIN:
        return _PLAIN[name]
    saturating = re.fullmatch(r"tdl_(\w+)_from_float", name)
    if saturating:
        dtype = DTYPES[saturating[1]]
        return _filled(_SATURATING[dtype.kind], name, dtype)
    parts = re.fullmatch(r"tdl_(\w+)_([a-z]+\d+)", name)
    if parts is None or parts[2] not in DTYPES:
        return None
    operation, dtype = parts[1], DTYPES[parts[2]]
    table = _FLOATS if dtype.is_float else {**_INTEGERS, "shr": _SHR.get(dtype.kind, "")}
    return _filled(table[operation], name, dtype) if operation in table else None


def _filled(text: str, name: str, dtype: DType) -> str:
    values = {"name": name, "T": value_type(dtype)}
    if dtype.is_float:
        wide = dtype.bits == 64
        values |= {"f": "" if wide else "f", "FAST": "FP_FAST_FMA" if wide else "FP_FAST_FMAF"}
    else:
        unsigned = f"uint{max(32, dtype.bits)}_t"
        values |= {"U": unsigned, "maskU": f"{dtype.bits - 1}u", "beyond": f"{float(dtype.greatest + 1)!r}"}
        values |= {"least": f"{float(dtype.least)!r}", "LEAST": integer(dtype.least, dtype).text}
        values["GREATEST"] = f"{'U' if dtype.kind == 'unsigned' else ''}INT{dtype.bits}_MAX"
    return _TOKEN.sub(lambda found: values[found[1]], text)
