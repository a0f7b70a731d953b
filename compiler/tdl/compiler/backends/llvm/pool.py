"""The thread pool that kernels' parallel loops run on, as LLVM text that needs nothing but libc.

    void tdl.parallel_for(const int64_t *threads, void (*task)(void *closure, int64_t index, int32_t thread),
                          void *closure, int64_t count);

Runs the task for each index in 0..count, on at most `*threads` threads, and returns when all are done. `thread` is
below `*threads`, and 0 is the caller. One region at a time has the pool: one inside of another, or begun by another
thread meanwhile, runs serially in its caller. Indices are handed out as threads become free, so results must not depend
on which thread runs what.

A region is open while `generation` is odd. A worker enters by adding itself to `active` and looking at `generation`
again; the caller closes the region when no index is left, and waits until `active` is 0. So a worker that comes late
delays nobody, and what the region's fields hold is stable for everyone inside. Who waits spins for a while, then sleeps
in the kernel; who changes what is waited for wakes sleepers only if there are any.

Workers are started when a region first needs them, and only end with the process. A fork leaves the child without them:
it is noticed by a page that the system wipes in children, or where there is none by the process's number, and the pool
begins anew (`sleep.py`). The code must never be unloaded.
"""

from __future__ import annotations

from string import Template

from tdl.compiler.backends.llvm.sleep import sleep_text

NAME = "tdl.parallel_for"

_PAUSE = {
    "x86_64": "call void @llvm.x86.sse2.pause()",
    "aarch64": "call void @llvm.aarch64.hint(i32 1)",
    "arm64": "call void @llvm.aarch64.hint(i32 1)",
}
_SPINS = 4096  # pauses before sleeping: 50 to 200 us, more than Python needs between two calls
_PARTS = 32  # of the indices for each thread, handed out one part at a time


def pool_text(triple: str) -> str:
    """The LLVM text of the pool for a target. It is for systems that have POSIX threads."""
    architecture, _, system = triple.partition("-")
    pause = _PAUSE.get(architecture, 'fence syncscope("singlethread") seq_cst')
    parts = [_STATE, _ENTRY, _DRAIN, _WAIT, _WORKER, _START]
    if pause.startswith("call"):
        parts.append(f"declare void {pause.removeprefix('call void ').replace('i32 1', 'i32')}")
    values = {
        "pause": pause,
        "spins": _SPINS,
        "parts": _PARTS,
        "set": 2 if "linux" in system else 3,  # SIG_SETMASK
    }
    return Template("".join(parts)).substitute(values) + sleep_text(architecture, system)


def has_threads(triple: str) -> bool:
    """Whether the pool can be made for a target: one of 64 bits with POSIX threads."""
    architecture, _, system = triple.partition("-")
    return "64" in architecture and any(each in system for each in ("linux", "darwin", "macos", "bsd", "android"))


# Each word that threads contend for has a cache line, and the line that is fetched with it, to itself.
_STATE = """
@tdl.pool.generation = internal global [32 x i32] zeroinitializer, align 128
@tdl.pool.next = internal global [16 x i64] zeroinitializer, align 128
@tdl.pool.active = internal global [32 x i32] zeroinitializer, align 128
@tdl.pool.asleep = internal global [32 x i32] zeroinitializer, align 128
@tdl.pool.busy = internal global [32 x i32] zeroinitializer, align 128
@tdl.pool.region = internal global { ptr, ptr, i64, i64, i64 } zeroinitializer, align 128
@tdl.pool.process = internal global i32 0, align 128
@tdl.pool.workers = internal global i64 0
@tdl.pool.most = internal global i64 0
@tdl.pool.mark = internal global ptr null
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(ptr)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @sigfillset(ptr)
declare i32 @sched_yield()
declare i32 @getpid()
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
"""

