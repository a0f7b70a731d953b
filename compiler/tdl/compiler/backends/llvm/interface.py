"""The C interface of a library as LLVM text, around kernels that other modules define.

    struct run { void *workspace; void *parallel_for; void *state; int64_t threads; struct error error; };

A kernel is called with a context, and tables of tensors, each a word for its data and one for its shape. Which kernel
serves is asked in the order of a function's variants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from string import Template
from typing import Protocol

from tdl.compiler.backends.llvm.block import Block
from tdl.compiler.backends.llvm.context import Context, Site
from tdl.compiler.backends.llvm.expression import lower_expr
from tdl.compiler.backends.llvm.integers import form_value
from tdl.compiler.backends.llvm.kernel import KernelText
from tdl.compiler.backends.llvm.pool import NAME as PARALLEL_FOR
from tdl.compiler.backends.llvm.pool import has_threads
from tdl.compiler.backends.llvm.scalars import concrete
from tdl.compiler.backends.llvm.sizes import open_dims
from tdl.compiler.backends.llvm.support import support_for
from tdl.compiler.backends.llvm.values import TRUE, Value, integer, intrinsic, operate, test
from tdl.compiler.library.interface import MEANINGS, Code, Names
from tdl.compiler.library.plan import Function, Library, Variant, site_text
from tdl.language.forms import Form
from tdl.language.source import NOWHERE
from tdl.language.tree import Tensor

RUN = "{ ptr, ptr, ptr, i64, { i32, i64, [3 x i64] } }"
THREADS, ERROR = 3, 4
_MOST_THREADS = 1024
_PROCESSORS = {"linux": 84, "darwin": 58, "macos": 58}  # numbers of sysconf


class Served(Protocol):
    """A variant's kernel at each level."""

    @property
    def levels(self) -> tuple[KernelText, ...]: ...


def interface_text(
    library: Library, names: Names, kernels: Mapping[str, Sequence[Served]], triple: str, *, is_leveled: bool
) -> str:
    """The text of everything that can be called from outside."""
    places: list[str] = []
    parts = [_DECLARED[_is_wide(triple)], _settings(names, triple)]
    if has_threads(triple):
        parts.append(f"declare void @{PARALLEL_FOR}(ptr, ptr, ptr, i64)")
    exported: dict[str, None] = {}
    for function in library.functions:
        writer = _Writer(function, names, kernels[function.name], triple, places, is_leveled=is_leveled)
        parts += writer.texts()
        for served in kernels[function.name]:
            for level in served.levels:
                exported[f"declare i32 @{level.name}(ptr, ptr, ptr)"] = None
                exported[f"declare i64 @{level.workspace}(ptr, i64)"] = None
    parts += [*exported, *_words(names, places)]
    text = "\n".join(parts)
    return f"{support_for(text, machine_f16=False)}{text}"


def _is_wide(triple: str) -> bool:
    return "64" in triple.partition("-")[0]


_DECLARED = {
    True: "declare ptr @malloc(i64)\ndeclare void @free(ptr)",
    False: "declare ptr @malloc(i32)\ndeclare void @free(ptr)",
}


