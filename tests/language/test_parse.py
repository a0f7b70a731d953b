"""The tree of what is right: one test for each rule of the syntax."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tdl.language import syntax as s
from tdl.language.parse import parse_file, parse_item
from tdl.language.source import Source, Span

PROGRAMS = sorted((Path(__file__).parents[1] / "programs").glob("*.tdl"))


def item(text: str) -> Any:
    parsed = parse_item(text)
    assert parsed.diagnostics == ()
    return parsed.item


def expr(text: str) -> Any:
    return item(f"const A = {text}").value


def statement(text: str) -> Any:
    (found,) = item(f"op f(X: f32[N]) -> Y: f32[N] {{ {text} }}").body
    return found


def line(text: str) -> Any:
    (found,) = item(f"schedule f {{ {text} }}").body
    return found


def name(text: str) -> s.Name:
    return s.Name(text)


def ref(text: str) -> s.Ref:
    return s.Ref(tuple(s.Name(part) for part in text.split(".")))


def number(value: object) -> s.Number:
    return s.Number(str(value))


def shape(text: str) -> str:
    """An expression with all its parentheses."""

    def show(e: Any) -> str:
        match e:
            case s.Binary(operator, left, right):
                return f"({show(left)} {operator} {show(right)})"
            case s.Unary(operator, operand):
                return f"({operator} {show(operand)})"
            case s.Compare(first, rest):
                return "(" + show(first) + "".join(f" {op} {show(e)}" for op, e in rest) + ")"
            case s.Conditional(then, condition, other):
                tail = "" if other is None else f" else {show(other)}"
                return f"({show(then)} if {show(condition)}{tail})"
            case s.Constant(word):
                return word
        return str(e.text)

    return show(expr(text))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_programs_parse(path: Path) -> None:
    file = parse_file(Source(path.name, path.read_text(encoding="utf-8")))
    assert file.diagnostics == ()
    assert [placed.parsed.diagnostics for placed in file.items if placed.parsed.diagnostics] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b * c", "(a + (b * c))"),
        ("a - b - c", "((a - b) - c)"),
        ("a / b // c % d", "(((a / b) // c) % d)"),
        ("(a + b) * c", "((a + b) * c)"),
        ("a ** b ** c", "(a ** (b ** c))"),
        ("-a ** -b", "(- (a ** (- b)))"),
        ("- - + a * b", "((- (- (+ a))) * b)"),
        ("not a == b", "(not (a == b))"),
        ("not not a and b", "((not (not a)) and b)"),
        ("a or b and c or d", "((a or (b and c)) or d)"),
        ("1 < a + 1 <= b != c", "(1 < (a + 1) <= b != c)"),
        ("a if b else c if d else e", "(a if b else (c if d else e))"),
        ("a or b if c and d else e", "((a or b) if (c and d) else e)"),
        ("a if b", "(a if b)"),
        ("a if b else c if d", "(a if b else (c if d))"),
        ("true and -inf == nan", "(true and ((- inf) == nan))"),
    ],
)
def test_precedence_is_that_of_python(text: str, expected: str) -> None:
    assert shape(text) == expected


@pytest.mark.parametrize(
    "text", ["16", "1_000", "0xff", "0xFF_ff", "1e-5", "2.5", "1E+10", "1.5e3", "48KiB", "2MiB", "1GiB"]
)
def test_numbers(text: str) -> None:
    assert expr(text) == number(text)


@pytest.mark.parametrize("text", ["12ab", "1__0", "0x", "1_", "1e", "1e-", "3KB", "0b1", "1.5KiB", "٣"])
def test_wrong_numbers(text: str) -> None:
    parsed = parse_item(f"const A = {text}")
    assert [(d.code, d.primary) for d in parsed.diagnostics] == [("number", Span(10, 10 + len(text)))]


def test_only_digits_can_be_part_of_a_name() -> None:
    assert line("unroll S.10.j").operands == (ref("S.10.j"),)
    parsed = parse_item("schedule f { unroll S.0x1.j }")
    assert [(d.code, d.message) for d in parsed.diagnostics] == [("number", "`0x1` cannot be part of a name")]


def test_a_point_between_digits_only_is_part_of_a_number() -> None:
    clause = statement("Y[i] = X[i] for i in 0..N").clause
    assert clause.binders == (s.Binder(name("i"), False, s.Range(number(0), ref("N"))),)


def test_strings() -> None:
    assert expr('"a # b"') == s.String("a # b")
    assert expr('""') == s.String("")
    assert expr('"""a\n"b" # c\n"""') == s.String('a\n"b" # c\n')


