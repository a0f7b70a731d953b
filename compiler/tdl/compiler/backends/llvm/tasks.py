"""The functions that a kernel's work is in: one for the whole, and one for each parallel loop's body.

    void task(void *closure, int64_t iteration, int32_t thread)

A body takes everything it uses as parameters, pointers `noalias`, which is how LLVM comes to know that buffers are
apart. A parallel loop puts what its body needs into a closure, a word each, and has the task called for each iteration:
by the context's `parallel_for`, or one after the other where there is none. The first failure wins, in the error
record; tasks that begin after it do nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from tdl.compiler.backends.llvm.block import FAST, Block, plain_name
from tdl.compiler.backends.llvm.context import Buffer, Context, Site
from tdl.compiler.backends.llvm.debug import DebugLines
from tdl.compiler.backends.llvm.expression import lower_expr
from tdl.compiler.backends.llvm.integers import form_value
from tdl.compiler.backends.llvm.statement import Statements
from tdl.compiler.backends.llvm.values import Value, integer, operate, test
from tdl.compiler.kernel.tree import Kernel, Loop, Node, Origin
from tdl.language.forms import Symbol

PARALLEL_FOR, PARALLEL_STATE, ERROR = 8, 16, 24
"""Where a context holds what runs tasks, its state, and the error record, in bytes."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """`name` without its sigil; `kind` is `ptr` or `i64`."""

    name: str
    kind: str
    attributes: str = ""

    @property
    def declared(self) -> str:
        return f"{self.kind}{self.attributes} %{self.name}"

    @property
    def value(self) -> Value:
        return Value(f"%{self.name}", self.kind)


ALWAYS = (
    Parameter("error", "ptr", " noalias"),
    Parameter("arena", "ptr"),
    Parameter("arenas", "ptr"),
    Parameter("arena.bytes", "i64"),
)
"""The error record; this thread's arena; the first thread's, and how far apart they are."""


@dataclass
class Functions:
    """Writes the functions of one kernel. `texts` are finished, in the order of their being called.

    `multiples` gives numbers that sizes are known to be multiples of; `fence` is an instruction at the end of each
    function, for its stores to be seen by others.
    """

    kernel: Kernel
    name: str
    sites: list[Site] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    metadata: list[str] = field(default_factory=list)
    multiples: Mapping[Symbol, int] = field(default_factory=dict)
    fence: str = ""
    debug: DebugLines | None = None
    count: int = 0

    def body(
        self,
        name: str,
        parameters: Iterable[Parameter],
        context: Context,
        nodes: tuple[Node, ...],
        *,
        is_task: bool = False,
    ) -> None:
        """A function that runs nodes and returns 0, or the code of a failure. A task's parallel loops are serial."""
        context.debug, attached = self.debug, ""
        if self.debug is not None:
            context.function = self.debug.function(name)
            context.block.location = self.debug.location(Origin(), context.function)
            attached = f" !dbg {context.function}"
        Statements(self.kernel, context, None if is_task else self.parallel).body(nodes)
        block = context.block
        if self.fence:
            block.do(self.fence)
        block.do("ret i32 0")
        declared = ", ".join(parameter.declared for parameter in parameters)
        head = f"define internal i32 @{name}({declared}) noinline nounwind{attached} {{"
        self.texts.append("\n".join((head, "entry:", *block.slots, *block.lines, "}\n")))

    def context(self, buffers: dict[str, Buffer], symbols: dict[Symbol, Value]) -> Context:
        block = Block(metadata=self.metadata, fast_math=FAST if self.kernel.fast_math else "")
        parameters = self.kernel.program.parameters
        return Context(block, buffers, symbols, parameters, sites=self.sites, multiples=self.multiples)

    def parallel(self, context: Context, loop: Loop) -> None:
        """Code in `context` that runs a loop's iterations as tasks."""
        self.count += 1
        task = f"{self.name}.task{self.count}"
        site = Site(loop.origin.span)
        lo, hi = (form_value(context, end, lower_expr, site) for end in (loop.lo, loop.hi))
        buffers = {name: _parameter(name, position) for position, name in enumerate(context.buffers)}
        symbols = {symbol: Parameter(f"at.{position}", "i64") for position, symbol in enumerate(context.symbols)}
        first = Parameter("first", "i64")
        words = [
            (Parameter("error", "ptr"), Value("%error", "ptr")),
            (Parameter("arenas", "ptr"), Value("%arenas", "ptr")),
            (Parameter("arena.bytes", "i64"), Value("%arena.bytes", "i64")),
            (first, lo),
            *((buffers[name], Value(buffer.pointer, "ptr")) for name, buffer in context.buffers.items()),
            *((symbols[symbol], value) for symbol, value in context.symbols.items()),
        ]
        _call_tasks(context, task, [value for _, value in words], operate(context.block, "sub", hi, lo))
        passed = [*buffers.values(), *symbols.values(), Parameter("iteration", "i64")]
        self.texts.append(_task(task, [parameter for parameter, _ in words], passed))
        inner = self.context(
            {name: replace(context.buffers[name], pointer=f"%{parameter.name}") for name, parameter in buffers.items()},
            {symbol: parameter.value for symbol, parameter in symbols.items()},
        )
        inner.symbols[loop.symbol] = Value("%iteration", "i64")
        aliases = [
            replace(parameter, attributes=f" noalias align {context.buffers[name].alignment}")
            for name, parameter in buffers.items()
        ]
        declared = [*ALWAYS, *aliases, *symbols.values(), Parameter("iteration", "i64")]
        self.body(f"{task}.body", declared, inner, loop.body, is_task=True)


