"""How the thread pool's threads sleep and wake, and how it notices a fork: what differs between systems.

    void tdl.pool.sleep(int32_t *word, int32_t old);    returns once the word is not `old` any more
    void tdl.pool.wake(int32_t *word);                  wakes who sleeps on it, if `tdl.pool.asleep` says that any does
    bool tdl.pool.ours(void);                           whether this process began the pool; false if that is not sure
    void tdl.pool.begin(void);                          makes ready for all that, in a process that begins the pool

Linux sleeps on futexes, other systems on one condition variable.
"""

from __future__ import annotations

_FUTEX = {"x86_64": 202, "aarch64": 98, "riscv64": 98}  # system call numbers of Linux


def sleep_text(architecture: str, system: str) -> str:
    """The functions for a target."""
    number = _FUTEX.get(architecture) if "linux" in system else None
    return _CONDITION if number is None else _FUTEX_TEXT.replace("$futex", str(number))


# Linux 4.14 and later can be told to wipe a page in children: asking a word of it costs no system call.
_FUTEX_TEXT = """
declare i64 @syscall(i64, ...)

define internal void @tdl.pool.sleep(ptr %word, i32 %old) nounwind {
entry:
  br label %look
look:
  %seen = load atomic i32, ptr %word seq_cst, align 4
  %is.old = icmp eq i32 %seen, %old
  br i1 %is.old, label %sleep, label %end
sleep:
  %result = call i64 (i64, ...) @syscall(i64 $futex, ptr %word, i32 128, i32 %old, ptr null, ptr null, i32 0)
  br label %look
end:
  ret void
}

define internal void @tdl.pool.wake(ptr %word) nounwind {
entry:
  %sleepers = load atomic i32, ptr @tdl.pool.asleep seq_cst, align 4
  %is.any = icmp ne i32 %sleepers, 0
  br i1 %is.any, label %wake, label %end
wake:
  %result = call i64 (i64, ...) @syscall(i64 $futex, ptr %word, i32 129, i32 2147483647, ptr null, ptr null, i32 0)
  br label %end
end:
  ret void
}

declare ptr @mmap(ptr, i64, i32, i32, i32, i64)
declare i32 @madvise(ptr, i64, i32)

define internal i1 @tdl.pool.ours() nounwind {
entry:
  %mark = load atomic ptr, ptr @tdl.pool.mark acquire, align 8
  %is.none = icmp eq ptr %mark, null
  br i1 %is.none, label %no, label %look
look:
  %value = load atomic i32, ptr %mark acquire, align 4
  %is.ours = icmp ne i32 %value, 0
  ret i1 %is.ours
no:
  ret i1 false
}

define internal void @tdl.pool.begin() nounwind {
entry:
  %mark = load atomic ptr, ptr @tdl.pool.mark monotonic, align 8
  %is.none = icmp eq ptr %mark, null
  br i1 %is.none, label %map, label %set
map:
  %page = call ptr @mmap(ptr null, i64 4096, i32 3, i32 34, i32 -1, i64 0)
  %address = ptrtoint ptr %page to i64
  %is.page = icmp ne i64 %address, -1
  br i1 %is.page, label %advise, label %end
advise:
  %refused = call i32 @madvise(ptr %page, i64 4096, i32 18)
  %is.wiped = icmp eq i32 %refused, 0
  br i1 %is.wiped, label %keep, label %end
keep:
  store atomic ptr %page, ptr @tdl.pool.mark release, align 8
  br label %set
set:
  %word = phi ptr [ %mark, %entry ], [ %page, %keep ]
  store atomic i32 1, ptr %word release, align 4
  br label %end
end:
  ret void
}
"""

_CONDITION = """
@tdl.pool.mutex = internal global [16 x i64] zeroinitializer, align 128
@tdl.pool.condition = internal global [16 x i64] zeroinitializer, align 128
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_broadcast(ptr)

define internal void @tdl.pool.sleep(ptr %word, i32 %old) nounwind {
entry:
  %locked = call i32 @pthread_mutex_lock(ptr @tdl.pool.mutex)
  br label %look
look:
  %seen = load atomic i32, ptr %word seq_cst, align 4
  %is.old = icmp eq i32 %seen, %old
  br i1 %is.old, label %sleep, label %end
sleep:
  %result = call i32 @pthread_cond_wait(ptr @tdl.pool.condition, ptr @tdl.pool.mutex)
  br label %look
end:
  %unlocked = call i32 @pthread_mutex_unlock(ptr @tdl.pool.mutex)
  ret void
}

define internal void @tdl.pool.wake(ptr %word) nounwind {
entry:
  %sleepers = load atomic i32, ptr @tdl.pool.asleep seq_cst, align 4
  %is.any = icmp ne i32 %sleepers, 0
  br i1 %is.any, label %wake, label %end
wake:
  %locked = call i32 @pthread_mutex_lock(ptr @tdl.pool.mutex)
  %result = call i32 @pthread_cond_broadcast(ptr @tdl.pool.condition)
  %unlocked = call i32 @pthread_mutex_unlock(ptr @tdl.pool.mutex)
  br label %end
end:
  ret void
}

define internal i1 @tdl.pool.ours() nounwind {
  ret i1 false
}

define internal void @tdl.pool.begin() nounwind {
  %mutex = call i32 @pthread_mutex_init(ptr @tdl.pool.mutex, ptr null)
  %condition = call i32 @pthread_cond_init(ptr @tdl.pool.condition, ptr null)
  ret void
}
"""
