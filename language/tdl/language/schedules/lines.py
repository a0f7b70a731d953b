"""The lines of a schedule, as data: what each verb does, what it is applied to, which clauses it takes, what it makes.

    LINES["split"].usage      split Y.i by 8 -> io, ii

The grammar says how a line is written; checks, hovers, completions and `tdlc explain` read this table. What a line does
to a loop nest, and when it may, is not said here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

OperandKind = Literal["none", "loop", "stage", "tensor", "axis", "storage", "tactic", "value"]
"""`tensor` is any tensor or copy, `stage` one that is computed, `axis` a dimension (`rows.i`), `storage` `W(k, j)`."""

ClauseKind = Literal[
    "factors", "count", "balanced", "loop", "place", "memory", "name", "order", "value", "flag", "intrinsic", "thread"
]
"""`factors` are sizes or one list of sizes, `place` is a loop or `root`, `order` a list of subscripts."""

ResultCount = Literal["none", "one", "two", "tiles", "grid"]
"""`tiles`: one more than there are factors. `grid`: two for every loop."""

Effect = Literal["keep", "replace", "peel", "copy", "factor", "inline", "apply"]
"""What becomes of the loops named: `replace` has the results stand in their place."""


@dataclass(frozen=True, slots=True)
class ClauseForm:
    keyword: str
    kind: ClauseKind


@dataclass(frozen=True, slots=True)
class LineForm:
    """One row. `past` ends the sentence "`Y.i` was ..."; `summary` is one sentence, as a hover shows it."""

    usage: str
    summary: str
    operands: OperandKind = "loop"
    least: int = 1
    most: int | None = None
    clauses: tuple[ClauseForm, ...] = ()
    results: ResultCount = "none"
    effect: Effect = "keep"
    past: str = ""

    @property
    def verb(self) -> str:
        return self.usage.split()[0]

    def clause(self, keyword: str) -> ClauseForm | None:
        return next((clause for clause in self.clauses if clause.keyword == keyword), None)


_BY = ClauseForm("by", "factors")
_AT = ClauseForm("at", "place")
_PAD = ClauseForm("pad", "value")

_ROWS = (
    LineForm("knob mr = 8 in [4, 6, 8, 12]", "a value that the tuner may choose; the one given until it does", "value"),
    LineForm("let n = 4 * mr", "a name for a value", "value"),
    LineForm("require M % 8 == 0", "a fact that must hold for this schedule", "value"),
    LineForm(
        "split Y.i by 8 -> io, ii",
        "an inner loop of each size given, and an outer loop over them; `into 4` makes that many parts, "
        "`balanced` tiles of near-equal size",
        clauses=(_BY, ClauseForm("into", "count"), ClauseForm("balanced", "balanced")),
        results="tiles",
        effect="replace",
        past="split into",
    ),
    LineForm(
        "tile Y.i, Y.j by 8, 32 -> io, jo, ii, ji",
        "each loop split, then all outer loops before all inner ones",
        clauses=(_BY,),
        results="grid",
        effect="replace",
        past="tiled into",
    ),
    LineForm(
        "fuse io, jo -> t",
        "one loop over all iterations of several, in their order",
        least=2,
        results="one",
        effect="replace",
        past="fused into",
    ),
    LineForm("reorder io, jo, k, ii, ji", "the loops listed, permuted among their own positions"),
    LineForm(
        "skew S.i, S.j by f -> w, p",
        "a wavefront: `w = f*i + j` outside, `p = i` inside",
        least=2,
        most=2,
        clauses=(_BY,),
        results="two",
        effect="replace",
        past="skewed into",
    ),
    LineForm("unroll ii", "the body repeated for each iteration"),
    LineForm("parallel io", "iterations on several threads"),
    LineForm("vectorize ji by 16", "iterations in the lanes of vectors", clauses=(_BY,)),
    LineForm("peel L", "full iterations in `L`, the partial one in `L.tail`", effect="peel"),
    LineForm("inline T", "computed again wherever it is used", "stage", effect="inline"),
    LineForm("compute T at L", "computed inside the body of `L`, as much as it reads", "stage", clauses=(_AT,)),
    LineForm(
        "store T at M",
        "kept for one iteration of `M`: nothing is computed twice in it",
        "stage",
        clauses=(_AT,),
    ),
    LineForm("fold T.t by 4", "a ring of so many elements along one axis", "axis", clauses=(_BY,)),
    LineForm(
        "cache W at L in MEM as Wp layout [ko, j, ki] pad 0",
        "what the body of `L` touches, copied into nearer memory",
        "tensor",
        clauses=(
            _AT,
            ClauseForm("in", "memory"),
            ClauseForm("as", "name"),
            ClauseForm("layout", "order"),
            _PAD,
        ),
        effect="copy",
    ),
    LineForm(
        "layout W(k, j) [k//16, j, k%16] pad 0",
        "the order in which a tensor is stored; of an input with `pack`, which exports the function that packs it",
        "storage",
        clauses=(ClauseForm("layout", "order"), _PAD, ClauseForm("pack", "flag")),
    ),
    LineForm(
        "rfactor acc.ko -> P",
        "partial results `P` for each iteration of a reduction loop, and a reduction over them",
        results="one",
        effect="factor",
    ),
    LineForm("stream Y", "stores that pass the caches by", "tensor"),
    LineForm(
        "prefetch W at k ahead 2",
        "elements asked for some iterations before they are read",
        "tensor",
        clauses=(ClauseForm("at", "loop"), ClauseForm("ahead", "count")),
    ),
    LineForm("double_buffer As", "one copy filled while the other is read", "stage"),
    LineForm(
        "tensorize ii with vpdpbusd",
        "this loop and what is inside replaced by an instruction",
        clauses=(ClauseForm("with", "intrinsic"),),
    ),
    LineForm("bind io to block.x", "iterations on the threads of a GPU", clauses=(ClauseForm("to", "thread"),)),
    LineForm(
        "cooperate As, Bs over ty, tx",
        "copies filled by all threads of these loops together",
        "stage",
        clauses=(ClauseForm("over", "loop"),),
    ),
    LineForm("fast_math", "floating-point arithmetic may be rearranged in this op", "none", least=0),
    LineForm("apply gemm_tile(Y, i, j, k, mr=8)", "the lines of a tactic", "tactic", effect="apply"),
)

LINES: dict[str, LineForm] = {row.verb: row for row in _ROWS}

THREADS: tuple[str, ...] = (
    *(f"{level}.{axis}" for level in ("block", "thread", "vthread") for axis in "xyz"),
    "vthread",
)
"""What `bind` binds to."""