def test_accesses_and_boundaries() -> None:
    one = s.Binary("-", ref("i"), number(1))
    assert expr("X[i - 1, j]") == s.Index(ref("X"), (one, ref("j")))
    assert expr("X[i - 1 | 0]") == s.Index(ref("X"), (one,), s.Boundary("constant", number(0)))
    for mode in ("edge", "wrap", "mirror"):
        assert expr(f"X[i | {mode}]").boundary == s.Boundary(mode)  # type: ignore[arg-type]
    assert expr("X[i | wrapped]").boundary == s.Boundary("constant", ref("wrapped"))
    assert expr("X[..i]") == s.Index(ref("X"), (s.Pack(name("i")),))
    assert expr("X[b, ..i, 0]") == s.Index(ref("X"), (ref("b"), s.Pack(name("i")), number(0)))


def test_calls() -> None:
    x = s.Argument(None, ref("x"))
    k = s.Argument(name("k"), number(2))
    assert expr("f()") == s.Call(ref("f"), (), ())
    assert expr("std.nn.f(x, k=2)") == s.Call(ref("std.nn.f"), (), (x, k))
    assert expr("f[x](x)") == s.Call(ref("f"), (x,), (x,))
    assert expr("f[k=2](x)") == s.Call(ref("f"), (k,), (x,))
    assert expr("f[x, k=2](k=2)") == s.Call(ref("f"), (x, k), (k,))


def test_reductions() -> None:
    clause = s.ForClause(
        (s.Binder(name("k")), s.Binder(name("r"), False, s.Range(number(0), number(3)))),
        s.Index(ref("mask"), (ref("k"),)),
    )
    assert expr("sum(x for k, r in 0..3 if mask[k])") == s.Reduction(ref("sum"), (), ref("x"), clause)
    pair = s.Tuple((ref("x"), s.Call(ref("i32"), (), (s.Argument(None, ref("j")),))))
    assert expr("argmax((x, i32(j)) for j)") == s.Reduction(
        ref("argmax"), (), pair, s.ForClause((s.Binder(name("j")),))
    )
    assert expr("lse[T=f32](x for ..i)") == s.Reduction(
        ref("lse"), (s.Argument(name("T"), ref("f32")),), ref("x"), s.ForClause((s.Binder(name("i"), True),))
    )


def test_tuples_and_arrays() -> None:
    assert expr("(a, b, c)") == s.Tuple((ref("a"), ref("b"), ref("c")))
    assert expr("[[1, 2], []]") == s.Array((s.Array((number(1), number(2))), s.Array(())))


def test_definitions() -> None:
    target = s.Target(name("Y"), (ref("i"),))
    assert statement("Y[i] = x") == s.Definition((target,), ref("x"))
    assert statement("Y[i]: f32 = x").targets == (s.Target(name("Y"), (ref("i"),), ref("f32")),)
    assert statement("s = x").targets == (s.Target(name("s"), ()),)
    assert statement("Y[..i] = x").targets == (s.Target(name("Y"), (s.Pack(name("i")),)),)
    assert statement("(V[i], I) = x").targets == (s.Target(name("V"), (ref("i"),)), s.Target(name("I"), ()))


def test_definitions_with_a_domain() -> None:
    binders = (s.Binder(name("i"), False, s.Range(number(1), ref("N"))),)
    assert statement("Y[i] = x for i in 1..N").clause == s.ForClause(binders)
    assert statement("Y[i] = x for i in 1..N if c").clause == s.ForClause(binders, ref("c"))
    bare = statement("Y[i] = x if c")
    assert bare.value == s.Conditional(ref("x"), ref("c"), None)
    assert bare.clause is None
    both = statement("Y[i] = x if c for i in 1..N")
    assert both.value == s.Conditional(ref("x"), ref("c"), None)
    assert both.clause == s.ForClause(binders)


def test_let_in_an_op() -> None:
    assert statement("let acc: f32[M, N]") == s.Let(name("acc"), s.TypeExpr(ref("f32"), (ref("M"), ref("N"))))


