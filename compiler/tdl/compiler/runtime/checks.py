"""The first half of the fast call: reading the table, checking arguments against it, and arrays for the results."""

from __future__ import annotations

from tdl.compiler.backends.llvm.block import Block
from tdl.compiler.runtime.table import (
    BYTES,
    DATA_AT,
    DTYPE,
    DTYPE_AT,
    EMPTY,
    FLAGS_AT,
    HEAD,
    INPUTS,
    NDARRAY,
    NONE,
    OUTPUTS,
    RANK,
    RANK_AT,
    READABLE,
    RECORD,
    SHAPE,
    SHAPE_AT,
    SIZES,
    TEAM,
    TEAM_AT,
    TOLD,
    TUPLE,
    TYPE_AT,
    WRITABLE,
)


class ArgumentChecks:
    """Writes the checks. Where one does not hold, the code goes to the label `miss`; where memory ends, to `undo`.

    Afterwards `tensors` holds data and sizes of every input and output, and `objects` the outputs' arrays, of which
    `made` were allocated here.
    """

    def __init__(self) -> None:
        self.block = block = Block()
        item = block.value("call ptr @PyTuple_GetItem(ptr %self, i64 0)")
        self.table = block.value(f"call ptr @PyBytes_AsString(ptr {item})")
        self.inputs, self.outputs = self.word(INPUTS), self.word(OUTPUTS)
        total = block.value(f"add i64 {self.inputs}, {self.outputs}")
        self.tensors = block.value(f"alloca {{ ptr, ptr }}, i64 {total}")
        self.objects = block.value(f"alloca ptr, i64 {self.outputs}")
        self.made, self.pair = block.slot("i64", "made"), block.slot("[2 x ptr]", "pair")
        block.do(f"store i64 0, ptr {self.made}")

    def check(self) -> None:
        """Whether the table is for the threads there are now; how many arguments there are, then each of them."""
        block = self.block
        number = block.value(f"load atomic i64, ptr {self.pointer(TEAM_AT)} monotonic, align 8")
        self.require(block.value(f"icmp eq i64 {number}, {self.word(TEAM)}"))
        expected = block.value(f"add i64 {self.inputs}, 1")
        self.require(block.value(f"icmp eq i64 %count, {expected}"))
        block.loop("0", self.inputs, self.take_input)
        self.out = block.value("load ptr, ptr %args")
        self.fresh = block.value(f"icmp eq ptr {self.out}, {self.pointer(NONE)}")
        self.take_outputs()

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
        self.note(tensor, self.member(object_, DATA_AT, "ptr"), self.at(self.table, self.field(record, TOLD)))

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
            f"call ptr @PyObject_VectorcallDict(ptr {self.pointer(EMPTY)}, ptr {self.pair}, i64 2, ptr null)"
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
