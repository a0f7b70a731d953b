"""What is declared, in a line: heads of items, types of tensors.

op rows[T: float](X: T[M, K]) -> Y: T[M]        intermediate acc: f32[M, N]
"""

from __future__ import annotations

from tdl.language import syntax
from tdl.language.check import check_op
from tdl.language.scope import Declaration
from tdl.language.tree import Tensor

_WHOLE = 16


def head(text: str, item: syntax.Item) -> str:
    """An item without its doc comment and its body, in a line."""
    return _flat(text[item.span.start : _head_end(text, item)])


def shown(text: str, item: syntax.Item) -> str:
    """An item as it is shown: what is used by putting in its text, with its text where that is short; else the head."""
    whole = text[item.span.start : item.span.end]
    is_put_in = isinstance(item, syntax.Fn | syntax.Reducer | syntax.Tactic)
    return whole if is_put_in and whole.count("\n") < _WHOLE else head(text, item)


def behind_name(declaration: Declaration) -> str:
    """The head behind the name: what a callable takes and gives."""
    text = declaration.text
    return _flat(text[declaration.span.end : _head_end(text, declaration.item)])


def _head_end(text: str, item: syntax.Item) -> int:
    if isinstance(item, syntax.Const | syntax.Test | syntax.Bench | syntax.Import):
        return item.span.end
    if isinstance(item, syntax.Fn):
        return item.result.span.end
    brace = text.find("{", item.span.start)
    return item.span.end if brace < 0 else brace


def _flat(text: str) -> str:
    return " ".join(filter(None, (line.partition("#")[0].strip() for line in text.splitlines())))


def type_text(tensor: Tensor) -> str:
    """`f32[M, 2*N]`, or `f32` of a scalar."""
    shape = f"[{', '.join(map(str, tensor.shape))}]" if tensor.shape else ""
    return f"{tensor.dtype}{shape}"


def tensors_of(declaration: Declaration) -> dict[str, Tensor]:
    """The tensors of an op as far as they are known; those that something is wrong with are left out."""
    if not isinstance(declaration.item, syntax.Op | syntax.Intrinsic):
        return {}
    program = check_op(declaration).program
    return {name: tensor for name, tensor in program.tensors.items() if "?" not in type_text(tensor)}