def test_op_head() -> None:
    op = item("op f[T: float = f32, k: int](X: T[..S, 2*N], n: i32) -> (Y: T[N], z: T) where N >= 1, k < 3 { }")
    assert op.name == name("f")
    assert op.params == (s.Parameter(name("T"), ref("float"), ref("f32")), s.Parameter(name("k"), ref("int")))
    shape = (s.Pack(name("S")), s.Binary("*", number(2), ref("N")))
    assert op.inputs == (
        s.Declaration(name("X"), s.TypeExpr(ref("T"), shape)),
        s.Declaration(name("n"), s.TypeExpr(ref("i32"))),
    )
    assert [output.name.text for output in op.outputs] == ["Y", "z"]
    assert len(op.facts) == 2
    assert op.body == ()
    assert item("op f() -> y: f32 { y = 1 }").inputs == ()


def test_functions_and_constants() -> None:
    fn = item("fn f[T: float](x: T, y: T) -> T = x + y")
    assert (fn.name, len(fn.args), fn.result, fn.doc) == (name("f"), 2, s.TypeExpr(ref("T")), None)
    assert fn.body == s.Binary("+", ref("x"), ref("y"))
    assert item("const A: f64 = 2") == s.Const(name("A"), ref("f64"), number(2))


def test_reducers() -> None:
    one = item("reducer r[T: float](a: T, b: T) -> T { identity -inf\n combine a }")
    assert (one.identity, one.combine) == (s.Unary("-", s.Constant("inf")), ref("a"))
    assert ([d.name.text for d in one.left], [d.name.text for d in one.right]) == (["a"], ["b"])
    two = item("reducer r((s: f32, n: f32), (t: f32, m: f32)) -> (f32, f32) { combine (s, n)\n identity (0, 0) }")
    assert ([d.name.text for d in two.left], [d.name.text for d in two.right]) == (["s", "n"], ["t", "m"])
    assert len(two.results) == 2


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("identity 0", "the reducer `r` has no `combine`"),
        ("combine a", "the reducer `r` has no `identity`"),
        ("identity 0\n combine a\n combine b", "`combine` is given twice"),
    ],
)
def test_incomplete_reducers(body: str, message: str) -> None:
    parsed = parse_item(f"reducer r(a: f32, b: f32) -> f32 {{ {body} }}")
    assert [(d.code, d.message) for d in parsed.diagnostics] == [("reducer", message)]


def test_graphs() -> None:
    graph = item("graph g(x: f32[N]) -> y: f32[N] {\n h, k = f(x)\n (a, b) = f(h)\n y = g(a)\n}")
    assert [[target.text for target in assign.targets] for assign in graph.body] == [["h", "k"], ["a", "b"], ["y"]]


def test_imports() -> None:
    assert item("import std.nn") == s.Import(ref("std.nn"))
    assert item("from a.b import c,\n d") == s.Import(ref("a.b"), (name("c"), name("d")))


def test_tests_and_benches() -> None:
    test = item("test t: f[T=f32](X=[1, 2]) expect Y = 3, Z = [4]")
    assert test.call.callee == ref("f")
    assert [argument.name.text for argument in test.expect] == ["Y", "Z"]
    assert item("bench b: std.f(N=3)").call.callee == ref("std.f")


def test_hardware() -> None:
    assert item("memory m {\n capacity 48KiB\n flag\n ports 1, 2 }").body == (
        s.Property(name("capacity"), (number("48KiB"),)),
        s.Property(name("flag"), ()),
        s.Property(name("ports"), (number(1), number(2))),
    )
    assert item("target npu for cpu { }") == s.TargetItem(name("npu"), ref("cpu"), ())
    intrinsic = item('intrinsic d(a: u8[4]) -> c: i32 for x86 with f, g { c = 1\n emit llvm """x""" }')
    assert (intrinsic.target, intrinsic.features) == (ref("x86"), (name("f"), name("g")))
    assert intrinsic.body[1] == s.Emit(name("llvm"), s.String("x"))


def test_schedule_heads() -> None:
    schedule = item("schedule a.f for x86 when T == f32 and M >= 8 { }")
    assert (schedule.op, schedule.target) == (ref("a.f"), ref("x86"))
    assert isinstance(schedule.condition, s.Binary)
    assert item("schedule f { }").target is None
    tactic = item("tactic t(Y, mr = 8, k: int, n: int = 2) { unroll Y }")
    assert tactic.params[:2] == (s.Parameter(name("Y"), None), s.Parameter(name("mr"), None, number(8)))
    assert tactic.params[2:] == (s.Parameter(name("k"), ref("int")), s.Parameter(name("n"), ref("int"), number(2)))


