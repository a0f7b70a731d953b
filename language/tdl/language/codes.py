"""The table of diagnostic codes. Each has a page `docs/errors/<code>.md` and a test `tests/diagnostics/<code>.md`."""

from __future__ import annotations

CODES: dict[str, str] = {
    # text
    "encoding": "the file is not UTF-8",
    "syntax": "the text is not TDL at this place",
    "number": "a number is not written as one",
    # names
    "unknown-name": "a name that nothing declares",
    "duplicate-name": "a name declared twice in one scope",
    "not-a-value": "a name used as what it is not",
    "import": "an import that cannot be followed",
    # types
    "dtype": "dtypes that do not agree, or that an operation does not take",
    "literal": "a literal that its type cannot hold",
    "arguments": "a call with the wrong arguments",
    "parameter": "a compile-time parameter with the wrong kind of value",
    # shapes
    "rank": "a tensor read or written with the wrong number of subscripts",
    "shape": "dimensions that do not agree",
    "unsolved-dimension": "a dimension that no argument can fix",
    "fact": "a `where` fact that does not hold",
    # definitions
    "definition": "a definition that is not formed as one",
    "missing-output": "an output that no definition gives",
    "unbounded-index": "an index whose range cannot be found",
    "ambiguous-range": "an index with several bounds of which none is the tightest",
    "out-of-bounds": "an access outside a tensor",
    "uncovered": "an element that no definition gives",
    "overlap": "an element that two definitions give",
    "cycle": "a tensor that depends on itself in no order",
    "boundary": "a boundary that cannot be used here",
    "reducer": "a reducer that is not formed as one",
    "undecided": "a question that could not be decided within the budget",
    # schedules
    "schedule": "a schedule line that is not formed as one",
    "unknown-loop": "a loop or stage that the schedule does not have",
    "race": "iterations that may not run at the same time",
    "order": "an order of loops that breaks a recurrence",
    "placement": "a stage that cannot be computed or stored at that loop",
    "cache": "a copy that cannot be made there",
    "tensorize": "loops that are not what an intrinsic computes, or an intrinsic that cannot be used",
    # tests
    "test": "a test or bench whose arguments do not fit",
}
