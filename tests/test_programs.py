"""The programs that every build must satisfy, and those it must refuse.

`programs/` holds ops with what they compute in `programs/reference.py`, written in NumPy without any TDL. Each op is
run by the evaluator and compiled, with and without its schedules, on empty, single and odd sizes that its facts admit;
the schedules of a file hold for ops that it imports as well. `programs_invalid/` holds one mistake a file, marked on
its line.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tdl.compiler import load, num_threads, set_num_threads
from tdl.compiler.schedule.check import diagnose
from tdl.compiler.schedule.choose import schedules_of
from tdl.compiler.trial import try_case
from tdl.language import syntax
from tdl.language.analysis import Analysis, analyse
from tdl.language.binding import BindError, Bound, bind
from tdl.language.cases import check_case
from tdl.language.check import check_op
from tdl.language.comparing import first_difference, magnitude_of, tolerances
from tdl.language.evaluate import evaluate
from tdl.language.samples import random_inputs
from tdl.language.scope import Declaration
from tdl.language.source import Source

HERE = Path(__file__).parent
PROGRAMS = sorted((HERE / "programs").glob("*.tdl"))
INVALID = sorted((HERE / "programs_invalid").glob("*.tdl"))
MARK = re.compile(r"# error: *(.*?) *$")

INSTANCES: dict[str, list[dict[str, object]]] = {
    "conv2d": [{}, {"stride": 2, "pad": 3}, {"pad": 1, "T": "f64"}],
    "depthwise": [{}, {"stride": 2}],
    "gelu_all": [{"T": "f32"}, {"T": "f64"}],
    "heat": [{}, {"T": 0}, {"T": 3}],
    "matmul": [{}, {"T": "f64"}, {"T": "i32"}],
    "relu": [{"T": "f32"}, {"T": "f64"}, {"T": "bf16"}],
    "transpose": [{"T": "f32"}, {"T": "i8"}, {"T": "u64"}],
}
"""Compile-time parameters to try; ops that are not listed have none."""

PACKS: list[tuple[int, ...]] = [(), (0,), (1,), (7,), (3, 5), (4, 0, 2), (2, 3, 1, 5)]

SCHEDULED: dict[str, list[tuple[int, ...]]] = {
    "matmul": [(7, 19, 65), (6, 0, 64), (6, 1, 64), (13, 33, 129), (37, 1030, 70), (64, 64, 320)],
    "blur": [(2, 2), (3, 3), (4, 18), (35, 50), (36, 18), (70, 39)],
    "chain": [(31,), (33,), (96,)],
    "total": [(15,), (16,), (1000,)],
    "sum_mid": [(70, 130, 65), (64, 1, 128)],
    "window": [(11, 9), (2, 8)],
    "dot": [(7,), (8,), (15,), (64,)],
    "small": [(7,), (64,)],
    "bump": [(1, 14, 14, 1024), (3, 1, 7, 11)],
}
"""More sizes, in the order of an op's dimensions, to try under its schedules."""

Arrays = dict[str, np.ndarray[Any, Any]]


@lru_cache
def analysed(path: Path) -> Analysis:
    return analyse(Source(str(path), path.read_text(encoding="utf-8")))


def own_ops(path: Path) -> Iterator[Declaration]:
    for entry in analysed(path).module.entries:
        if isinstance(entry.declaration.item, syntax.Op):
            yield entry.declaration


@lru_cache
def reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference", HERE / "programs" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---- both ways of running


def by_evaluator(path: Path, bound: Bound, inputs: Arrays) -> Mapping[str, np.ndarray[Any, Any]]:
    return evaluate(bound.program, inputs, bound.sizes)


@lru_cache
def loaded(path: Path, schedules: bool) -> Any:
    return load(path, schedules=schedules)


def by_compiler(path: Path, bound: Bound, inputs: Arrays) -> Mapping[str, np.ndarray[Any, Any]]:
    return call(loaded(path, False), bound, inputs)


def under_schedules(path: Path, bound: Bound, inputs: Arrays) -> Mapping[str, np.ndarray[Any, Any]]:
    return call(loaded(path, True), bound, inputs)