_ENTRY = """
define void @tdl.parallel_for(ptr %threads, ptr %task, ptr %closure, i64 %count) nounwind {
entry:
  %limit = load i64, ptr %threads
  %least = call i64 @llvm.smin.i64(i64 %limit, i64 %count)
  %is.parallel = icmp sgt i64 %least, 1
  br i1 %is.parallel, label %own, label %serial
own:
  %ready = call i1 @tdl.pool.ready()
  br i1 %ready, label %claim, label %serial
claim:
  %claimed = cmpxchg ptr @tdl.pool.busy, i32 0, i32 1 acquire monotonic
  %is.free = extractvalue { i32, i1 } %claimed, 1
  br i1 %is.free, label %open, label %serial
open:
  call void @tdl.pool.start(i64 %limit)
  %share = mul i64 %limit, $parts
  %quotient = sdiv i64 %count, %share
  %part = call i64 @llvm.smax.i64(i64 %quotient, i64 1)
  store ptr %task, ptr @tdl.pool.region
  store ptr %closure, ptr getelementptr ({ ptr, ptr, i64, i64, i64 }, ptr @tdl.pool.region, i64 0, i32 1)
  store i64 %count, ptr getelementptr ({ ptr, ptr, i64, i64, i64 }, ptr @tdl.pool.region, i64 0, i32 2)
  store i64 %part, ptr getelementptr ({ ptr, ptr, i64, i64, i64 }, ptr @tdl.pool.region, i64 0, i32 3)
  store i64 %limit, ptr getelementptr ({ ptr, ptr, i64, i64, i64 }, ptr @tdl.pool.region, i64 0, i32 4)
  store atomic i64 0, ptr @tdl.pool.next monotonic, align 8
  %opened = atomicrmw add ptr @tdl.pool.generation, i32 1 seq_cst
  call void @tdl.pool.wake(ptr @tdl.pool.generation)
  call void @tdl.pool.drain(i32 0)
  %closed = atomicrmw add ptr @tdl.pool.generation, i32 1 seq_cst
  br label %join
join:
  %active = load atomic i32, ptr @tdl.pool.active seq_cst, align 4
  %is.done = icmp eq i32 %active, 0
  br i1 %is.done, label %leave, label %linger
linger:
  %changed = call i32 @tdl.pool.wait(ptr @tdl.pool.active, i32 %active)
  br label %join
leave:
  store atomic i32 0, ptr @tdl.pool.busy release, align 4
  ret void
serial:
  %is.empty = icmp sle i64 %count, 0
  br i1 %is.empty, label %end, label %each
each:
  %index = phi i64 [ 0, %serial ], [ %following, %each ]
  call void %task(ptr %closure, i64 %index, i32 0)
  %following = add nsw i64 %index, 1
  %more = icmp slt i64 %following, %count
  br i1 %more, label %each, label %end
end:
  ret void
}
"""

_DRAIN = """
define internal void @tdl.pool.drain(i32 %thread) nounwind {
entry:
  %task = load ptr, ptr @tdl.pool.region
  %closure = load ptr, ptr getelementptr ({ ptr, ptr, i64, i64, i64 }, ptr @tdl.pool.region, i64 0, i32 1)
  %count = load i64, ptr getelementptr ({ ptr, ptr, i64, i64, i64 }, ptr @tdl.pool.region, i64 0, i32 2)
  %part = load i64, ptr getelementptr ({ ptr, ptr, i64, i64, i64 }, ptr @tdl.pool.region, i64 0, i32 3)
  br label %take
take:
  %first = atomicrmw add ptr @tdl.pool.next, i64 %part monotonic
  %is.left = icmp slt i64 %first, %count
  br i1 %is.left, label %some, label %end
some:
  %beyond = add nsw i64 %first, %part
  %last = call i64 @llvm.smin.i64(i64 %beyond, i64 %count)
  br label %each
each:
  %index = phi i64 [ %first, %some ], [ %following, %each ]
  call void %task(ptr %closure, i64 %index, i32 %thread)
  %following = add nsw i64 %index, 1
  %more = icmp slt i64 %following, %last
  br i1 %more, label %each, label %take
end:
  ret void
}
"""

# The new value of a word that is not `old` any more. Every 64 pauses another thread may have the core.
_WAIT = """
define internal i32 @tdl.pool.wait(ptr %word, i32 %old) nounwind {
entry:
  br label %spin
spin:
  %count = phi i32 [ 0, %entry ], [ %following, %again ]
  %seen = load atomic i32, ptr %word acquire, align 4
  %is.new = icmp ne i32 %seen, %old
  br i1 %is.new, label %end, label %pause
pause:
  $pause
  %following = add i32 %count, 1
  %phase = and i32 %following, 63
  %is.long = icmp eq i32 %phase, 0
  br i1 %is.long, label %yield, label %again
yield:
  %yielded = call i32 @sched_yield()
  br label %again
again:
  %is.patient = icmp ult i32 %following, $spins
  br i1 %is.patient, label %spin, label %sleep
sleep:
  %sleepers = atomicrmw add ptr @tdl.pool.asleep, i32 1 seq_cst
  call void @tdl.pool.sleep(ptr %word, i32 %old)
  %woken = atomicrmw sub ptr @tdl.pool.asleep, i32 1 seq_cst
  %now = load atomic i32, ptr %word acquire, align 4
  br label %end
end:
  %value = phi i32 [ %seen, %spin ], [ %now, %sleep ]
  ret i32 %value
}
"""

