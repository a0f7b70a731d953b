"""How what stands before a bracket is written: functions, reducers, ops, tactics, dtypes, tensors."""

from __future__ import annotations

from collections.abc import Iterator

from tdl.language import syntax
from tdl.language.calls import BUILTIN_NAMES, REDUCER_NAMES
from tdl.language.dtypes import DTYPES
from tdl.language.mentions.heads import names_of
from tdl.language.scope import Declaration
from tdl.language.tree import FUNCTIONS
from tdl.lsp.calls.bracket import Bracket
from tdl.lsp.calls.form import Form, form_of, separated
from tdl.lsp.completion.arguments import callee_of
from tdl.lsp.completion.place import Place
from tdl.lsp.glossary import builtins
from tdl.lsp.signatures import tensors_of

_Part = tuple[str, str]


def of_bracket(bracket: Bracket, place: Place) -> list[Form]:
    """The forms of a call, or of an access to a tensor; none where the brackets are nobody's."""
    name = bracket.callee
    if not name:
        return []
    declaration = None if place.entry is None else place.entry.declaration
    if bracket.opening == "[" and declaration is not None and name in tensors_of(declaration):
        return list(_access(bracket, declaration))
    found = callee_of(place, name)
    if found is not None:
        return _declared(bracket, found, place)
    return list(_builtin(bracket)) if bracket.opening == "(" else []


# ---- what a module declares


def _declared(bracket: Bracket, callee: Declaration, place: Place) -> list[Form]:
    item = callee.item
    doc = getattr(item, "doc", None) or ""
    match item:
        case syntax.Op() | syntax.Graph() if place.cursor.statement in ("test_body", "bench_body"):
            return [_case(bracket, callee, item, doc)]
        case syntax.Op() | syntax.Graph():
            return [_call(bracket, callee, item.inputs, _results(item, callee), doc)]
        case syntax.Fn():
            result = _text(callee, item.result)
            return [_call(bracket, callee, item.args, f" -> {result}", doc)]
        case syntax.Tactic():
            return [_call(bracket, callee, item.params, "", doc)]
        case syntax.Reducer() if bracket.opening == "(":
            values = [each.name.text for each in item.left]
            return [_reduction(bracket, callee.name, "value" if len(values) == 1 else f"({', '.join(values)})", doc)]
    return []


def _call(
    bracket: Bracket,
    callee: Declaration,
    arguments: tuple[syntax.Declaration | syntax.Parameter, ...],
    results: str,
    doc: str,
) -> Form:
    """`dense[T: float = f32](X: T[..S, K], W: T[K, N])`: compile-time parameters, then arguments."""
    params: tuple[syntax.Parameter, ...] = ()
    if isinstance(callee.item, syntax.Op | syntax.Graph | syntax.Fn):
        params = callee.item.params
    written = [(_text(callee, each), "") for each in (*params, *arguments)]
    names = [*(each.name.text for each in params), *(each.name.text for each in arguments)]
    first, rest = written[: len(params)], written[len(params) :]
    pieces: list[str | _Part] = [callee.name, "(", *separated(rest), ")", results]
    if first:
        pieces[1:1] = ["[", *separated(first), "]"]
    base = 0 if bracket.opening == "[" else len(params)
    return form_of(pieces, _active(bracket, names, base), doc)


def _active(bracket: Bracket, names: list[str], base: int) -> int | None:
    if bracket.name is not None:
        return names.index(bracket.name) if bracket.name in names else None
    place = base + bracket.position
    return place if place < len(names) else None


def _results(item: syntax.Op | syntax.Graph, callee: Declaration) -> str:
    texts = [_text(callee, each) for each in item.outputs]
    return f" -> {texts[0]}" if len(texts) == 1 else f" -> ({', '.join(texts)})"


def _text(callee: Declaration, node: syntax.Node) -> str:
    return " ".join(callee.text[node.span.start : node.span.end].split())


def _case(bracket: Bracket, callee: Declaration, item: syntax.Op | syntax.Graph, doc: str) -> Form:
    """In a test: sizes, parameters, inputs."""
    sizes = [name for name, each in names_of(callee).items() if each.kind in ("dimension", "pack")]
    names = [*sizes, *(each.name.text for each in item.params), *(each.name.text for each in item.inputs)]
    parts: list[_Part] = [*((name, "a size") for name in sizes)]
    parts += [
        *((_text(callee, each), "") for each in item.params),
        *((_text(callee, each), "") for each in item.inputs),
    ]
    base = len(sizes) + len(item.params)
    return form_of([callee.name, "(", *separated(parts), ")"], _active(bracket, names, base), doc)


# ---- what the language knows


def _builtin(bracket: Bracket) -> Iterator[Form]:
    name = bracket.callee
    if name in DTYPES:
        yield form_of([name, "(", ("x", "what is converted"), ")"], 0, "A conversion.")
        return
    if name not in BUILTIN_NAMES:
        return
    doc = f"{builtins()[name].summary[:1].upper()}{builtins()[name].summary[1:]}."
    if name in REDUCER_NAMES:
        yield _reduction(bracket, name, "(key, value, ...)" if name.startswith("arg") else "value", doc)
    if name in ("min", "max"):
        several: list[_Part] = [("a", ""), ("b", ""), ("...", "")]
        yield form_of([name, "(", *separated(several), ")"], min(bracket.position, 2), doc)
    elif name not in REDUCER_NAMES:
        count = FUNCTIONS.get(name, 1 if name == "bit_not" else 2)
        parts: list[_Part] = [(each, "") for each in ("x", "y")[:count]]
        active = bracket.position if bracket.position < count else None
        yield form_of([name, "(", *separated(parts), ")"], active, doc)


def _reduction(bracket: Bracket, name: str, value: str, doc: str) -> Form:
    """`sum(value for index, ... if condition)`."""
    pieces: list[str | _Part] = [
        name, "(", (value, "what is reduced"), " ", ("for index in lo..hi, ...", "what it runs over"), " ",
        ("if condition", "which of it counts"), ")",
    ]  # fmt: skip
    behind = bracket.inside[bracket.inside.index("for") :] if "for" in bracket.inside else []
    return form_of(pieces, 2 if "if" in behind else 1 if behind else 0, doc)


# ---- tensors


def _access(bracket: Bracket, declaration: Declaration) -> Iterator[Form]:
    """`X[M, K]`, a subscript for each dimension."""
    tensor = tensors_of(declaration)[bracket.callee]
    if tensor.shape:
        parts: list[_Part] = [(f"0..{size}", f"dimension {axis}") for axis, size in enumerate(tensor.shape)]
        active = bracket.position if bracket.position < len(parts) and "|" not in bracket.inside else None
        yield form_of([f"{bracket.callee}[", *separated(parts), "]"], active, f"{tensor.role} of {tensor.dtype}")
