"""Random programs of syntactic pieces: mostly wrong, never fatal; and what is right is right for the evaluator."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tdl.language.analysis import analyse
from tdl.language.check import check_op
from tdl.language.codes import CODES
from tdl.language.source import Source

NAMES = st.sampled_from(["X", "Z", "I", "B", "Y", "W", "t", "u", "s", "N", "M", "S", "T", "k", "i", "j", "g", "A", "q"])
DTYPES = st.sampled_from(["f32", "f64", "f16", "bf16", "i64", "i32", "i8", "u8", "u64", "bool", "T", "int", "number"])
NUMBERS = st.sampled_from(
    [
        "0",
        "1",
        "2",
        "3",
        "7",
        "-1",
        "-128",
        "255",
        "300",
        "0.5",
        "1e-5",
        "1e400",
        "inf",
        "nan",
        "true",
        "false",
        "9" * 25,
    ]
)
BINARY = st.sampled_from(["+", "-", "*", "/", "//", "%", "**", "<", "<=", "==", "!=", "and", "or"])
FUNCTIONS = st.sampled_from(
    ["exp", "sqrt", "abs", "max", "min", "pow", "isnan", "bit_and", "shl", "f32", "i32", "g", "h", "T"]
)
REDUCERS = st.sampled_from(["sum", "prod", "max", "min", "any", "all", "argmax", "r", "two", "g", "q"])
BOUNDARIES = st.sampled_from(["", "", " | 0", " | edge", " | wrap", " | mirror", " | -inf", " | A", " | i", " | s"])


def joined(parts: st.SearchStrategy[str], least: int = 1, most: int = 3) -> st.SearchStrategy[str]:
    return st.lists(parts, min_size=least, max_size=most).map(", ".join)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    ranges = st.one_of(st.just(""), st.builds(" in {}..{}".format, inner, inner))
    binders = joined(st.builds("{}{}".format, NAMES, ranges), 1, 2)
    filters = st.one_of(st.just(""), st.builds(" if {}".format, inner))
    bodies = st.one_of(inner, st.builds("({}, {})".format, inner, inner))
    subscripts = joined(st.one_of(inner, st.builds("..{}".format, NAMES)), 1, 2)
    return st.one_of(
        st.builds("({} {} {})".format, inner, BINARY, inner),
        st.builds("{} {} {}".format, inner, BINARY, inner),
        st.builds("{}[{}{}]".format, NAMES, subscripts, BOUNDARIES),
        st.builds("{}({})".format, FUNCTIONS, joined(inner, 0, 3)),
        st.builds("{}[{}]({})".format, FUNCTIONS, inner, inner),
        st.builds("{}({} for {}{})".format, REDUCERS, bodies, binders, filters),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("({} if {})".format, inner, inner),
        st.builds("not {}".format, inner),
        st.builds("-{}".format, inner),
        st.builds("[{}]".format, joined(inner, 0, 2)),
    )


EXPRESSIONS = st.recursive(st.one_of(NUMBERS, NAMES, st.builds("{}[{}]".format, NAMES, NAMES)), _larger, max_leaves=8)
SUBSCRIPTS = joined(st.one_of(NAMES, NUMBERS, EXPRESSIONS, st.builds("..{}".format, NAMES)), 1, 2)
TARGETS = st.builds("{}{}".format, NAMES, st.one_of(st.just(""), st.builds("[{}]".format, SUBSCRIPTS)))
CLAUSES = st.one_of(
    st.just(""),
    st.just(""),
    st.builds(" for {} in {}..{}".format, NAMES, EXPRESSIONS, EXPRESSIONS),
    st.builds(" for {} if {}".format, NAMES, EXPRESSIONS),
)
STATEMENTS = st.one_of(
    st.builds("{} = {}{}".format, TARGETS, EXPRESSIONS, CLAUSES),
    st.builds("{} = {}{}".format, TARGETS, EXPRESSIONS, CLAUSES),
    st.builds("({}, {}) = {}".format, TARGETS, TARGETS, EXPRESSIONS),
    st.builds("let {}: {}[{}]".format, NAMES, DTYPES, SUBSCRIPTS),
    st.builds("{}: {} = {}".format, TARGETS, DTYPES, EXPRESSIONS),
)
SHAPES = st.one_of(st.just(""), st.builds("[{}]".format, SUBSCRIPTS))
DECLARATIONS = st.builds("{}: {}{}".format, NAMES, DTYPES, SHAPES)
PARAMETERS = st.one_of(
    st.just(""),
    st.builds("[{}: {} = {}]".format, NAMES, DTYPES, EXPRESSIONS),
    st.just("[k: int = 1, T: float = f32]"),
    st.just("[T: number]"),
)
FACTS = st.one_of(st.just(""), st.builds(" where {}".format, joined(EXPRESSIONS, 1, 2)))
OPS = st.builds(
    "op {}{}({}) -> ({}){} {{\n    {}\n}}".format,
    st.sampled_from(["f", "g", "o", "exp"]),
    PARAMETERS,
    joined(DECLARATIONS, 0, 3),
    joined(DECLARATIONS, 1, 2),
    FACTS,
    st.lists(STATEMENTS, max_size=4).map("\n    ".join),
)
ITEMS = st.one_of(
    OPS,
    OPS,
    st.builds("const {} = {}".format, NAMES, EXPRESSIONS),
    st.builds("const {}: {} = {}".format, NAMES, DTYPES, EXPRESSIONS),
    st.builds("fn g{}({}) -> {} = {}".format, PARAMETERS, joined(DECLARATIONS, 0, 2), DTYPES, EXPRESSIONS),
    st.builds("fn h(i: f32) -> f32 = {}".format, EXPRESSIONS),
    st.builds(
        "reducer r{}({}, {}) -> {} {{ identity {}\n    combine {} }}".format,
        PARAMETERS, DECLARATIONS, DECLARATIONS, DTYPES, EXPRESSIONS, EXPRESSIONS,
    ),
    st.builds(
        "reducer two((s: f32, t: i8), (u: f32, q: i8)) -> (f32, i8) {{ identity ({}, 0)\n combine ({}, {}) }}".format,
        EXPRESSIONS, EXPRESSIONS, EXPRESSIONS,
    ),
    st.builds("test t: f({})".format, joined(st.builds("{}={}".format, NAMES, EXPRESSIONS), 0, 3)),
    st.builds("test u: f({}) expect Y = {}".format, EXPRESSIONS, EXPRESSIONS),
)  # fmt: skip
PROGRAMS = st.lists(ITEMS, min_size=1, max_size=4).map("\n\n".join)

FRAME = """\
const A = 3
fn g(x: f32) -> f32 = x * 0.5
fn h[k: int = 2](x: i64) -> i64 = x // k
reducer r(a: f32, b: f32) -> f32 {{ identity -inf
    combine max(a, b) }}