class _Writer:
    """Writes the functions for one function of a library. Failures' places are added to `places`."""

    def __init__(
        self,
        function: Function,
        names: Names,
        kernels: Sequence[Served],
        triple: str,
        places: list[str],
        *,
        is_leveled: bool,
    ) -> None:
        self.function, self.names, self.kernels, self.triple = function, names, kernels, triple
        self.program, self.name, self.is_leveled = function.program, names.function(function), is_leveled
        self.dims = open_dims(self.program)
        self.tensors = (*self.program.inputs, *self.program.outputs)
        self.bases = []
        for served in kernels:
            self.bases.append(len(places))
            places += [site_text(function.op, site) for site in served.levels[0].sites]

    def texts(self) -> Iterator[str]:
        yield self.takes()
        yield self.choice()
        yield self.workspace()
        yield self.run()
        yield self.call()

    # ---- pieces

    @property
    def sizes(self) -> list[str]:
        return [f"i64 %size.{number}" for number in range(len(self.dims))]

    @property
    def buffers(self) -> list[str]:
        return [f"ptr %buffer.{number}" for number in range(len(self.tensors))]

    def context(self, failure: str) -> Context:
        symbols = {dim: Value(f"%size.{number}", "i64") for number, dim in enumerate(self.dims)}
        return Context(Block(), {}, symbols, self.program.parameters, on_failure=failure)

    def form(self, context: Context, form: Form) -> Value:
        return form_value(context, form, lower_expr, Site(NOWHERE))

    def defined(self, linkage: str, kind: str, name: str, declared: Sequence[str], block: Block) -> str:
        head = f"define {linkage}{kind} @{name}({', '.join(declared)}) nounwind {{"
        return "\n".join((head, "entry:", *block.slots, *block.lines, "}\n"))

    def unless(self, block: Block, condition: str, result: str) -> None:
        """Go on where a condition holds; else give a result."""
        fine, wrong = block.fresh("fine"), block.fresh("wrong")
        block.branch(condition, fine, wrong)
        block.label(wrong)
        block.do(f"ret {result}")
        block.label(fine)

    def code(self, code: Code) -> str:
        return f"i32 {int(code)}"

    # ---- sizes

    def takes(self) -> str:
        """Whether the op takes sizes: its facts, and tensors that memory could hold."""
        context = self.context("ret i1 false")
        for fact in self.program.facts:
            self.unless(context.block, lower_expr(context, fact).text, "i1 false")
        overflow = Value("false", "i1")
        for name in self.tensors:
            _, over = self.bytes(context, self.program.tensors[name])
            overflow = operate(context.block, "or", overflow, over)
        context.block.do(f"ret i1 {operate(context.block, 'xor', overflow, TRUE).text}")
        return self.defined("internal ", "i1", f"{self.name}.takes", self.sizes, context.block)

    def bytes(self, context: Context, tensor: Tensor) -> tuple[Value, Value]:
        """The bytes of a tensor, and whether they are too many; of an empty one, 0."""
        block = context.block
        total, overflow = integer(concrete(tensor.dtype).bytes), Value("false", "i1")
        empty = Value("false", "i1")
        for form in tensor.shape:
            size = intrinsic(block, "smax", self.form(context, form), integer(0))
            empty = operate(block, "or", empty, test(block, "icmp eq", size, integer(0)))
            pair = block.value(f"call {{ i64, i1 }} @llvm.smul.with.overflow.i64({total.typed}, {size.typed})")
            total = Value(block.value(f"extractvalue {{ i64, i1 }} {pair}, 0"), "i64")
            bit = Value(block.value(f"extractvalue {{ i64, i1 }} {pair}, 1"), "i1")
            overflow = operate(block, "or", overflow, bit)
        some = operate(block, "xor", empty, TRUE)
        total = Value(block.value(f"select {empty.typed}, i64 0, {total.typed}"), "i64")
        return total, operate(block, "and", overflow, some)

    def choice(self) -> str:
        """The number of the kernel that serves; -1 for none."""
        context = self.context("ret i32 -1")
        block, is_open = context.block, True
        for number, variant in enumerate(self.function.variants):
            condition = self.condition(context, variant)
            if condition is None:
                block.do(f"ret i32 {number}")
                is_open = False
                break
            yes, no = block.fresh("yes"), block.fresh("no")
            block.branch(condition.text, yes, no)
            block.label(yes)
            block.do(f"ret i32 {number}")
            block.label(no)
        if is_open:
            block.do("ret i32 -1")
        return self.defined("internal ", "i32", f"{self.name}.choice", self.sizes, block)

    def condition(self, context: Context, variant: Variant) -> Value | None:
        if variant.sizes is not None:
            whole = TRUE
            for dim in self.dims:
                same = test(context.block, "icmp eq", context.symbols[dim], integer(variant.sizes[dim]))
                whole = operate(context.block, "and", whole, same)
            return whole
        return None if variant.condition is None else lower_expr(context, variant.condition)

    # ---- kernels

    def switch(self, block: Block, each: Callable[[int, KernelText], None], end: str) -> None:
        """Code for the kernel that serves, at the level that there is; all of it goes on at `end`."""
        chosen = block.value(f"call i32 @{self.name}.choice({', '.join(self.sizes)})")
        labels = [block.fresh("variant") for _ in self.kernels]
        cases = " ".join(f"i32 {number}, label %{label}" for number, label in enumerate(labels))
        block.do(f"switch i32 {chosen}, label %{end} [ {cases} ]")
        for number, (label, served) in enumerate(zip(labels, self.kernels)):
            block.label(label)
            self.leveled(block, number, served, each, end)

    def leveled(
        self, block: Block, number: int, served: Served, each: Callable[[int, KernelText], None], end: str
    ) -> None:
        if not self.is_leveled:
            each(number, served.levels[0])
            block.jump(end)
            return
        level = block.value("call i32 @tdl.level()")
        labels = [block.fresh("level") for _ in served.levels]
        cases = " ".join(f"i32 {place}, label %{label}" for place, label in enumerate(labels))
        block.do(f"switch i32 {level}, label %{labels[0]} [ {cases} ]")
        for label, kernel in zip(labels, served.levels):
            block.label(label)
            each(number, kernel)
            block.jump(end)

    def workspace(self) -> str:
        context = self.context("ret i64 -1")
        block = context.block
        some = test(block, "icmp sge", Value("%threads", "i32"), integer(1, "i32"))
        taken = block.value(f"call i1 @{self.name}.takes({', '.join(self.sizes)})")
        self.unless(block, operate(block, "and", some, Value(taken, "i1")).text, "i64 -1")
        count = block.value("sext i32 %threads to i64")
        result, end = block.slot("i64", "bytes"), block.fresh("end")
        block.do(f"store i64 -1, ptr {result}")
        table = block.slot(f"[{max(1, len(self.program.dims))} x i64]", "sizes")
        for position, dim in enumerate(self.program.dims):
            if dim in context.symbols:
                place = block.value(f"getelementptr i64, ptr {table}, i32 {position}")
                block.do(f"store {context.symbols[dim].typed}, ptr {place}")

        def ask(_: int, kernel: KernelText) -> None:
            bytes_ = block.value(f"call i64 @{kernel.workspace}(ptr {table}, i64 {count})")
            block.do(f"store i64 {bytes_}, ptr {result}")

        self.switch(block, ask, end)
        block.label(end)
        block.do(f"ret i64 {block.value(f'load i64, ptr {result}')}")
        return self.defined("", "i64", f"{self.name}_workspace", [*self.sizes, "i32 %threads"], block)

    def run(self) -> str:
        context = self.context(f"ret {self.code(Code.BAD_SIZES)}")
        block = context.block
        error = block.value(f"getelementptr {RUN}, ptr %run, i32 0, i32 {ERROR}")

        def refused_unless(condition: str, code: Code) -> None:
            fine, wrong = block.fresh("fine"), block.fresh("wrong")
            block.branch(condition, fine, wrong)
            block.label(wrong)
            block.do(f"store {self.code(code)}, ptr {error}")
            block.do(f"ret {self.code(code)}")
            block.label(fine)

        refused_unless(block.value(f"call i1 @{self.name}.takes({', '.join(self.sizes)})"), Code.BAD_SIZES)
        for number, name in enumerate(self.tensors):
            refused_unless(self.is_good(context, number, self.program.tensors[name]).text, Code.BAD_BUFFER)
        block.do(f"store i32 0, ptr {error}")
        ctx = self.filled(context, error)
        tables = [self.table(context, self.program.inputs, 0)]
        tables.append(self.table(context, self.program.outputs, len(self.program.inputs)))
        result, end = block.slot("i32", "code"), block.fresh("end")
        block.do(f"store {self.code(Code.BAD_SIZES)}, ptr {result}")

        def start(number: int, kernel: KernelText) -> None:
            code = block.value(f"call i32 @{kernel.name}(ptr {ctx}, ptr {tables[0]}, ptr {tables[1]})")
            block.do(f"store i32 {code}, ptr {result}")
            if self.bases[number]:
                place = block.value(f"getelementptr {RUN}, ptr %run, i32 0, i32 {ERROR}, i32 1")
                moved = block.value(f"add i64 {block.value(f'load i64, ptr {place}')}, {self.bases[number]}")
                block.do(f"store i64 {moved}, ptr {place}")

        self.switch(block, start, end)
        block.label(end)
        code = block.value(f"load i32, ptr {result}")
        block.do(f"store i32 {code}, ptr {error}")
        block.do(f"ret i32 {code}")
        return self.defined("", "i32", f"{self.name}_run", ["ptr %run", *self.sizes, *self.buffers], block)

    def is_good(self, context: Context, number: int, tensor: Tensor) -> Value:
        """Whether a buffer is there, and aligned to its elements; one of no bytes need not be."""
        block, word = context.block, "i64" if _is_wide(self.triple) else "i32"
        total, _ = self.bytes(context, tensor)
        address = Value(block.value(f"ptrtoint ptr %buffer.{number} to {word}"), word)
        rest = operate(block, "and", address, integer(concrete(tensor.dtype).bytes - 1, word))
        is_there = test(block, "icmp ne", address, integer(0, word))
        is_aligned = test(block, "icmp eq", rest, integer(0, word))
        is_empty = test(block, "icmp eq", total, integer(0))
        return operate(block, "or", is_empty, operate(block, "and", is_there, is_aligned))

    def filled(self, context: Context, error: str) -> str:
        """The context of a kernel, whose words are eight bytes whatever a pointer is."""
        block = context.block
        ctx = block.slot("[5 x i64], align 8", "ctx")
        for place in range(3):
            field = block.value(f"getelementptr {RUN}, ptr %run, i32 0, i32 {place}")
            value = block.value(f"load ptr, ptr {field}")
            block.do(f"store ptr {value}, ptr {block.value(f'getelementptr i64, ptr {ctx}, i32 {place}')}")
        block.do(f"store ptr {error}, ptr {block.value(f'getelementptr i64, ptr {ctx}, i32 3')}")
        block.do(f"store ptr null, ptr {block.value(f'getelementptr i64, ptr {ctx}, i32 4')}")
        return ctx

    def table(self, context: Context, names: Sequence[str], first: int) -> str:
        """The table of some tensors."""
        block = context.block
        table = block.slot(f"[{max(1, 2 * len(names))} x i64], align 8", "tensors")
        for position, name in enumerate(names):
            tensor = self.program.tensors[name]
            shape = block.slot(f"[{max(1, len(tensor.shape))} x i64], align 8", "shape")
            for axis, form in enumerate(tensor.shape):
                place = block.value(f"getelementptr i64, ptr {shape}, i32 {axis}")
                block.do(f"store {self.form(context, form).typed}, ptr {place}")
            for word, value in ((2 * position, f"%buffer.{first + position}"), (2 * position + 1, shape)):
                block.do(f"store ptr {value}, ptr {block.value(f'getelementptr i64, ptr {table}, i32 {word}')}")
        return table

    def call(self) -> str:
        """Memory and threads of the library's, then the same."""
        block = self.context("").block
        word = "i64" if _is_wide(self.triple) else "i32"
        run = block.slot(f"{RUN}, align 8", "run")
        short = block.value(f"call i32 @{self.names.prefix}_use_threads(ptr {run})")
        sizes = "".join(f"{size}, " for size in self.sizes)
        bytes_ = block.value(f"call i64 @{self.name}_workspace({sizes}i32 {short})")
        is_fine, fine, wrong = block.value(f"icmp sge i64 {bytes_}, 0"), block.fresh("fine"), block.fresh("wrong")
        block.branch(is_fine, fine, wrong)
        block.label(wrong)
        taken = block.value(f"call i1 @{self.name}.takes({', '.join(self.sizes)})")
        chosen = block.value(f"call i32 @{self.name}.choice({', '.join(self.sizes)})")
        served = block.value(f"icmp sge i32 {chosen}, 0")
        both = block.value(f"and i1 {taken}, {served}")
        code = block.value(f"select i1 {both}, {self.code(Code.NO_MEMORY)}, {self.code(Code.BAD_SIZES)}")
        block.do(f"ret i32 {code}")
        block.label(fine)
        memory = self.allocated(block, bytes_, word)
        aligned = block.value(f"call ptr @llvm.ptrmask.p0.{word}(ptr {self.moved(block, memory, word)}, {word} -64)")
        block.do(f"store ptr {aligned}, ptr {run}")
        given = ", ".join([f"ptr {run}", *self.sizes, *self.buffers])
        done = block.value(f"call i32 @{self.name}_run({given})")
        block.do(f"call void @free(ptr {memory})")
        block.do(f"ret i32 {done}")
        return self.defined("", "i32", self.name, [*self.sizes, *self.buffers], block)

    def allocated(self, block: Block, bytes_: str, word: str) -> str:
        """Memory with room to align it; null where none is needed."""
        slot, ask, end = block.slot("ptr", "memory"), block.fresh("ask"), block.fresh("asked")
        block.do(f"store ptr null, ptr {slot}")
        block.branch(block.value(f"icmp eq i64 {bytes_}, 0"), end, ask)
        block.label(ask)
        whole = block.value(f"add i64 {bytes_}, 64")
        greatest = (1 << 62) if word == "i64" else (1 << 31)
        self.unless(block, block.value(f"icmp ult i64 {whole}, {greatest}"), self.code(Code.NO_MEMORY))
        asked = whole if word == "i64" else block.value(f"trunc i64 {whole} to i32")
        memory = block.value(f"call ptr @malloc({word} {asked})")
        self.unless(block, block.value(f"icmp ne ptr {memory}, null"), self.code(Code.NO_MEMORY))
        block.do(f"store ptr {memory}, ptr {slot}")
        block.jump(end)
        block.label(end)
        return block.value(f"load ptr, ptr {slot}")

    def moved(self, block: Block, memory: str, word: str) -> str:
        return block.value(f"getelementptr i8, ptr {memory}, {word} 63")