def call(module: Any, bound: Bound, inputs: Arrays) -> Mapping[str, np.ndarray[Any, Any]]:
    result = module[bound.program.name](**inputs, **bound.program.parameters)
    results = result if len(bound.program.outputs) > 1 else (result,)
    return {name: np.asarray(each) for name, each in zip(bound.program.outputs, results)}


Engine = Callable[[Path, Bound, Arrays], Mapping[str, np.ndarray[Any, Any]]]
ENGINES: list[Engine] = [by_evaluator, by_compiler]

each_engine = pytest.mark.parametrize("run", ENGINES, ids=["evaluated", "compiled"])


def assert_equal(found: Mapping[str, Any], wanted: Mapping[str, Any], bound: Bound, inputs: Arrays) -> None:
    allowed = tolerances(bound.program, bound.sizes)
    sizes = {str(symbol): size for symbol, size in bound.sizes.items()}
    for name, array in wanted.items():
        difference = first_difference(name, np.asarray(found[name]), array, allowed[name], magnitude_of(inputs))
        assert difference is None, f"{bound.program.name} at {sizes}: {difference}"


# ---- programs that must be right


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_checks_without_a_diagnostic(path: Path) -> None:
    assert analysed(path).diagnostics == ()


def lines_of_tests() -> Iterator[Any]:
    for path in PROGRAMS:
        for entry in analysed(path).module.entries:
            if isinstance(entry.declaration.item, syntax.Test):
                yield pytest.param(entry.declaration, id=f"{path.stem}-{entry.declaration.name}")


@pytest.mark.parametrize("declaration", list(lines_of_tests()))
def test_its_test_lines_pass(declaration: Declaration) -> None:
    case = check_case(declaration).case
    assert case is not None
    for schedules in ((), analysed(Path(declaration.path)).module.schedules):
        verdict = try_case(case, schedules=schedules)
        assert verdict.is_good, (verdict.failure, str(verdict.difference))


# ---- ops against NumPy


def bindings(op: Declaration, parameters: dict[str, object]) -> Iterator[Bound]:
    """The op at every size of a fixed set that its facts admit."""
    program = check_op(op).program
    for sizes in candidates([symbol.name for symbol in program.dims if symbol.name not in program.packs]):
        for pack in PACKS if program.packs else [()]:
            bound = _bound(op, parameters, {**sizes, **dict.fromkeys(program.packs, pack)})
            if bound is not None:
                yield bound


def _bound(op: Declaration, parameters: dict[str, object], sizes: Mapping[str, Any]) -> Bound | None:
    try:
        return bind(op, {}, parameters, sizes)
    except BindError as error:
        if error.code != "fact":
            raise
        return None


def candidates(dims: list[str]) -> Iterator[dict[str, int]]:
    """All empty, all single, odd and mixed ones, and each dimension in turn empty or single among others."""
    for size in (0, 1, 2, 3):
        yield dict.fromkeys(dims, size)
    odd = range(3, 3 + 2 * len(dims), 2)
    yield dict(zip(dims, odd))
    yield dict(zip(dims, reversed(odd)))
    yield dict(zip(dims, (17, 6, 9, 8, 4, 3, 2)))
    if len(dims) > 1:
        for dim in dims:
            yield {**dict.fromkeys(dims, 3), dim: 0}
            yield {**dict.fromkeys(dims, 4), dim: 1}


def with_nans(inputs: Arrays) -> Arrays:
    """Some of the numbers replaced by NaN and infinities."""
    return {name: _salted(array) if array.dtype.kind == "f" else array for name, array in inputs.items()}


