"""Parallel loops: the body as a task, what it uses from around it in a closure.

    struct matmul_task { tdl_run *run; int64_t first; int64_t M; const float *A; ... };
    static void matmul_task(void *closure, int64_t index, int32_t thread)

Tasks are run by the `parallel_for` that the library was given, or one after the other where there is none. The first
failure wins; tasks that begin after it do nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from tdl.compiler.backends.c.block import Block
from tdl.compiler.backends.c.context import Code
from tdl.compiler.backends.c.expression import lower_expr
from tdl.compiler.backends.c.integers import form_value
from tdl.compiler.backends.c.reduction import index_name
from tdl.compiler.backends.c.values import SUM, Value, operation
from tdl.compiler.backends.llvm.context import Site
from tdl.compiler.kernel.tree import Loop, Node

Body = Callable[[Code, tuple[Node, ...]], None]


def parallel(code: Code, loop: Loop, body: Body) -> None:
    """A loop whose iterations are tasks."""
    unit, block, site = code.unit, code.block, Site(loop.origin.span)
    name = unit.unique(f"{code.name}_task")
    task = Code(unit, code.kernel, name, "", outer=code, block=Block(origin=block.origin, taken=block.names()))
    index = task.block.fresh(index_name(loop.symbol.name))
    task.symbols[loop.symbol] = Value(index)
    body(task, loop.body)
    fields = {"run": "tdl_run *", "first": "int64_t ", **task.captured}
    if "arena" in task.used:
        fields |= {"arenas": "unsigned char *", "arena_bytes": "int64_t "}
    code.used |= {"run", *fields}
    _write(task, fields, index, f"{loop.symbol}, parallel")
    first = form_value(code, loop.lo, lower_expr, site)
    count = form_value(code, loop.hi - loop.lo, lower_expr, site)
    values = ", ".join(first.text if field == "first" else field for field in fields)
    with block.braces():
        block.put(f"struct {name} closure = {{{values}}};  /* {loop.symbol}, parallel */")
        block.put(f"{unit.helper('tdl_parallel')}(run, {name}, &closure, {count.text});")
    with block.braces(f"if ({unit.helper('tdl_failed')}(run))"):
        block.put(f"return{code.returns};")


def _write(task: Code, fields: dict[str, str], index: str, comment: str) -> None:
    """The closure's type, and the function around the lines of a task."""
    unit, name = task.unit, task.name
    members = Block(origin=task.block.origin)
    for field, type_ in fields.items():
        members.put(f"{type_}{field};")
    unit.declaration(f"struct {name}", members.lines)
    body = Block(origin=task.block.origin)
    body.put(f"const struct {name} *const c = closure;")
    body.put("tdl_run *const run = c->run;")
    with body.braces(f"if ({unit.helper('tdl_failed')}(run))"):
        body.put("return;")
    for field, type_ in task.captured.items():
        kept = f"{type_}restrict const " if type_.endswith("*") else f"const {type_}"
        body.put(f"{kept}{field} = c->{field};")
    if "arena" in task.used:
        body.put("unsigned char *const arena = c->arenas + thread * c->arena_bytes;")
    else:
        body.put("(void)thread;")
    if index in task.used:
        at = operation(Value("c->first"), "+", Value("index"), SUM)
        body.put(f"const int64_t {index} = {at.text};  /* {comment} */")
    else:
        body.put("(void)index;")
    body.lines += task.block.lines
    unit.function(f"static void {name}(void *closure, int64_t index, int32_t thread)", body.lines)
