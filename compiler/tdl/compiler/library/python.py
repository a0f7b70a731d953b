"""A library as a Python package: its shared library, and functions that take and give NumPy arrays.

    from dense import relu                  Y = relu(X)

The package needs NumPy (and ml_dtypes for bf16), and neither this compiler nor any other.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator

from tdl.compiler.backends.llvm.scalars import concrete
from tdl.compiler.backends.llvm.sizes import open_dims, solve_sizes
from tdl.compiler.library.interface import Names, arguments, documentation
from tdl.compiler.library.plan import Function, Library
from tdl.language.forms import Extreme, FloorDiv, Form, Opaque, Product, Symbol

_DTYPES = {"f16": "np.float16", "f32": "np.float32", "f64": "np.float64", "bool": "np.bool_"}


def package_text(library: Library, shared: str) -> str:
    """The package's `__init__.py`; `shared` is the file of the shared library beside it."""
    names = Names(library)
    dtypes = {tensor.dtype for function in library.functions for tensor in function.program.tensors.values()}
    more = "import ml_dtypes\n" if any(concrete(dtype).name == "bf16" for dtype in dtypes) else ""
    exported = ", ".join(f'"{_name(function.name)}"' for function in library.functions)
    head = _HEAD.replace("$name", library.name).replace("$prefix", names.prefix).replace("$shared", shared)
    parts = [head.replace("$more", more).replace("$exported", exported)]
    parts += ["\n".join(_function(function, names)) for function in library.functions]
    return "\n\n\n".join(parts) + "\n"


def _name(text: str) -> str:
    return f"{text}_" if keyword.iskeyword(text) or text in _TAKEN else text


_MODULES = ("np", "ctypes", "os", "ml_dtypes")
_FUNCTIONS = ("_library", "_input", "_check", "_outputs", "_call", "_results", "_ERRORS", "set_threads", "min", "max")
_TAKEN = frozenset((*_MODULES, *_FUNCTIONS, "out", "outputs"))


def _function(function: Function, names: Names) -> Iterator[str]:
    program = function.program
    sizes, buffers = arguments(function)
    locals_ = dict(zip((*program.inputs, *program.outputs), map(_name, buffers)))
    symbols = {dim: _name(name) for dim, name in zip(open_dims(program), sizes)}
    given = ", ".join(locals_[tensor] for tensor in program.inputs)
    yield f"def {_name(function.name)}({given}{', ' if given else ''}*, out=None):"
    lines = [line.replace("\\", "\\\\").replace('"""', "'''") for line in documentation(function)]
    yield f'    """{lines[0]}'
    yield from (f"    {line}".rstrip() for line in lines[1:])
    yield '    """'
    op = f'"{function.name}"'
    for tensor in program.inputs:
        type_, rank = _dtype(program.tensors[tensor].dtype), len(program.tensors[tensor].shape)
        yield f'    {locals_[tensor]} = _input({op}, "{tensor}", {locals_[tensor]}, {type_}, {rank})'
    for solution in solve_sizes(program):
        shape = f"{locals_[solution.tensor]}.shape[{solution.axis}]"
        rest = _form(solution.rest, symbols)
        value = shape if rest == "0" else f"({shape} - {rest})"
        yield f"    {symbols[solution.dim]} = {value if solution.factor == 1 else f'{value} // {solution.factor}'}"
    for tensor in program.inputs:
        yield f'    _check({op}, "{tensor}", {locals_[tensor]}, {_shape(program.tensors[tensor].shape, symbols)})'
    specs = ", ".join(
        f'("{tensor}", {_dtype(program.tensors[tensor].dtype)}, {_shape(program.tensors[tensor].shape, symbols)})'
        for tensor in program.outputs
    )
    inputs = ", ".join(locals_[tensor] for tensor in program.inputs)
    yield f"    outputs = _outputs({op}, out, [{specs}], [{inputs}])"
    passed = ", ".join(symbols.values())
    native = names.function(function)
    yield f'    _call({op}, "{native}", [{passed}], [{inputs}{", " if inputs else ""}*outputs])'
    yield "    return _results(outputs, out)"


def _dtype(dtype: object) -> str:
    name = str(dtype)
    if name == "bf16":
        return "ml_dtypes.bfloat16"
    return _DTYPES.get(name) or f"np.{'u' if name[0] == 'u' else ''}int{name[1:]}"


def _shape(shape: tuple[Form, ...], symbols: dict[Symbol, str]) -> str:
    inside = ", ".join(_form(form, symbols) for form in shape)
    return f"({inside}{',' if len(shape) == 1 else ''})"


