"""The way into a kernel that costs least: a C function for Python, made by LLVM, that checks arguments against a table.

There is one such function in a process; each signature (exact dtypes and shapes) has a table of its own, which the
function finds through the object it is bound to. It is called with `out` and the inputs. Anything it does not expect,
it leaves to the checked path by returning NotImplemented; it never guesses.

Its arguments must be plain NumPy arrays, dense, aligned and native, with exactly the shapes of the table; given outputs
must also be writable and overlap nothing. Results are allocated by `numpy.empty` where none are given. Long kernels run
without the interpreter's lock. The layout of NumPy's array object that this rests on is verified by `layout.py`.

    table, in words of 8 bytes:
        0 kernel   1 inputs   2 outputs   3 ndarray   4 workspace bytes   5 release lock   6 NotImplemented   7 None
        8 failure  9 empty   10 tuple    11 ()       12... one record of 6 words for each input, then each output:
        dtype   rank   bytes   word at which its sizes start   shape (outputs)   1 if the result is a scalar
"""

from __future__ import annotations

from tdl.compiler.backends.llvm.block import Block

NAME = "tdl.fastcall"
HEAD, RECORD = 12, 6
(
    KERNEL, INPUTS, OUTPUTS, NDARRAY, WORKSPACE, UNLOCK, NOT_IMPLEMENTED, NONE, FAILURE, EMPTY, TUPLE, NO_INDEX,
) = range(HEAD)  # fmt: skip
DTYPE, RANK, BYTES, SIZES, SHAPE, SCALAR = range(RECORD)

# NumPy's array object: byte offsets, verified in layout.py.
TYPE_AT, DATA_AT, RANK_AT, SHAPE_AT, DTYPE_AT, FLAGS_AT = 8, 16, 24, 32, 56, 64
READABLE, WRITABLE = 0x0101, 0x0501  # C-contiguous and aligned; and writeable
_STACK_WORKSPACE = 8192

_DECLARATIONS = """
declare ptr @PyTuple_GetItem(ptr, i64)
declare i64 @PyTuple_Size(ptr)
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare ptr @PyBytes_AsString(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyObject_GetItem(ptr, ptr)
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyErr_NoMemory()
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare noalias ptr @malloc(i64)
declare void @free(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare ptr @llvm.ptrmask.p0.i64(ptr, i64)
"""


def fastcall_text() -> str:
    """The LLVM text of the function."""
    body = _Body()
    lines = "\n".join((*body.block.slots, *body.block.lines))
    return f"{_DECLARATIONS}\ndefine ptr @{NAME}(ptr %self, ptr %args, i64 %count) nounwind {{\nentry:\n{lines}\n}}\n"