# ---- what a library has once


def _settings(names: Names, triple: str) -> str:
    """How many threads calls run on: what was set, or TDL_NUM_THREADS, or the processors."""
    is_parallel = has_threads(triple)
    runner = f"@{PARALLEL_FOR}" if is_parallel else "null"
    use = Template(_USE).substitute(prefix=names.prefix, run=RUN, threads=THREADS, runner=runner)
    if not is_parallel:
        return f"define internal i64 @tdl.team() nounwind {{\n  ret i64 1\n}}\n{use}"
    number = next((number for system, number in _PROCESSORS.items() if system in triple), 84)
    values = {"prefix": names.prefix, "number": number, "most": _MOST_THREADS}
    return Template(_THREADS).substitute(values) + use


_USE = """
define i32 @${prefix}_use_threads(ptr %run) nounwind {
entry:
  %count = call i64 @tdl.team()
  %runner.at = getelementptr $run, ptr %run, i32 0, i32 1
  store ptr $runner, ptr %runner.at
  %state.at = getelementptr $run, ptr %run, i32 0, i32 2
  %threads.at = getelementptr $run, ptr %run, i32 0, i32 $threads
  store ptr %threads.at, ptr %state.at
  store i64 %count, ptr %threads.at
  %short = trunc i64 %count to i32
  ret i32 %short
}
"""