def clause(keyword: str, *values: s.Expr) -> s.Clause:
    return s.Clause(name(keyword), values)


A, B, C = ref("a"), ref("b"), ref("c.d")
LINES: list[tuple[str, s.ScheduleLine]] = [
    ("knob m = 8 in [4, 8]", s.Knob(name("m"), number(8), (number(4), number(8)))),
    ("let n = 4 * m", s.LetValue(name("n"), s.Binary("*", number(4), ref("m")))),
    ("require M == 0", s.Require(s.Compare(ref("M"), (("==", number(0)),)))),
    ("split c.d by 8 -> x, y", s.Line(name("split"), (C,), (clause("by", number(8)),), (name("x"), name("y")))),
    ("split a by [b, 2] -> x", s.Line(name("split"), (A,), (clause("by", s.Array((B, number(2)))),), (name("x"),))),
    ("split a into 4 -> x", s.Line(name("split"), (A,), (clause("into", number(4)),), (name("x"),))),
    (
        "split a by 6 balanced -> x",
        s.Line(name("split"), (A,), (clause("by", number(6)), clause("balanced")), (name("x"),)),
    ),
    ("tile a, b by 8, 32 -> x", s.Line(name("tile"), (A, B), (clause("by", number(8), number(32)),), (name("x"),))),
    ("fuse a, b -> t", s.Line(name("fuse"), (A, B), (), (name("t"),))),
    ("reorder a, b, c.d", s.Line(name("reorder"), (A, B, C))),
    ("skew a, b by 2 -> w, p", s.Line(name("skew"), (A, B), (clause("by", number(2)),), (name("w"), name("p")))),
    ("skew a, b -> w, p", s.Line(name("skew"), (A, B), (), (name("w"), name("p")))),
    *((f"{verb} a", s.Line(name(verb), (A,))) for verb in ("unroll", "parallel", "peel", "inline", "stream")),
    ("double_buffer As", s.Line(name("double_buffer"), (ref("As"),))),
    ("vectorize a", s.Line(name("vectorize"), (A,))),
    ("vectorize S.0.j by 16", s.Line(name("vectorize"), (ref("S.0.j"),), (clause("by", number(16)),))),
    ("compute a at root", s.Line(name("compute"), (A,), (clause("at", ref("root")),))),
    ("store a at b", s.Line(name("store"), (A,), (clause("at", B),))),
    ("fold a by 4", s.Line(name("fold"), (A,), (clause("by", number(4)),))),
    (
        "cache a at b in register as Ar layout [x, y] pad 0",
        s.Line(
            name("cache"),
            (A,),
            (
                clause("at", B),
                clause("in", ref("register")),
                clause("as", ref("Ar")),
                clause("layout", ref("x"), ref("y")),
                clause("pad", number(0)),
            ),
        ),
    ),
    (
        "layout a(k) [k, 2] pad 0 pack",
        s.Line(
            name("layout"),
            (s.Call(A, (), (s.Argument(None, ref("k")),)),),
            (clause("layout", ref("k"), number(2)), clause("pad", number(0)), clause("pack")),
        ),
    ),
    ("rfactor c.d -> P", s.Line(name("rfactor"), (C,), (), (name("P"),))),
    ("prefetch a at b ahead 2", s.Line(name("prefetch"), (A,), (clause("at", B), clause("ahead", number(2))))),
    ("tensorize a with b", s.Line(name("tensorize"), (A,), (clause("with", B),))),
    ("bind a to block.x", s.Line(name("bind"), (A,), (clause("to", ref("block.x")),))),
    ("cooperate a, b over c.d, b", s.Line(name("cooperate"), (A, B), (clause("over", C, B),))),
    ("fast_math", s.Line(name("fast_math"))),
    ("apply a(b)", s.Line(name("apply"), (s.Call(A, (), (s.Argument(None, B),)),))),
]


@pytest.mark.parametrize(("text", "expected"), LINES, ids=[text for text, _ in LINES])
def test_schedule_lines(text: str, expected: s.ScheduleLine) -> None:
    assert line(text) == expected