class _Body:
    """Writes the function in the order in which it runs."""

    def __init__(self) -> None:
        self.block = block = Block()
        item = block.value("call ptr @PyTuple_GetItem(ptr %self, i64 0)")
        self.table = block.value(f"call ptr @PyBytes_AsString(ptr {item})")
        self.inputs, self.outputs = self.word(INPUTS), self.word(OUTPUTS)
        self.total = block.value(f"add i64 {self.inputs}, {self.outputs}")
        self.tensors = block.value(f"alloca {{ ptr, ptr }}, i64 {self.total}")
        self.objects = block.value(f"alloca ptr, i64 {self.outputs}")
        self.made, self.code = block.slot("i64", "made"), block.slot("i32", "code")
        self.pair = block.slot("[2 x ptr]", "pair")
        block.do(f"store i64 0, ptr {self.made}")
        expected = block.value(f"add i64 {self.inputs}, 1")
        self.require(block.value(f"icmp eq i64 %count, {expected}"))
        block.loop("0", self.inputs, self.take_input)
        self.out = block.value("load ptr, ptr %args")
        self.fresh = block.value(f"icmp eq ptr {self.out}, {self.pointer(NONE)}")
        self.take_outputs()
        self.run()
        self.results()
        self.exits()

    # ---- words of the table

    def at(self, base: str, index: str, size: int = 8) -> str:
        kind = {8: "ptr", 16: "{ ptr, ptr }"}[size]
        return self.block.value(f"getelementptr {kind}, ptr {base}, i64 {index}")

    def word(self, index: int) -> str:
        return self.block.value(f"load i64, ptr {self.at(self.table, str(index))}")

    def pointer(self, index: int) -> str:
        return self.block.value(f"load ptr, ptr {self.at(self.table, str(index))}")

    def record(self, tensor: str) -> str:
        offset = self.block.value(f"mul i64 {tensor}, {RECORD}")
        return self.at(self.table, self.block.value(f"add i64 {offset}, {HEAD}"))

    def field(self, record: str, index: int, kind: str = "i64") -> str:
        return self.block.value(f"load {kind}, ptr {self.at(record, str(index))}")

    def member(self, object_: str, offset: int, kind: str) -> str:
        place = self.block.value(f"getelementptr i8, ptr {object_}, i64 {offset}")
        return self.block.value(f"load {kind}, ptr {place}")

    def require(self, condition: str) -> None:
        """Leave the call to the checked path unless the condition holds."""
        passed = self.block.fresh("ok")
        self.block.branch(condition, passed, "miss")
        self.block.label(passed)

    # ---- arguments

    def take_input(self, index: str) -> None:
        place = self.at("%args", self.block.value(f"add i64 {index}, 1"))
        self.take(self.block.value(f"load ptr, ptr {place}"), index, READABLE)

    def take(self, object_: str, tensor: str, flags: int) -> None:
        """Check an array against its record, and note its data and sizes for the kernel."""
        block = self.block
        record = self.record(tensor)
        self.require(block.value(f"icmp eq ptr {self.member(object_, TYPE_AT, 'ptr')}, {self.pointer(NDARRAY)}"))
        rank = self.field(record, RANK)
        actual = block.value(f"zext i32 {self.member(object_, RANK_AT, 'i32')} to i64")
        self.require(block.value(f"icmp eq i64 {actual}, {rank}"))
        dtype = self.field(record, DTYPE, "ptr")
        self.require(block.value(f"icmp eq ptr {self.member(object_, DTYPE_AT, 'ptr')}, {dtype}"))
        masked = block.value(f"and i32 {self.member(object_, FLAGS_AT, 'i32')}, {flags}")
        self.require(block.value(f"icmp eq i32 {masked}, {flags}"))
        wanted = self.at(self.table, self.field(record, SIZES))
        sizes = self.member(object_, SHAPE_AT, "ptr")
        block.loop("0", rank, lambda axis: self.require(self.same(sizes, wanted, axis)))
        self.note(tensor, self.member(object_, DATA_AT, "ptr"), wanted)

    def same(self, sizes: str, wanted: str, axis: str) -> str:
        actual, expected = (self.block.value(f"load i64, ptr {self.at(each, axis)}") for each in (sizes, wanted))
        return self.block.value(f"icmp eq i64 {actual}, {expected}")

    def note(self, tensor: str, data: str, sizes: str) -> None:
        place = self.at(self.tensors, tensor, 16)
        self.block.do(f"store ptr {data}, ptr {place}")
        self.block.do(f"store ptr {sizes}, ptr {self.at(place, '1')}")

    # ---- results

    def take_outputs(self) -> None:
        """Objects for the results: new arrays where none are given."""
        block = self.block
        allocate, given, ready = block.fresh("allocate"), block.fresh("given"), block.fresh("ready")
        block.branch(self.fresh, allocate, given)
        block.label(allocate)
        block.loop("0", self.outputs, self.allocate)
        block.jump(ready)
        block.label(given)
        self.unpack()
        block.loop("0", self.outputs, self.take_given)
        block.jump(ready)
        block.label(ready)

    def allocate(self, index: str) -> None:
        block = self.block
        tensor = block.value(f"add i64 {index}, {self.inputs}")
        record = self.record(tensor)
        block.do(f"store ptr {self.field(record, SHAPE, 'ptr')}, ptr {self.pair}")
        block.do(f"store ptr {self.field(record, DTYPE, 'ptr')}, ptr {self.at(self.pair, '1')}")
        array = block.value(
            f"call ptr @PyObject_Vectorcall(ptr {self.pointer(EMPTY)}, ptr {self.pair}, i64 2, ptr null)"
        )
        made = block.fresh("made")
        block.branch(block.value(f"icmp eq ptr {array}, null"), "undo", made)
        block.label(made)
        block.do(f"store ptr {array}, ptr {self.at(self.objects, index)}")
        block.do(f"store i64 {block.value(f'add i64 {index}, 1')}, ptr {self.made}")
        sizes = self.at(self.table, self.field(record, SIZES))
        self.note(tensor, self.member(array, DATA_AT, "ptr"), sizes)

    def unpack(self) -> None:
        """The given array, or those of the given tuple."""
        block = self.block
        single, several, done = (block.fresh(name) for name in ("single", "several", "unpacked"))
        block.branch(block.value(f"icmp eq i64 {self.outputs}, 1"), single, several)
        block.label(single)
        block.do(f"store ptr {self.out}, ptr {self.objects}")
        block.jump(done)
        block.label(several)
        self.require(block.value(f"icmp eq ptr {self.member(self.out, TYPE_AT, 'ptr')}, {self.pointer(TUPLE)}"))
        size = block.value(f"call i64 @PyTuple_Size(ptr {self.out})")
        self.require(block.value(f"icmp eq i64 {size}, {self.outputs}"))
        block.loop("0", self.outputs, self.unpack_one)
        block.jump(done)
        block.label(done)

    def unpack_one(self, index: str) -> None:
        item = self.block.value(f"call ptr @PyTuple_GetItem(ptr {self.out}, i64 {index})")
        self.block.do(f"store ptr {item}, ptr {self.at(self.objects, index)}")

    def take_given(self, index: str) -> None:
        block = self.block
        tensor = block.value(f"add i64 {index}, {self.inputs}")
        self.take(block.value(f"load ptr, ptr {self.at(self.objects, index)}"), tensor, WRITABLE)
        block.loop("0", tensor, lambda other: self.require_apart(tensor, other))

    def require_apart(self, one: str, other: str) -> None:
        """Neither tensor starts inside the other; one of no bytes is inside nothing."""
        block = self.block
        starts = [block.value(f"load i64, ptr {self.at(self.tensors, each, 16)}") for each in (one, other)]
        sizes = [self.field(self.record(each), BYTES) for each in (one, other)]
        ends = [block.value(f"add i64 {start}, {size}") for start, size in zip(starts, sizes)]
        before = block.value(f"icmp ule i64 {ends[0]}, {starts[1]}")
        after = block.value(f"icmp ule i64 {ends[1]}, {starts[0]}")
        apart = block.value(f"or i1 {before}, {after}")
        empty = [block.value(f"icmp eq i64 {size}, 0") for size in sizes]
        either = block.value(f"or i1 {empty[0]}, {empty[1]}")
        self.require(block.value(f"or i1 {apart}, {either}"))

    # ---- the call

    def run(self) -> None:
        block = self.block
        context, error = block.slot("[5 x ptr]", "context"), block.slot("[5 x i64]", "error")
        small = block.slot(f"[{_STACK_WORKSPACE} x i8], align 64", "workspace")
        block.do(f"store i64 0, ptr {error}")
        block.do(f"call void @llvm.memset.p0.i64(ptr {context}, i8 0, i64 40, i1 false)")
        block.do(f"store ptr {error}, ptr {self.at(context, '3')}")
        size = self.word(WORKSPACE)
        large = block.value(f"icmp ugt i64 {size}, {_STACK_WORKSPACE}")
        heap = block.choose(large, "ptr", lambda: self.heap(size), lambda: "null")
        aligned = block.value(f"getelementptr i8, ptr {heap}, i64 63")
        masked = block.value(f"call ptr @llvm.ptrmask.p0.i64(ptr {aligned}, i64 -64)")
        block.do(f"store ptr {block.value(f'select i1 {large}, ptr {masked}, ptr {small}')}, ptr {context}")
        self.call_kernel(context)
        block.do(f"call void @free(ptr {heap})")
        failed, fine = block.fresh("failed"), block.fresh("fine")
        block.branch(block.value(f"icmp eq i32 {block.value(f'load i32, ptr {self.code}')}, 0"), fine, failed)
        block.label(failed)
        self.fail(error)
        block.jump("undo")
        block.label(fine)

    def heap(self, size: str) -> str:
        block = self.block
        memory = block.value(f"call ptr @malloc(i64 {block.value(f'add i64 {size}, 64')})")
        none, some = block.fresh("none"), block.fresh("some")
        block.branch(block.value(f"icmp eq ptr {memory}, null"), none, some)
        block.label(none)
        block.value("call ptr @PyErr_NoMemory()")
        block.jump("undo")
        block.label(some)
        return memory

    def call_kernel(self, context: str) -> None:
        block = self.block
        unlock = block.value(f"icmp ne i64 {self.word(UNLOCK)}, 0")
        state = block.choose(unlock, "ptr", lambda: block.value("call ptr @PyEval_SaveThread()"), lambda: "null")
        results = self.at(self.tensors, self.inputs, 16)
        args = f"ptr {context}, ptr {self.tensors}, ptr {results}"
        block.do(f"store i32 {block.value(f'call i32 {self.pointer(KERNEL)}({args})')}, ptr {self.code}")
        block.when(unlock, lambda: block.do(f"call void @PyEval_RestoreThread(ptr {state})"))

    def fail(self, error: str) -> None:
        """Have the failure raised: its code, site and details as integers."""
        block = self.block
        numbers = block.slot("[5 x ptr]", "numbers")
        code = block.value(f"load i32, ptr {self.code}")
        values = [block.value(f"sext i32 {code} to i64")]
        values += [block.value(f"load i64, ptr {self.at(error, str(word))}") for word in range(1, 5)]
        for position, value in enumerate(values):
            number = block.value(f"call ptr @PyLong_FromLongLong(i64 {value})")
            block.do(f"store ptr {number}, ptr {self.at(numbers, str(position))}")
        block.value(f"call ptr @PyObject_Vectorcall(ptr {self.pointer(FAILURE)}, ptr {numbers}, i64 5, ptr null)")
        for position in range(5):
            self.release(block.value(f"load ptr, ptr {self.at(numbers, str(position))}"))

    # ---- ways out

    def results(self) -> None:
        """Give back what was given; else the new array, or a tuple of them, those of rank 0 as NumPy scalars."""
        block = self.block
        given, new, single, several = (block.fresh(name) for name in ("given", "new", "single", "several"))
        block.branch(self.fresh, new, given)
        block.label(given)
        block.do(f"call void @Py_IncRef(ptr {self.out})")
        block.do(f"ret ptr {self.out}")
        block.label(new)
        block.branch(block.value(f"icmp eq i64 {self.outputs}, 1"), single, several)
        block.label(single)
        block.do(f"ret ptr {self.result('0')}")
        block.label(several)
        tuple_ = block.value(f"call ptr @PyTuple_New(i64 {self.outputs})")
        room = block.fresh("room")
        block.branch(block.value(f"icmp eq ptr {tuple_}, null"), "undo", room)
        block.label(room)
        block.loop("0", self.outputs, lambda index: self.set_item(tuple_, index))
        block.do(f"ret ptr {tuple_}")

    def set_item(self, tuple_: str, index: str) -> None:
        self.block.value(f"call i32 @PyTuple_SetItem(ptr {tuple_}, i64 {index}, ptr {self.result(index)})")

    def result(self, index: str) -> str:
        block = self.block
        array = block.value(f"load ptr, ptr {self.at(self.objects, index)}")
        record = self.record(block.value(f"add i64 {index}, {self.inputs}"))
        scalar = block.value(f"icmp ne i64 {self.field(record, SCALAR)}, 0")
        return block.choose(scalar, "ptr", lambda: self.scalar(array), lambda: array)

    def scalar(self, array: str) -> str:
        value = self.block.value(f"call ptr @PyObject_GetItem(ptr {array}, ptr {self.pointer(NO_INDEX)})")
        self.release(array)
        return value

    def release(self, object_: str) -> None:
        self.block.do(f"call void @Py_DecRef(ptr {object_})")

    def exits(self) -> None:
        block = self.block
        block.label("miss")
        other = self.pointer(NOT_IMPLEMENTED)
        block.do(f"call void @Py_IncRef(ptr {other})")
        block.do(f"ret ptr {other}")
        block.label("undo")
        made = block.value(f"load i64, ptr {self.made}")
        block.loop("0", made, lambda i: self.release(block.value(f"load ptr, ptr {self.at(self.objects, i)}")))
        block.do("ret ptr null")
