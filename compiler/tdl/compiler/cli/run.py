"""`tdlc run`: one op on data from files, on numbers as written, or on random inputs."""

from __future__ import annotations

import difflib
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from tdl.compiler.cli.arrays import Wanted, check_writable, read_array, write_arrays
from tdl.compiler.cli.completion import ops
from tdl.compiler.cli.failures import show_failure
from tdl.compiler.cli.fault import ERRORS, Fault
from tdl.compiler.cli.ops import SET, find_op, refused
from tdl.compiler.cli.programs import checked_file, checked_program, find_source
from tdl.compiler.cli.progress import waiting
from tdl.compiler.cli.screen import Color, stderr, stdout
from tdl.compiler.cli.settings import Settings, pairs, read_settings
from tdl.compiler.cli.summary import describe_run

if TYPE_CHECKING:
    import numpy as np
    from tdl.language.binding import Bound
    from tdl.language.scope import Declaration

    Array = np.ndarray[Any, Any]

INPUTS = "Inputs: .npy, .npz[:key], .csv, a picture, a number or a list. The rest are random."


def run(
    file: Annotated[str, typer.Argument(help="A program; `-` is standard input.", metavar="FILE")],
    op: Annotated[str, typer.Argument(help="The name of an op in it.", metavar="OP", autocompletion=ops)],
    inputs: Annotated[list[str] | None, typer.Argument(help=INPUTS, metavar="NAME=VALUE")] = None,
    out: Annotated[
        list[str] | None,
        typer.Option("-o", "--out", metavar="[NAME=]FILE", help="Where to write a result; .npz takes all of them."),
    ] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help=SET)] = None,
    seed: Annotated[int, typer.Option(help="Which random inputs to take.", min=0)] = 0,
    cast: Annotated[bool, typer.Option("--cast", help="Convert arrays to the dtypes that the op declares.")] = False,
    scheduled: Annotated[
        bool, typer.Option("--schedule/--no-schedule", help="Under the file's schedules, or as without any.")
    ] = True,
    color: Annotated[Color, typer.Option(help="When to use colours.")] = Color.auto,
) -> None:
    """Run an op: on files, on numbers, on random inputs. Without -o a summary of the results is printed."""
    analysis = checked_file(file, color) if scheduled else checked_program(file, color)
    declaration = find_op(analysis, op)
    settings = read_settings(set_ or [], declaration)
    targets = output_files(out or [], declaration)
    given = {name: read_input(declaration, name, text, settings, cast) for name, text in _given(inputs, declaration)}
    bound = bind_op(declaration, given, settings)
    from tdl.compiler.runtime.scheduled import ScheduleError
    from tdl.language.failure import Failure
    from tdl.language.samples import random_inputs

    arrays = random_inputs(bound.program, bound.sizes, given, seed)
    try:
        results, timing = execute(declaration, analysis.module.schedules if scheduled else (), bound, arrays)
    except ScheduleError as error:
        stderr(color).diagnostics(error.diagnostics, error.source, find_source)
        raise typer.Exit(ERRORS) from None
    except Failure as failure:
        show_failure(failure, declaration, analysis, stderr(color))
        raise typer.Exit(ERRORS) from None
    for path, names in targets.items():
        write_arrays(path, {name: results[name] for name in names})
    stdout(color).write(describe_run(bound, arrays, results, dict(_given(inputs, declaration)), targets, timing))


# ---- what is asked for


def _given(inputs: Sequence[str] | None, op: Declaration) -> Iterator[tuple[str, str]]:
    """The inputs named on the command line, which the op must have."""
    names = [each.name.text for each in op.item.inputs]  # type: ignore[union-attr]
    for name, text in pairs(inputs or [], "an input").items():
        if name not in names:
            close = difflib.get_close_matches(name, names, 1)
            hint = f"did you mean `{close[0]}`?" if close else f"it has {', '.join(names)}; sizes are given by --set"
            raise Fault(f"`{op.name}` has no input `{name}`", hint)
        yield name, text


