"""A writer of one LLVM function as text: registers, blocks, branches and loops. Text is ten times faster to make than
`llvmlite.ir` objects, and what is written is what `tdlc show --at llvm` shows.

It knows nothing of tensors or dtypes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

FAST = "reassoc contract arcp afn nsz"
"""What `fast_math` lets LLVM assume of arithmetic on floats. NaN and infinities keep their meaning."""
SCALAR = '!0 = !{!"llvm.loop.vectorize.enable", i1 false}'
_ODD = re.compile(r"[^A-Za-z0-9_.]")


def plain_name(text: str) -> str:
    """The text as LLVM takes it in a name without quotes."""
    return _ODD.sub("_", text)


@dataclass
class Block:
    """The body of a function being written; `slots` go to the entry block, where LLVM turns them into registers.

    `metadata` goes after the function; it refers to `!0`, which `SCALAR` defines. `fast_math` are flags for arithmetic
    on floats; `location` goes behind each instruction.
    """

    lines: list[str] = field(default_factory=list)
    slots: list[str] = field(default_factory=list)
    metadata: list[str] = field(default_factory=list)
    current: str = "entry"
    divisions: int = 0
    fast_math: str = ""
    location: str = ""
    _count: int = 0

    def fresh(self, hint: str) -> str:
        """A name nobody uses, without its sigil."""
        self._count += 1
        return f"{plain_name(hint)}.{self._count}"

    def value(self, instruction: str, hint: str = "v") -> str:
        """The register that holds the instruction's result."""
        register = f"%{self.fresh(hint)}"
        self.lines.append(f"  {register} = {instruction}{self.location}")
        return register

    def divide(self, instruction: str) -> str:
        """A division or remainder of integers by something that is not a constant.

        No loop around one is vectorised. Where only some lanes run a division that is the same in all of them, LLVM
        takes the result of the first lane, which may not have computed it (llvm/llvm-project issue 142957).
        """
        self.divisions += 1
        return self.value(instruction)

    def do(self, instruction: str) -> None:
        self.lines.append(f"  {instruction}{self.location}")

    def slot(self, type_: str, hint: str) -> str:
        """A stack slot that lives as long as the call; loads and stores of it become a register."""
        register = f"%{self.fresh(hint)}"
        self.slots.append(f"  {register} = alloca {type_}")
        return register

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")
        self.current = name

    def jump(self, label: str) -> None:
        self.do(f"br label %{label}")

    def branch(self, condition: str, then: str, other: str) -> None:
        self.do(f"br i1 {condition}, label %{then}, label %{other}")

    def when(self, condition: str, body: Callable[[], None]) -> None:
        """Run the body where the condition holds."""
        then, end = self.fresh("then"), self.fresh("end")
        self.branch(condition, then, end)
        self.label(then)
        body()
        self.jump(end)
        self.label(end)

    def choose(self, condition: str, type_: str, then: Callable[[], str], other: Callable[[], str]) -> str:
        """The value of `then` or `other`, of which only one runs."""
        labels = self.fresh("then"), self.fresh("else")
        end = self.fresh("end")
        self.branch(condition, *labels)
        arms = []
        for label, arm in zip(labels, (then, other)):
            self.label(label)
            value = arm()
            arms.append(f"[ {value}, %{self.current} ]")
            self.jump(end)
        self.label(end)
        return self.value(f"phi {type_} {', '.join(arms)}")

    def loop(self, lo: str, hi: str, body: Callable[[str], None], *, descending: bool = False, hint: str = "i") -> None:
        """Run the body for each i64 from lo up to, not including, hi; or from hi - 1 down to lo."""
        head, inside, end = self.fresh("head"), self.fresh("loop"), self.fresh("done")
        start = self.value(f"sub i64 {hi}, 1") if descending else lo
        entered = self.current
        self.jump(head)
        self.label(head)
        index, following = f"%{self.fresh(hint)}", f"%{self.fresh(hint)}"
        phi_at = len(self.lines)
        runs = self.value(f"icmp sge i64 {index}, {lo}" if descending else f"icmp slt i64 {index}, {hi}")
        self.branch(runs, inside, end)
        self.label(inside)
        divisions = self.divisions
        body(index)
        self.do(f"{following} = {'sub' if descending else 'add'} nsw i64 {index}, 1")
        phi = f"  {index} = phi i64 [ {start}, %{entered} ], [ {following}, %{self.current} ]"
        self.lines.insert(phi_at, phi)
        self.do(f"br label %{head}" + (f", !llvm.loop {self.scalar_loop()}" if self.divisions > divisions else ""))
        self.label(end)

    def scalar_loop(self) -> str:
        """Metadata for a loop that is not to be vectorised; each needs its own."""
        number = len(self.metadata) + 1
        self.metadata.append(f"!{number} = distinct !{{!{number}, !0}}")
        return f"!{number}"
