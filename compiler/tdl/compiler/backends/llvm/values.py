"""Values in registers: one for all lanes, or a vector of them; and the instructions that take either.

An instruction on a vector and a value that all lanes share has the shared one spread first, so that nobody above asks
which is which.

    add(i64 %a, <16 x i64> %b)      becomes     %s = <%a, %a, ...>;  add <16 x i64> %s, %b
"""

from __future__ import annotations

from dataclasses import dataclass

from tdl.compiler.backends.llvm.block import Block

_SUFFIXES = {"float": "f32", "double": "f64", "ptr": "p0"}


@dataclass(frozen=True, slots=True)
class Value:
    """A register or a constant of the scalar type `kind`; `lanes` is 0 where there is one value for all lanes."""

    text: str
    kind: str
    lanes: int = 0

    @property
    def type(self) -> str:
        return vector_type(self.kind, self.lanes)

    @property
    def typed(self) -> str:
        """As an operand with its type."""
        return f"{self.type} {self.text}"

    @property
    def is_constant(self) -> bool:
        return not self.text.startswith("%")


def vector_type(kind: str, lanes: int) -> str:
    return f"<{lanes} x {kind}>" if lanes else kind


def mangled(kind: str, lanes: int) -> str:
    """How an intrinsic names the type: `f32`, `v16i8`."""
    return (f"v{lanes}" if lanes else "") + _SUFFIXES.get(kind, kind)


def integer(value: int, kind: str = "i64") -> Value:
    return Value(str(value), kind)


TRUE, FALSE = Value("true", "i1"), Value("false", "i1")


def spread(block: Block, value: Value, lanes: int) -> Value:
    """The value in each of so many lanes."""
    if value.lanes == lanes:
        return value
    assert not value.lanes, f"{value} in {lanes} lanes"
    if value.is_constant:
        return spread_constant(value, lanes)
    type_ = vector_type(value.kind, lanes)
    one = block.value(f"insertelement {type_} poison, {value.typed}, i64 0")
    return Value(
        block.value(f"shufflevector {type_} {one}, {type_} poison, <{lanes} x i32> zeroinitializer"), value.kind, lanes
    )


def spread_constant(value: Value, lanes: int) -> Value:
    return Value(f"splat ({value.typed})", value.kind, lanes) if lanes else value


def together(block: Block, *values: Value) -> tuple[Value, ...]:
    """The values in as many lanes as one of them has."""
    lanes = max(value.lanes for value in values)
    return tuple(spread(block, value, lanes) for value in values)


def operate(block: Block, instruction: str, *operands: Value) -> Value:
    """A unary or binary instruction whose result is of its operands' type."""
    operands = together(block, *operands)
    first = operands[0]
    if block.fast_math and instruction.startswith("f"):
        instruction = f"{instruction.partition(' ')[0]} {block.fast_math}"
    text = block.value(f"{instruction} {first.type} {', '.join(operand.text for operand in operands)}")
    return Value(text, first.kind, first.lanes)


def divide(block: Block, instruction: str, left: Value, right: Value) -> Value:
    """A division or remainder of integers by something that may not be a constant: see `Block.divisions`."""
    if not right.is_constant:
        block.divisions += 1
    return operate(block, instruction, left, right)


def test(block: Block, comparison: str, left: Value, right: Value) -> Value:
    """`icmp` or `fcmp`, with its condition."""
    left, right = together(block, left, right)
    return Value(block.value(f"{comparison} {left.type} {left.text}, {right.text}"), "i1", left.lanes)


def cast(block: Block, instruction: str, value: Value, kind: str) -> Value:
    """`zext`, `fptrunc` and the like."""
    into = vector_type(kind, value.lanes)
    return Value(block.value(f"{instruction} {value.typed} to {into}"), kind, value.lanes)


def select(block: Block, condition: Value, then: Value, other: Value) -> Value:
    """One of two values, in each lane; a condition that all lanes share stays one bit."""
    if not condition.lanes:
        then, other = together(block, then, other)
    else:
        condition, then, other = together(block, condition, then, other)
    text = block.value(f"select {condition.typed}, {then.typed}, {other.typed}")
    return Value(text, then.kind, then.lanes)


def intrinsic(block: Block, name: str, *args: Value, kind: str | None = None, also: str = "") -> Value:
    """`llvm.name` overloaded on its result's type, and its argument's where these differ; `also` are more operands."""
    args = together(block, *args)
    first = args[0]
    into = kind or first.kind
    suffix = mangled(into, first.lanes) + (f".{mangled(first.kind, first.lanes)}" if into != first.kind else "")
    operands = ", ".join(arg.typed for arg in args) + also
    return Value(
        block.value(f"call {vector_type(into, first.lanes)} @llvm.{name}.{suffix}({operands})"), into, first.lanes
    )


def function(block: Block, name: str, *args: Value, kind: str) -> Value:
    """A function of one lane, called for each."""
    args = together(block, *args)
    lanes = args[0].lanes
    if not lanes:
        return Value(block.value(f"call {kind} @{name}({', '.join(arg.typed for arg in args)})"), kind)
    result = "poison"
    for lane in range(lanes):
        ones = [element(block, arg, lane) for arg in args]
        value = block.value(f"call {kind} @{name}({', '.join(one.typed for one in ones)})")
        result = block.value(f"insertelement {vector_type(kind, lanes)} {result}, {kind} {value}, i64 {lane}")
    return Value(result, kind, lanes)


def support(block: Block, name: str, value: Value, kind: str) -> Value:
    """A function of our own, of which there is one for each number of lanes."""
    suffix = f".v{value.lanes}" if value.lanes else ""
    into = vector_type(kind, value.lanes)
    return Value(block.value(f"call {into} @{name}{suffix}({value.typed})"), kind, value.lanes)


def element(block: Block, value: Value, lane: int | Value) -> Value:
    """The value in one lane."""
    if not value.lanes:
        return value
    at = f"i64 {lane}" if isinstance(lane, int) else lane.typed
    return Value(block.value(f"extractelement {value.typed}, {at}"), value.kind)


def part(block: Block, value: Value, start: int, count: int) -> Value:
    """Some lanes of a vector, of which there are more; one lane alone is no vector."""
    if count == 1:
        return element(block, value, start)
    order = ", ".join(f"i32 {start + lane}" for lane in range(count))
    text = block.value(f"shufflevector {value.typed}, {value.type} poison, <{count} x i32> <{order}>")
    return Value(text, value.kind, count)


def reverse(block: Block, value: Value) -> Value:
    order = ", ".join(f"i32 {lane}" for lane in reversed(range(value.lanes)))
    text = block.value(f"shufflevector {value.typed}, {value.type} poison, <{value.lanes} x i32> <{order}>")
    return Value(text, value.kind, value.lanes)


def steps(lanes: int, kind: str = "i64") -> Value:
    """0, 1, 2, ... in the lanes."""
    return Value(f"<{', '.join(f'{kind} {lane}' for lane in range(lanes))}>", kind, lanes)


def any_of(block: Block, condition: Value) -> Value:
    """Whether it holds in some lane."""
    if not condition.lanes:
        return condition
    return Value(block.value(f"call i1 @llvm.vector.reduce.or.v{condition.lanes}i1({condition.typed})"), "i1")
