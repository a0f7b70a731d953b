"""Why a line of a schedule is legal, by its verb: what the compiler has proved before it took the line."""

from __future__ import annotations

REASONS: dict[str, str] = {
    "split": "every iteration still runs once, in the same order",
    "tile": "every iteration still runs once, and none before one whose result it needs",
    "fuse": "every iteration still runs once, in the same order",
    "reorder": "no iteration runs before one whose result it needs",
    "skew": "every iteration needs only what earlier ones of the wavefront gave",
    "unroll": "the same iterations in the same order",
    "parallel": "no iteration touches an element that another one writes",
    "vectorize": "no lane touches what another one writes; a reduction gathers a partial result in each lane",
    "peel": "the full iterations, then the partial one, as before",
    "inline": "what is computed again is the same every time",
    "compute": "what is read there of it has been computed there before",
    "store": "what is read of it is still kept where it is read",
    "fold": "no two elements that are needed at one time share a place in the ring",
    "cache": "what is read was copied in before, and exactly what is written is copied out",
    "layout": "every element has a place of its own",
    "rfactor": "the reducer is associative and commutative, so parts of it may be combined first",
    "stream": "it changes how values are stored, and none of them",
    "prefetch": "it changes when values are fetched, and none of them",
    "double_buffer": "the copy is filled by one iteration, and read by the next",
    "tensorize": "the loop computes exactly what the instruction means, on full tiles",
    "fast_math": "you allow it: results may differ in their last digits",
    "apply": "every line of the tactic is",
}