def _parameter(name: str, position: int) -> Parameter:
    return Parameter(f"data.{position}.{plain_name(name)}", "ptr")


def _call_tasks(context: Context, task: str, words: list[Value], count: Value) -> None:
    """Fill a closure and run the tasks; end the function where one failed."""
    block = context.block
    closure = block.slot(f"[{len(words)} x i64]", "closure")
    for position, word in enumerate(words):
        block.do(f"store {word.typed}, ptr {at(block, closure, 8 * position)}")
    some = test(block, "icmp sgt", count, integer(0))

    def run() -> None:
        runner = block.value(f"load ptr, ptr {at(block, '%ctx', PARALLEL_FOR)}")
        none = block.value(f"icmp eq ptr {runner}, null")
        serial, together, done = (block.fresh(name) for name in ("serial", "together", "done"))
        block.branch(none, serial, together)
        block.label(serial)
        block.loop("0", count.text, lambda index: block.do(f"call void @{task}(ptr {closure}, i64 {index}, i32 0)"))
        block.jump(done)
        block.label(together)
        state = block.value(f"load ptr, ptr {at(block, '%ctx', PARALLEL_STATE)}")
        block.do(f"call void {runner}(ptr {state}, ptr @{task}, ptr {closure}, i64 {count.text})")
        block.jump(done)
        block.label(done)
        code = block.value("load i32, ptr %error")
        block.when(block.value(f"icmp ne i32 {code}, 0"), lambda: _give_up(block, code))

    block.when(some.text, run)


def _give_up(block: Block, code: str) -> None:
    block.do(f"ret i32 {code}")
    block.label(block.fresh("dead"))


def _task(name: str, words: list[Parameter], passed: list[Parameter]) -> str:
    """The function that unpacks a closure and calls the body."""
    block = Block()
    loaded = {
        word.name: block.value(f"load {word.kind}, ptr {at(block, '%closure', 8 * position)}")
        for position, word in enumerate(words)
    }
    code = block.value(f"load atomic i32, ptr {loaded['error']} monotonic, align 4")
    fine = block.fresh("fine")
    block.branch(block.value(f"icmp eq i32 {code}, 0"), fine, "drained")
    block.label(fine)
    number = block.value("zext i32 %thread to i64")
    offset = block.value(f"mul i64 {number}, {loaded['arena.bytes']}")
    loaded["arena"] = block.value(f"getelementptr i8, ptr {loaded['arenas']}, i64 {offset}")
    loaded["iteration"] = block.value(f"add i64 %index, {loaded['first']}")
    args = ", ".join(f"{each.kind} {loaded[each.name]}" for each in (*ALWAYS, *passed))
    block.value(f"call i32 @{name}.body({args})")
    block.jump("drained")
    block.label("drained")
    block.do("ret void")
    head = f"define internal void @{name}(ptr %closure, i64 %index, i32 %thread) nounwind {{"
    return "\n".join((head, "entry:", *block.lines, "}\n"))


def at(block: Block, pointer: str, offset: int) -> str:
    return block.value(f"getelementptr inbounds i8, ptr {pointer}, i64 {offset}") if offset else pointer