# Begun with the generation it has seen and, above it, the thread's number; the limit of a region may leave it out.
_WORKER = """
define internal ptr @tdl.pool.worker(ptr %begin) nounwind {
entry:
  %begun = ptrtoint ptr %begin to i64
  %seen = trunc i64 %begun to i32
  %number = lshr i64 %begun, 32
  %thread = trunc i64 %number to i32
  br label %outside
outside:
  %before = phi i32 [ %seen, %entry ], [ %generation, %outside ], [ %generation, %left ]
  %generation = call i32 @tdl.pool.wait(ptr @tdl.pool.generation, i32 %before)
  %is.open = trunc i32 %generation to i1
  br i1 %is.open, label %enter, label %outside
enter:
  %others = atomicrmw add ptr @tdl.pool.active, i32 1 seq_cst
  %still = load atomic i32, ptr @tdl.pool.generation seq_cst, align 4
  %is.same = icmp eq i32 %still, %generation
  br i1 %is.same, label %inside, label %leave
inside:
  %limit = load i64, ptr getelementptr ({ ptr, ptr, i64, i64, i64 }, ptr @tdl.pool.region, i64 0, i32 4)
  %is.wanted = icmp slt i64 %number, %limit
  br i1 %is.wanted, label %work, label %leave
work:
  call void @tdl.pool.drain(i32 %thread)
  br label %leave
leave:
  %active = atomicrmw sub ptr @tdl.pool.active, i32 1 seq_cst
  %is.last = icmp eq i32 %active, 1
  br i1 %is.last, label %signal, label %left
signal:
  call void @tdl.pool.wake(ptr @tdl.pool.active)
  br label %left
left:
  br label %outside
}
"""

# `ready` begins anew in a new process; false while another thread does. `start` has as many workers as are asked for,
# or as the system allows; signals are for the threads that were there before.
_START = """
define internal i1 @tdl.pool.ready() nounwind {
entry:
  %ours = call i1 @tdl.pool.ours()
  br i1 %ours, label %yes, label %look
look:
  %process = call i32 @getpid()
  %known = load atomic i32, ptr @tdl.pool.process acquire, align 4
  %is.known = icmp eq i32 %known, %process
  br i1 %is.known, label %yes, label %claim
claim:
  %starting = sub i32 0, %process
  %is.starting = icmp eq i32 %known, %starting
  br i1 %is.starting, label %no, label %try
try:
  %claimed = cmpxchg ptr @tdl.pool.process, i32 %known, i32 %starting acquire monotonic
  %is.mine = extractvalue { i32, i1 } %claimed, 1
  br i1 %is.mine, label %begin, label %no
begin:
  store atomic i32 0, ptr @tdl.pool.generation monotonic, align 4
  store atomic i32 0, ptr @tdl.pool.active monotonic, align 4
  store atomic i32 0, ptr @tdl.pool.asleep monotonic, align 4
  store atomic i32 0, ptr @tdl.pool.busy monotonic, align 4
  store i64 0, ptr @tdl.pool.workers
  store i64 2147483647, ptr @tdl.pool.most
  call void @tdl.pool.begin()
  store atomic i32 %process, ptr @tdl.pool.process release, align 4
  br label %yes
yes:
  ret i1 true
no:
  ret i1 false
}

define internal void @tdl.pool.start(i64 %limit) noinline nounwind {
entry:
  %handle = alloca ptr
  %all = alloca [16 x i64]
  %former = alloca [16 x i64]
  %workers = load i64, ptr @tdl.pool.workers
  %most = load i64, ptr @tdl.pool.most
  %asked = sub i64 %limit, 1
  %wanted = call i64 @llvm.smin.i64(i64 %asked, i64 %most)
  %is.short = icmp slt i64 %workers, %wanted
  br i1 %is.short, label %begin, label %end
begin:
  %filled = call i32 @sigfillset(ptr %all)
  %blocked = call i32 @pthread_sigmask(i32 $set, ptr %all, ptr %former)
  %generation = load atomic i32, ptr @tdl.pool.generation monotonic, align 4
  %seen = zext i32 %generation to i64
  br label %create
create:
  %there = phi i64 [ %workers, %begin ], [ %number, %made ]
  %number = add i64 %there, 1
  %high = shl i64 %number, 32
  %both = or i64 %high, %seen
  %argument = inttoptr i64 %both to ptr
  %failed = call i32 @pthread_create(ptr %handle, ptr null, ptr @tdl.pool.worker, ptr %argument)
  %is.made = icmp eq i32 %failed, 0
  br i1 %is.made, label %made, label %refused
made:
  %thread = load ptr, ptr %handle
  %detached = call i32 @pthread_detach(ptr %thread)
  store i64 %number, ptr @tdl.pool.workers
  %more = icmp slt i64 %number, %wanted
  br i1 %more, label %create, label %restore
refused:
  store i64 %there, ptr @tdl.pool.most
  br label %restore
restore:
  %restored = call i32 @pthread_sigmask(i32 $set, ptr %former, ptr null)
  br label %end
end:
  ret void
}
"""
