"""Which level of x86-64 the processor has, asked once: a library that is for several takes the highest.

    v2      SSE4.2; what code is made for below
    v3      AVX2, FMA, F16C, BMI; the system keeps ymm registers
    v4      AVX-512 F, BW, CD, DQ, VL; the system keeps zmm registers

The answer is kept in a word; threads that ask at once all find the same one.
"""

from __future__ import annotations

NAME = "tdl.level"

LEVELS_TEXT = """
@tdl.level.known = internal global i32 -1

define internal i32 @tdl.level() nounwind {
entry:
  %known = load atomic i32, ptr @tdl.level.known monotonic, align 4
  %is.known = icmp sge i32 %known, 0
  br i1 %is.known, label %give, label %ask
give:
  ret i32 %known
ask:
  %level = call i32 @tdl.level.asked()
  store atomic i32 %level, ptr @tdl.level.known monotonic, align 4
  ret i32 %level
}

define internal i32 @tdl.level.asked() noinline nounwind {
entry:
  %first = call { i32, i32, i32, i32 } asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},0,2"(i32 0, i32 0)
  %most = extractvalue { i32, i32, i32, i32 } %first, 0
  %is.recent = icmp uge i32 %most, 7
  %one = call { i32, i32, i32, i32 } asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},0,2"(i32 1, i32 0)
  %one.c = extractvalue { i32, i32, i32, i32 } %one, 2
  %one.has = and i32 %one.c, 943722496
  %one.is = icmp eq i32 %one.has, 943722496
  %can.ask = and i1 %is.recent, %one.is
  br i1 %can.ask, label %state, label %v2
state:
  %kept = call { i32, i32 } asm sideeffect "xgetbv", "={ax},={dx},{cx}"(i32 0)
  %kept.low = extractvalue { i32, i32 } %kept, 0
  %ymm = and i32 %kept.low, 6
  %ymm.is = icmp eq i32 %ymm, 6
  %seven = call { i32, i32, i32, i32 } asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},0,2"(i32 7, i32 0)
  %seven.b = extractvalue { i32, i32, i32, i32 } %seven, 1
  %seven.has = and i32 %seven.b, 296
  %seven.is = icmp eq i32 %seven.has, 296
  %far = call { i32, i32, i32, i32 } asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},0,2"(i32 -2147483647, i32 0)
  %far.c = extractvalue { i32, i32, i32, i32 } %far, 2
  %far.has = and i32 %far.c, 32
  %far.is = icmp ne i32 %far.has, 0
  %both = and i1 %ymm.is, %seven.is
  %all = and i1 %both, %far.is
  br i1 %all, label %wide, label %v2
wide:
  %zmm = and i32 %kept.low, 230
  %zmm.is = icmp eq i32 %zmm, 230
  %wide.has = and i32 %seven.b, -805109760
  %wide.is = icmp eq i32 %wide.has, -805109760
  %is.v4 = and i1 %zmm.is, %wide.is
  %level = select i1 %is.v4, i32 2, i32 1
  ret i32 %level
v2:
  ret i32 0
}
"""
"""The level as 0, 1 or 2."""