def _salted(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    salted = array.copy()
    salted.ravel()[1::4] = np.nan
    salted.ravel()[2::7] = -np.inf
    return salted


def instances() -> Iterator[Any]:
    for path in PROGRAMS:
        for op in own_ops(path):
            for parameters in INSTANCES.get(op.name, [{}]):
                label = ",".join(f"{name}={value}" for name, value in parameters.items())
                yield pytest.param(path, op, parameters, id=f"{op.name}[{label}]" if label else op.name)


def compare_with_reference(path: Path, bound: Bound, inputs: Arrays, run: Engine) -> None:
    integers = {name: value for name, value in bound.program.parameters.items() if isinstance(value, int)}
    with np.errstate(all="ignore"):
        wanted = getattr(reference(), bound.program.name)(*inputs.values(), **integers)
    wanted_arrays = {name: np.asarray(each) for name, each in zip(bound.program.outputs, wanted)}
    assert_equal(run(path, bound, inputs), wanted_arrays, bound, inputs)


@each_engine
@pytest.mark.parametrize(("path", "op", "parameters"), list(instances()))
@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:Degrees of freedom")
def test_an_op_equals_numpy(path: Path, op: Declaration, parameters: dict[str, object], run: Engine) -> None:
    tried = 0
    for bound in bindings(op, parameters):
        compare_with_reference(path, bound, random_inputs(bound.program, bound.sizes, seed=tried), run)
        tried += 1
    assert tried >= 4


@each_engine
@pytest.mark.parametrize("name", ["relu", "max_pool", "any_nan", "top1", "blur", "small"])
def test_not_a_number_passes_through(name: str, run: Engine) -> None:
    path, op = next((path, op) for path in PROGRAMS for op in own_ops(path) if op.name == name)
    for bound in bindings(op, INSTANCES.get(name, [{}])[0]):
        compare_with_reference(path, bound, with_nans(random_inputs(bound.program, bound.sizes)), run)


# ---- under schedules


def scheduled() -> Iterator[Any]:
    for path in PROGRAMS:
        module = analysed(path).module
        for op in module.ops.values():
            if schedules_of(op, module.schedules):
                yield pytest.param(path, op, id=op.name)


def scheduled_bindings(op: Declaration) -> Iterator[Bound]:
    program = check_op(op).program
    for number, parameters in enumerate(INSTANCES.get(op.name, [{}])):
        yield from bindings(op, parameters)
        for sizes in SCHEDULED.get(op.name, [])[: 2 if number else None]:
            bound = _bound(op, parameters, dict(zip([symbol.name for symbol in program.dims], sizes, strict=True)))
            if bound is not None:
                yield bound


each_scheduled = pytest.mark.parametrize(("path", "op"), list(scheduled()))


@each_scheduled
@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:Degrees of freedom")
def test_a_scheduled_op_equals_numpy(path: Path, op: Declaration) -> None:
    for seed, bound in enumerate(scheduled_bindings(op)):
        compare_with_reference(path, bound, random_inputs(bound.program, bound.sizes, seed=seed), under_schedules)


@each_scheduled
def test_a_scheduled_op_equals_the_evaluator(path: Path, op: Declaration) -> None:
    for seed, bound in enumerate(scheduled_bindings(op)):
        if sum(bound.sizes.values()) < 60:
            inputs = random_inputs(bound.program, bound.sizes, seed=seed)
            wanted = by_evaluator(path, bound, inputs)
            assert_equal(under_schedules(path, bound, inputs), wanted, bound, inputs)


@pytest.fixture
def threads() -> Iterator[Callable[[int], None]]:
    before = num_threads()
    yield set_num_threads
    set_num_threads(before)


@each_scheduled
def test_the_same_bits_on_any_number_of_threads(path: Path, op: Declaration, threads: Callable[[int], None]) -> None:
    for seed, bound in enumerate(scheduled_bindings(op)):
        inputs = random_inputs(bound.program, bound.sizes, seed=seed)
        threads(1)
        wanted = under_schedules(path, bound, inputs)
        for number in (2, 3):
            threads(number)
            found = under_schedules(path, bound, inputs)
            assert all(found[name].tobytes() == array.tobytes() for name, array in wanted.items())


# ---- programs that must be refused


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.stem)
def test_an_invalid_program_has_its_one_error(path: Path) -> None:
    analysis = analysed(path)
    marked = {
        number: mark[1]
        for number, line in enumerate(analysis.source.text.splitlines(), 1)
        if (mark := MARK.search(line))
    }
    diagnostics = diagnose(analysis)
    found = {analysis.source.position(each.primary.start).line: each for each in diagnostics}
    assert len(diagnostics) == 1
    assert found.keys() == marked.keys()
    for number, words in marked.items():
        said = "\n".join([found[number].message, *found[number].notes])
        assert words.lower().strip() in said.lower()