def test_keywords_are_names_where_they_cannot_stand() -> None:
    op = item("op op(layout: f32[by]) -> split: f32[by] { split[test] = layout[test] + at\n pad = edge }")
    assert op.name == name("op")
    assert [definition.targets[0].name.text for definition in op.body] == ["split", "pad"]
    assert line("split split by by -> by, at").results == (name("by"), name("at"))
    assert line("cache at at as as as").clauses == (clause("at", ref("as")), clause("as", ref("as")))


def test_docs() -> None:
    text = "## Two\n##lines.\nop f(X: f32[N]) -> Y: f32[N] {\n    ## One.\n    A[i] = 1\n    # No.\n    Y[i] = 1\n}"
    op = item(text)
    assert op.doc == "Two\nlines."
    assert [definition.doc for definition in op.body] == ["One.", None]
    assert parse_file(Source("f", "## no\n\nconst A = 1")).items[0].item == s.Const(name("A"), None, number(1))
    assert item("## yes\r\n## more\rconst A = 1").doc == "yes\nmore"


def test_items_start_at_their_doc_and_end_at_their_last_token() -> None:
    text = "# c\n\n## doc\nconst A = 1  # a\n# b\n\nop f() -> y: f32 { y = 1 }  # c\n# d\n"
    file = parse_file(Source("f", text))
    assert [placed.parsed.text for placed in file.items] == ["## doc\nconst A = 1", "op f() -> y: f32 { y = 1 }"]
    for placed in file.items:
        assert text[placed.offset :].startswith(placed.parsed.text)


def test_an_item_is_parsed_once() -> None:
    first = parse_file(Source("f", "const A = 1\nconst B = 2"))
    second = parse_file(Source("f", "const C = 3\n\nconst A = 1\nconst B = 2"))
    assert second.items[1].parsed is first.items[0].parsed
    assert second.items[2].parsed is first.items[1].parsed


def nodes(value: Any) -> list[s.Node]:
    """All nodes of a tree, outermost first."""
    if isinstance(value, tuple):
        return [node for part in value for node in nodes(part)]
    if not isinstance(value, s.Node):
        return []
    fields = [getattr(value, field) for field in type(value).__dataclass_fields__ if field != "span"]
    return [value, *nodes(tuple(fields))]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_spans_cover_their_text(path: Path) -> None:
    for placed in parse_file(Source("f", path.read_text(encoding="utf-8"))).items:
        for node in nodes(placed.item):
            text = placed.parsed.text[node.span.start : node.span.end]
            assert text == text.strip()
            match node:
                case s.Name(word) | s.Number(word) | s.Constant(word):
                    assert text == word
                case s.Ref():
                    assert text == node.text
                case s.Index() | s.Call() | s.Reduction():
                    assert text[-1] in ")]"
                case _:
                    assert text


def test_a_parenthesis_belongs_to_what_is_around_it() -> None:
    text = "const A = (a + b) * (c)"
    product = item(text).value
    assert text[product.span.start : product.span.end] == "(a + b) * (c)"
    assert text[product.left.span.start : product.left.span.end] == "a + b"
    assert text[product.right.span.start : product.right.span.end] == "c"


@pytest.mark.parametrize(
    "text",
    [
        "Y[i] = a\n+ b",
        "Y[i] = a +\n\n# c\n b",
        "Y[i] =\n a",
        "Y[i]\n= a",
        "Y\n[i] = a",
        "Y[i] = f(a\n\n, # c\nb\n)",
        "Y[i] = a\n# c\n  # d\n if b\n else c",
        "Y[i] = a\n for i in 0\n ..\n N\n if c",
        "Y[i] = a\r\n - b",
        "Y[i] = a\r- b",
        "Y[i] = not\n a",
        "Y[i] = a <\n b",
    ],
)
def test_lines_that_go_on(text: str) -> None:
    assert isinstance(statement(text), s.Definition)


def test_a_parenthesis_does_not_continue_a_line() -> None:
    op = item("op f(X: f32[N]) -> Y: f32[N] {\n Y[i] = a\n (V, I) = b\n}")
    assert len(op.body) == 2


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(end: str) -> None:
    lines = ["## d", "op f(X: f32[N]) -> Y: f32[N] {", "  A[i] = 1  # c", "", "  # c", "  Y[i] = 2", "}"]
    assert item(end.join(lines)) == item("\n".join(lines))


def test_byte_order_mark() -> None:
    file = parse_file(Source("f", "\ufeffconst A = 1"))
    assert (file.diagnostics, len(file.items)) == ((), 1)