def _form(form: Form, symbols: dict[Symbol, str]) -> str:
    """A size as Python has it."""
    parts = [_term(atom, count, symbols) for atom, count in form.terms]
    if form.constant or not parts:
        parts.append(str(form.constant))
    return " + ".join(parts) if len(parts) == 1 else f"({' + '.join(parts)})"


def _term(atom: object, count: int, symbols: dict[Symbol, str]) -> str:
    match atom:
        case Symbol():
            text = symbols[atom]
        case FloorDiv(dividend, divisor):
            text = f"({_form(dividend, symbols)} // {_form(divisor, symbols)})"
        case Extreme(kind, left, right):
            text = f"{kind}({_form(left, symbols)}, {_form(right, symbols)})"
        case Product(left, right):
            text = f"{_form(left, symbols)} * {_form(right, symbols)}"
        case Opaque() | _:
            raise AssertionError(f"{atom} in a shape")
    return text if count == 1 else f"{count} * {text}"


_HEAD = '''"""$name: tensor operations compiled by tdlc. It needs NumPy, and no compiler.

Functions take NumPy arrays, or what becomes one, and give new arrays, or write into `out` (several as a tuple).
"""

import ctypes
import os

import numpy as np
$more
__all__ = [$exported, "set_threads"]

_library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "$shared"))
_library.$prefix_message.restype = ctypes.c_char_p
_library.$prefix_place.restype = ctypes.c_char_p


class _Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("site", ctypes.c_int64), ("details", ctypes.c_int64 * 3)]


class _Run(ctypes.Structure):
    _fields_ = [
        ("workspace", ctypes.c_void_p),
        ("parallel_for", ctypes.c_void_p),
        ("state", ctypes.c_void_p),
        ("threads", ctypes.c_int64),
        ("error", _Error),
    ]


_ERRORS = {1: IndexError, 2: ZeroDivisionError, 5: MemoryError}


def set_threads(count):
    """Run parallel loops on so many threads from now on."""
    _library.$prefix_set_threads(ctypes.c_int32(count))


def _input(op, name, value, dtype, rank):
    array = np.asarray(value)
    if not hasattr(value, "dtype") and array.dtype != dtype:
        array = array.astype(dtype)
    if array.dtype != dtype:
        raise TypeError(f"{op}: {name} is {array.dtype}, and should be {np.dtype(dtype)}")
    if array.ndim != rank:
        raise ValueError(f"{op}: {name} has {array.ndim} dimensions, and should have {rank}")
    return np.require(array, requirements=["C", "A"])


def _check(op, name, array, shape):
    if array.shape != shape:
        raise ValueError(f"{op}: {name} has shape {array.shape}, and should have {shape}")


def _outputs(op, out, specs, inputs):
    if out is None:
        if any(size < 0 for _, _, shape in specs for size in shape):
            raise ValueError(f"{op}: a size of a result would be negative")
        return [np.empty(shape, dtype) for _, dtype, shape in specs]
    outputs = list(out) if isinstance(out, (tuple, list)) else [out]
    if len(outputs) != len(specs):
        raise ValueError(f"{op}: out has {len(outputs)} arrays, and should have {len(specs)}")
    for position, (array, (name, dtype, shape)) in enumerate(zip(outputs, specs)):
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.shape != shape:
            raise ValueError(f"{op}: out for {name} should be an array of {np.dtype(dtype)}{list(shape)}")
        if not (array.flags.c_contiguous and array.flags.aligned and array.flags.writeable):
            raise ValueError(f"{op}: out for {name} should be contiguous, aligned and writeable")
        if any(np.may_share_memory(array, other) for other in (*inputs, *outputs[:position])):
            raise ValueError(f"{op}: out for {name} overlaps another array")
    return outputs


def _call(op, name, sizes, arrays):
    run = _Run()
    threads = _library.$prefix_use_threads(ctypes.byref(run))
    sizes = [ctypes.c_int64(size) for size in sizes]
    workspace = getattr(_library, name + "_workspace")
    workspace.restype = ctypes.c_int64
    bytes_ = max(0, workspace(*sizes, ctypes.c_int32(threads)))
    memory = np.empty(bytes_ + 64, np.uint8)
    run.workspace = memory.ctypes.data + -memory.ctypes.data % 64
    buffers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    code = getattr(_library, name + "_run")(ctypes.byref(run), *sizes, *buffers)
    if code:
        place = _library.$prefix_place(ctypes.byref(run.error)).decode()
        message = f"{op}: {_library.$prefix_message(ctypes.c_int32(code)).decode()}"
        raise _ERRORS.get(code, ValueError)(f"{message} ({place})" if place else message)


def _results(outputs, out):
    if out is not None:
        return out
    results = [array if array.ndim else array[()] for array in outputs]
    return results[0] if len(results) == 1 else tuple(results)'''