op f[k: int = 1, T: float = f32](X: T[N], Z: f32[M, N], I: i32[N], B: bool[N], s: i64)
    -> Y: T[N] where N >= 2, M <= N {{
    t[j] = X[j] + 1
    Y[i] = {}{}
}}
test t: f(M=2, N=3)
"""


def check(text: str) -> list[str]:
    source = Source("soup.tdl", text)
    analysed = analyse(source, read={}.get)
    for diagnostic in analysed.diagnostics:
        assert diagnostic.code in CODES
        assert 0 <= diagnostic.primary.start <= diagnostic.primary.end <= len(text)
        assert "unknown type" not in diagnostic.message
    assert len({(each.primary, each.message) for each in analysed.diagnostics}) == len(analysed.diagnostics)
    for op in analysed.module.ops.values():
        checked = check_op(op)
        assert checked.is_sound or analysed.has_errors
    return [diagnostic.message for diagnostic in analysed.diagnostics]


settings.register_profile(
    "soup", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
SOUP = settings(settings.get_profile("soup"), max_examples=150)


@given(PROGRAMS)
@SOUP
def test_any_program_of_pieces_is_checked(text: str) -> None:
    check(text)


@given(EXPRESSIONS, CLAUSES)
@SOUP
def test_any_expression_in_a_right_program_is_checked(expression: str, clause: str) -> None:
    check(FRAME.format(expression, clause))


@given(st.text(alphabet='opf(X:f32[N])->Y={}+-*/|.,;#"\n 0123eij', max_size=60))
@SOUP
def test_any_text_is_checked(text: str) -> None:
    check(text)
    check(f"op f(X: f32[N]) -> Y: f32[N] {{ {text} }}")