_THREADS = """
@tdl.threads = internal global i64 0
@tdl.threads.name = internal constant [16 x i8] c"TDL_NUM_THREADS\\00"
declare ptr @getenv(ptr)
declare i64 @strtol(ptr, ptr, i32)
declare i64 @sysconf(i32)

define void @${prefix}_set_threads(i32 %threads) nounwind {
entry:
  %wide = sext i32 %threads to i64
  %least = call i64 @llvm.smax.i64(i64 %wide, i64 1)
  %count = call i64 @llvm.smin.i64(i64 %least, i64 $most)
  store atomic i64 %count, ptr @tdl.threads monotonic, align 8
  ret void
}

define internal i64 @tdl.team() nounwind {
entry:
  %known = load atomic i64, ptr @tdl.threads monotonic, align 8
  %is.known = icmp sgt i64 %known, 0
  br i1 %is.known, label %give, label %ask
give:
  ret i64 %known
ask:
  %text = call ptr @getenv(ptr @tdl.threads.name)
  %is.none = icmp eq ptr %text, null
  br i1 %is.none, label %count, label %read
read:
  %said = call i64 @strtol(ptr %text, ptr null, i32 10)
  %is.number = icmp sgt i64 %said, 0
  br i1 %is.number, label %keep, label %count
count:
  %processors = call i64 @sysconf(i32 $number)
  br label %keep
keep:
  %found = phi i64 [ %said, %read ], [ %processors, %count ]
  %least = call i64 @llvm.smax.i64(i64 %found, i64 1)
  %threads = call i64 @llvm.smin.i64(i64 %least, i64 $most)
  %swapped = cmpxchg ptr @tdl.threads, i64 0, i64 %threads monotonic monotonic
  ret i64 %threads
}
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
"""


