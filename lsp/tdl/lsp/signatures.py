"""What is declared, in a line: heads of items, types of tensors.

op rows[T: float](X: T[M, K]) -> Y: T[M]        intermediate acc: f32[M, N]
"""

from __future__ import annotations

from tdl.language import syntax
from tdl.language.check import check_op
from tdl.language.module import Entry
from tdl.language.scope import Declaration
from tdl.language.tree import Tensor


def head(declaration: Declaration) -> str:
    """An item without its doc comment and its body, in a line."""
    return _flat(declaration.text[declaration.item.span.start : _head_end(declaration)])


def _head_end(declaration: Declaration) -> int:
    item = declaration.item
    if isinstance(item, syntax.Const | syntax.Test | syntax.Bench | syntax.Import):
        return item.span.end
    if isinstance(item, syntax.Fn):
        return item.result.span.end
    brace = declaration.text.find("{", item.span.start)
    return item.span.end if brace < 0 else brace


def _flat(text: str) -> str:
    return " ".join(filter(None, (line.partition("#")[0].strip() for line in text.splitlines())))


def behind_name(declaration: Declaration) -> str:
    """The head behind the name: what a callable takes and gives."""
    return _flat(declaration.text[declaration.span.end : _head_end(declaration)])


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


def declaration_at(entry: Entry, offset: int) -> Declaration | None:
    """An item, if its name begins at an absolute offset."""
    declaration = entry.declaration
    return declaration if declaration.name and entry.placed.offset + declaration.span.start == offset else None
