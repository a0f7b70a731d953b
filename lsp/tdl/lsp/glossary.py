"""The words of the language in a line each, with the section of the documentation that says more.

    describe("where")       facts that an op may rely on, and its callers are held to       language.md#types

Lines of schedules and properties of hardware are described by the tables that check them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from tdl.compiler.pages import manual_path
from tdl.language.dtypes import CLASSES, DTYPES
from tdl.language.hardware import MEMORIES, MEMORY_PROPERTIES, TARGET_PROPERTIES, TARGETS
from tdl.language.schedules.lines import LINES, THREADS


@dataclass(frozen=True, slots=True)
class Word:
    """`usage` is how it is written, `section` where the documentation speaks of it."""

    summary: str
    usage: str = ""
    section: str = ""

    @property
    def link(self) -> str | None:
        """The URI of its section, None where the documentation is not installed."""
        name, _, anchor = self.section.partition("#")
        path = manual_path(name)
        return f"{path.as_uri()}#{anchor}" if name and path.is_file() else None


ITEMS: dict[str, Word] = {
    "import": Word("a module, whose names are used behind a dot", "import std.nn", "language.md#modules"),
    "from": Word("names of a module, used as they are", "from std.nn import relu", "language.md#modules"),
    "const": Word("a number with a name", "const EPS = 1e-5", "language.md#modules"),
    "fn": Word(
        "a function of scalars", "fn square[T: float](x: T) -> T = x * x", "language.md#functions-and-reducers"
    ),
    "reducer": Word(
        "a way to reduce many values to one: associative and commutative, with an identity",
        "reducer most(a: f32, b: f32) -> f32 { identity -inf  combine max(a, b) }",
        "language.md#functions-and-reducers",
    ),
    "op": Word(
        "a computation on tensors: what is computed, and not how",
        "op relu(X: f32[N]) -> Y: f32[N] { Y[i] = max(X[i], 0) }",
        "language.md#ops",
    ),
    "graph": Word("dataflow between ops", "graph g(x: f32[N]) -> y: f32[N] { y = relu(x) }", "language.md#graphs"),
    "schedule": Word(
        "how an op runs: rewrites of its loops, each proved to keep the result",
        "schedule relu for cpu { parallel Y.i }",
        "language.md#schedules",
    ),
    "tactic": Word("a schedule with parameters, used by `apply`", "tactic t(T, i) { ... }", "schedules.md#tactics"),
    "intrinsic": Word(
        "an instruction of the hardware, with its meaning", "intrinsic f(a: f32[8]) -> c: f32[8] for x86 { ... }",
        "language.md#hardware",
    ),
    "memory": Word("a memory of the hardware", "memory shared { capacity 48KiB }", "language.md#hardware"),
    "target": Word("a kind of machine", "target npu for cpu { vector 512 }", "language.md#hardware"),
    "test": Word(
        "a call whose compiled result is compared with the reference evaluator",
        "test odd: relu(N=37)",
        "language.md#tests-and-benches",
    ),
    "bench": Word(
        "a call that `tdlc bench` measures; its sizes are those of previews",
        "bench large: relu(N=1_000_000)",
        "language.md#tests-and-benches",
    ),
}  # fmt: skip

_WORDS: dict[str, Word] = {
    "for": Word("the indices that something runs over, or the target of a schedule", section="language.md#definitions"),
    "in": Word("what an index runs over", "for k in 0..K", "language.md#definitions"),
    "if": Word("a choice, or a filter behind `for`", "a if c else b", "language.md#definitions"),
    "else": Word("what is evaluated where the condition is false", "a if c else b", "language.md#definitions"),
    "and": Word("both; the right side is evaluated only where the left is true", section="language.md#numbers"),
    "or": Word("one or both; the right side is evaluated only where the left is false", section="language.md#numbers"),
    "not": Word("the other truth value", section="language.md#numbers"),
    "where": Word(
        "facts that an op may rely on, and its callers are held to", "where R <= H, M % 8 == 0", "language.md#types"
    ),
    "expect": Word(
        "the result that a test must give", "expect Y = [[0.5, 0.5]]", "language.md#tests-and-benches"
    ),
    "when": Word("the sizes, parameters and dtypes that a schedule is for", "when M >= 8", "language.md#schedules"),
    "true": Word("the truth value `true`, of dtype `bool`", section="language.md#numbers"),
    "false": Word("the truth value `false`, of dtype `bool`", section="language.md#numbers"),
    "inf": Word("infinity, of any float dtype", section="language.md#numbers"),
    "nan": Word("not a number, of any float dtype", section="language.md#numbers"),
    "identity": Word("what changes nothing it is combined with", section="language.md#functions-and-reducers"),
    "combine": Word("one value out of two", section="language.md#functions-and-reducers"),
    "emit": Word("the text of an instruction, in some language", 'emit llvm """..."""', "language.md#hardware"),
    "edge": Word("outside, the nearest element is read", "X[i - 1 | edge]", "language.md#access"),
    "wrap": Word("outside, the subscript is taken modulo the size", "X[i - 1 | wrap]", "language.md#access"),
    "mirror": Word("outside, the tensor is mirrored, the edge not repeated", "X[i - 1 | mirror]", "language.md#access"),
    "by": Word("the sizes of tiles", "split Y.i by 8 -> io, ii", "language.md#schedules"),
    "into": Word("the number of parts", "split Y.i into 4 -> io, ii", "language.md#schedules"),
    "balanced": Word(
        "tiles of near-equal sizes, at most the one given", "split Y.i by 6 balanced -> io, ii", "language.md#schedules"
    ),
    "at": Word("inside the body of a loop", "compute T at L", "schedules.md#places"),
    "as": Word("the name of a copy", "cache W at L as Wp", "language.md#schedules"),
    "pad": Word("what fills the storage that holds no element", "pad 0", "language.md#schedules"),
    "pack": Word("the input is given packed", "layout W(k, j) [k//16, j, k%16] pack", "schedules.md#packed-inputs"),
    "ahead": Word("how many iterations before", "prefetch W at k ahead 2", "language.md#schedules"),
    "with": Word("the instruction to use, or the features that one needs", section="language.md#hardware"),
    "to": Word("the threads that a loop runs on", "bind io to block.x", "language.md#schedules"),
    "over": Word("the loops whose threads share the work", "cooperate As over ty, tx", "language.md#schedules"),
}  # fmt: skip

_CLAUSES: dict[str, Word] = {
    "in": Word("the choices of a knob, or the memory of a copy", "cache W at L in register", "language.md#schedules"),
    "layout": Word("the order in which a copy is stored", "layout [ko, j, ki]", "language.md#schedules"),
    "=": Word("what a name stands for"),
    "->": Word("names for what the line makes"),
}

_FUNCTIONS: dict[str, Word] = {
    "exp": Word("e to the power of x"), "log": Word("the natural logarithm"), "tanh": Word("the hyperbolic tangent"),
    "erf": Word("the error function"), "sigmoid": Word("`1 / (1 + exp(-x))`"), "sqrt": Word("the square root"),
    "rsqrt": Word("`1 / sqrt(x)`"), "sin": Word("the sine"), "cos": Word("the cosine"),
    "floor": Word("the greatest integer that is not greater"), "ceil": Word("the least integer that is not less"),
    "trunc": Word("without what is behind the point"), "round": Word("the nearest integer, ties to even"),
    "abs": Word("without the sign; the least integer of a dtype stays as it is"),
    "isnan": Word("whether it is not a number"), "pow": Word("x to the power of y, of floats"),
    "bit_and": Word("the bits that are set in both"), "bit_or": Word("the bits that are set in one or both"),
    "bit_xor": Word("the bits that are set in one of both"), "bit_not": Word("all bits turned over"),
    "shl": Word("bits moved up, by a count modulo the width"),
    "shr": Word("bits moved down, by a count modulo the width"),
}  # fmt: skip

_REDUCERS: dict[str, Word] = {
    "sum": Word("the sum; 0 over nothing", "sum(X[i, k] for k)"),
    "prod": Word("the product; 1 over nothing", "prod(X[i, k] for k)"),
    "max": Word("the greatest, of an index or of several values; NaN wins", "max(X[i, k] for k)"),
    "min": Word("the least, of an index or of several values; NaN wins", "min(X[i, k] for k)"),
    "any": Word("whether one is true", "any(X[i, k] > 0 for k)"),
    "all": Word("whether every one is true", "all(X[i, k] > 0 for k)"),
    "argmax": Word("the greatest key, with what goes with it; the first of several", "argmax((X[i, k], k) for k)"),
    "argmin": Word("the least key, with what goes with it; the first of several", "argmin((X[i, k], k) for k)"),
}

_KINDS: dict[str, str] = {"float": "floats", "signed": "integers with a sign", "unsigned": "integers without a sign"}
_CLASSES: dict[str, str] = {
    "float": "any float dtype", "integer": "any integer dtype", "number": "any dtype but `bool`", "dtype": "any dtype",
}  # fmt: skip


@lru_cache(maxsize=1)
def words() -> Mapping[str, Word]:
    """Every word that the grammar knows, of lines of schedules too. `layout`, a line and a clause, is the line."""
    return {**_WORDS, **ITEMS, **dict(_lines())}


@lru_cache(maxsize=1)
def builtins() -> Mapping[str, Word]:
    """What the language names without reserving it: functions, reducers, dtypes, memories, targets, properties."""
    functions = {name: Word(each.summary, each.usage, "language.md#numbers") for name, each in _FUNCTIONS.items()}
    reducers = {name: Word(each.summary, each.usage, "language.md#reductions") for name, each in _REDUCERS.items()}
    return {**dict(_hardware()), **dict(_dtypes()), **functions, **reducers}


def describe(name: str) -> Word | None:
    """What a word of the language is."""
    return words().get(name) or builtins().get(name)


def describe_clause(word: str) -> Word | None:
    """What a word is within a line of a schedule."""
    return _CLAUSES.get(word) or describe(word)


def _lines() -> Iterator[tuple[str, Word]]:
    for verb, form in LINES.items():
        yield verb, Word(form.summary, form.usage, "language.md#schedules")
    yield "let", Word("the dtype or shape of a tensor, or a name for a value", "let acc: f32[M, N]", "language.md#ops")


def _dtypes() -> Iterator[tuple[str, Word]]:
    for name, dtype in DTYPES.items():
        what = "`true` or `false`" if dtype.kind == "bool" else f"{_KINDS[dtype.kind]} of {dtype.bits} bits"
        yield name, Word(what, section="language.md#types")
    for name in CLASSES:
        yield name, Word(_CLASSES[name], section="language.md#types")
    yield "int", Word("an integer that is known when an op is compiled", "stride: int = 1", "language.md#types")


def _hardware() -> Iterator[tuple[str, Word]]:
    for name, summary in MEMORIES.items():
        yield name, Word(summary, section="language.md#hardware")
    for name, parent in TARGETS.items():
        what = "any machine of this kind" if parent is None else f"a kind of `{parent}`"
        yield name, Word(what, section="language.md#schedules")
    for name, form in {**TARGET_PROPERTIES, **MEMORY_PROPERTIES}.items():
        yield name, Word(form.summary, section="language.md#hardware")
    for name in THREADS:
        yield name, Word("threads of a GPU, or virtual ones", "bind io to block.x", "language.md#schedules")
    yield "root", Word("outside all loops", "compute T at root", "schedules.md#places")
