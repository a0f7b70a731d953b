"""The way into a kernel that costs least: a C function for Python, made by LLVM, that checks arguments against a table.

There is one such function in a process; each signature (exact dtypes and shapes) has a table of its own (`table.py`),
which the function finds through the object it is bound to. It is called with `out` and the inputs. Anything it does not
expect, it leaves to the checked path by returning NotImplemented; it never guesses.

Its arguments must be plain NumPy arrays, dense, aligned and native, with exactly the shapes of the table; given outputs
must also be writable and overlap nothing. Results are allocated by `numpy.empty` where none are given. Long kernels run
without the interpreter's lock. The layout of NumPy's array object that this rests on is verified by `layout.py`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from tdl.compiler.runtime.checks import ArgumentChecks
from tdl.compiler.runtime.compile import load_text
from tdl.compiler.runtime.table import (
    FAILURE,
    KERNEL,
    NO_INDEX,
    NOT_IMPLEMENTED,
    PARALLEL_FOR,
    SCALAR,
    STATE,
    UNLOCK,
    WORKSPACE,
    Signature,
    pack_table,
)

FastCall = Callable[..., Any]
"""Called with `out` and the inputs; NotImplemented where they are not what it was made for."""

_NAME = "tdl.fastcall"
_METH_FASTCALL = 0x0080
_STACK_WORKSPACE = 8192

_DECLARATIONS = """
declare ptr @PyTuple_GetItem(ptr, i64)
declare i64 @PyTuple_Size(ptr)
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare ptr @PyBytes_AsString(ptr)
declare ptr @PyObject_VectorcallDict(ptr, ptr, i64, ptr)
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


class _Body(ArgumentChecks):
    """Writes the function in the order in which it runs."""

    def __init__(self) -> None:
        super().__init__()
        self.code = self.block.slot("i32", "code")
        self.check()
        self.run()
        self.results()
        self.exits()

    # ---- the call

    def run(self) -> None:
        block = self.block
        context, error = block.slot("[5 x ptr]", "context"), block.slot("[5 x i64]", "error")
        small = block.slot(f"[{_STACK_WORKSPACE} x i8], align 64", "workspace")
        block.do(f"store i64 0, ptr {error}")
        block.do(f"call void @llvm.memset.p0.i64(ptr {context}, i8 0, i64 40, i1 false)")
        block.do(f"store ptr {self.pointer(PARALLEL_FOR)}, ptr {self.at(context, '1')}")
        block.do(f"store ptr {self.pointer(STATE)}, ptr {self.at(context, '2')}")
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
        block.value(f"call ptr @PyObject_VectorcallDict(ptr {self.pointer(FAILURE)}, ptr {numbers}, i64 5, ptr null)")
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


def fastcall_text() -> str:
    """The LLVM text of the function."""
    block = _Body().block
    lines = "\n".join((*block.slots, *block.lines))
    return f"{_DECLARATIONS}\ndefine ptr @{_NAME}(ptr %self, ptr %args, i64 %count) nounwind {{\nentry:\n{lines}\n}}\n"


# ---- Python functions


class _MethodDefinition(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


@cache
def _definition() -> _MethodDefinition:
    """Kept for the life of the process, as functions made from it point to it."""
    return _MethodDefinition(b"fastcall", load_text(fastcall_text(), (_NAME,))[_NAME], _METH_FASTCALL, None)


def bind_fastcall(signature: Signature) -> FastCall:
    """The function for one signature, which keeps its table and what the table points to."""
    prototype = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    make = prototype(("PyCFunction_NewEx", ctypes.pythonapi))
    function: FastCall = make(ctypes.addressof(_definition()), pack_table(signature), None)
    return function