def output_files(words: Sequence[str], op: Declaration) -> dict[str, list[str]]:
    """Which results go to which file."""
    names = [each.name.text for each in op.item.outputs]  # type: ignore[union-attr]
    targets: dict[str, list[str]] = {}
    for word in words:
        name, separator, path = word.partition("=")
        if not separator:
            name, path = "", word
        if separator and name not in names:
            raise Fault(f"`{op.name}` has no output `{name}`", f"it has {', '.join(names)}")
        if not name and len(names) > 1 and not path.endswith(".npz"):
            example = f"-o {names[0]}={path}"
            raise Fault(
                f"`{op.name}` has several outputs: {', '.join(names)}", f"say which, as in {example}, or write .npz"
            )
        check_writable(path)
        wanted = [name] if name else names
        if path in targets and not path.endswith(".npz"):
            raise Fault(f"two results would be written to {path}")
        targets.setdefault(path, []).extend(each for each in wanted if each not in targets.get(path, []))
    return targets


# ---- inputs


def read_input(op: Declaration, name: str, text: str, settings: Settings, cast: bool) -> Array:
    """An input's array, in the declared dtype where its file has none, or where casting is asked for."""
    wanted = _wanted(op, name, settings)
    array = read_array(text, wanted)
    return array.astype(wanted.dtype) if cast else array


def _wanted(op: Declaration, name: str, settings: Settings) -> Wanted:
    """What an input is declared to be, as far as that is known before any array is."""
    from tdl.language import syntax
    from tdl.language.arrays import numpy_dtype
    from tdl.language.check import check_op
    from tdl.language.dtypes import DTYPES, DType

    tensor = check_op(op).program.tensors[name]
    dtype = tensor.dtype
    if not isinstance(dtype, DType):
        dtype = DTYPES["i64" if dtype.is_integer else "f32"]
    declared = next(each for each in op.item.inputs if each.name.text == name)  # type: ignore[union-attr]
    chosen = settings.parameters.get(declared.type.dtype.text)
    if isinstance(chosen, str) and chosen in DTYPES:
        dtype = DTYPES[chosen]
    has_pack = any(isinstance(part, syntax.Pack) for part in declared.type.shape)
    shape = (None, None) if has_pack else tuple(size.constant if size.is_constant else None for size in tensor.shape)
    return Wanted(name, numpy_dtype(dtype), shape)


def bind_op(op: Declaration, given: Mapping[str, Array], settings: Settings) -> Bound:
    """The op at the sizes and dtypes that all of this means; what does not fit ends the command."""
    from tdl.language.arrays import dtype_of
    from tdl.language.binding import ArrayType, BindError, bind

    types = {}
    for name, array in given.items():
        dtype = dtype_of(array.dtype)
        if dtype is None:
            raise Fault(f"{name} is {array.dtype}, which TDL does not have", exit_code=ERRORS)
        types[name] = ArrayType(dtype, array.shape)
    try:
        return bind(op, types, settings.parameters, settings.sizes)
    except BindError as error:
        raise refused(op, error, given) from None


# ---- running


def execute(
    op: Declaration, schedules: Sequence[Declaration], bound: Bound, inputs: Mapping[str, Array]
) -> tuple[dict[str, Array], tuple[float, float]]:
    """The results by name, and the seconds that compiling and running took. Quick runs are timed when warm."""
    import numpy as np
    from tdl.compiler.runtime.op import Op
    from tdl.compiler.schedule.choose import schedules_of

    names = bound.program.outputs
    parameters = {name: value for name, value in bound.program.parameters.items() if value is not None}
    arguments = [inputs[name] for name in bound.program.inputs]
    callable_op = Op(op, schedules_of(op, schedules))
    start = time.perf_counter()
    with waiting(f"compiling {op.name}"):
        callable_op.prepare(bound)
    compiled = time.perf_counter()
    with waiting(f"running {op.name}"):
        result = callable_op(*arguments, **parameters)
        ran = time.perf_counter()
        if ran - compiled < 0.5:
            result = callable_op(*arguments, **parameters)
            ran = time.perf_counter() - ran + compiled
    results = result if len(names) > 1 else (result,)
    return {name: np.asarray(each) for name, each in zip(names, results)}, (compiled - start, ran - compiled)