def _words(names: Names, places: Sequence[str]) -> Iterator[str]:
    """The functions that put a failure into words."""
    texts = [*MEANINGS.values(), "there is no such code"]
    yield from (_string(f"tdl.meaning.{number}", text) for number, text in enumerate(texts))
    yield from (_string(f"tdl.place.{number}", text) for number, text in enumerate(("", *places)))
    cases = " ".join(f"i32 {int(code)}, label %c{number}" for number, code in enumerate(MEANINGS))
    returns = "".join(f"c{number}:\n  ret ptr @tdl.meaning.{number}\n" for number in range(len(MEANINGS)))
    yield (
        f"define ptr @{names.prefix}_message(i32 %code) nounwind {{\n  switch i32 %code, label %other [ {cases} ]\n"
        f"{returns}other:\n  ret ptr @tdl.meaning.{len(MEANINGS)}\n}}\n"
    )
    table = ", ".join(f"ptr @tdl.place.{number}" for number in range(len(places) + 1))
    yield f"@tdl.places = internal constant [{len(places) + 1} x ptr] [{table}]"
    yield _PLACE.replace("$prefix", names.prefix).replace("$count", str(len(places)))


_PLACE = """
define ptr @$prefix_place(ptr %error) nounwind {
entry:
  %code = load i32, ptr %error
  %from.one = sub i32 %code, 1
  %has.place = icmp ult i32 %from.one, 2
  %site.at = getelementptr { i32, i64, [3 x i64] }, ptr %error, i32 0, i32 1
  %site = load i64, ptr %site.at
  %is.known = icmp ult i64 %site, $count
  %both = and i1 %has.place, %is.known
  %above = add i64 %site, 1
  %number = select i1 %both, i64 %above, i64 0
  %place.at = getelementptr ptr, ptr @tdl.places, i64 %number
  %place = load ptr, ptr %place.at
  ret ptr %place
}
"""


def _string(name: str, text: str) -> str:
    content = text.encode() + b"\0"
    shown = "".join(chr(each) if 32 <= each < 127 and each not in b'"\\' else f"\\{each:02X}" for each in content)
    return f'@{name} = internal constant [{len(content)} x i8] c"{shown}"'
