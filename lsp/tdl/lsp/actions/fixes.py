"""What the checkers propose themselves: the closest name, a cast, a boundary.

unknown name `tahn`        change to `tanh`
f32 and f64                convert to f32 · convert to f64
"""

from __future__ import annotations

from collections.abc import Iterator

from tdl.language.diagnostic import Diagnostic
from tdl.lsp.actions.candidate import QUICK_FIX, Candidate, Choice, Edit
from tdl.lsp.snapshot import Snapshot


def proposed_fixes(snapshot: Snapshot, found: Diagnostic) -> Iterator[Choice]:
    """The fixes that come with an error; the only one is the preferred one."""
    for fix in found.fixes:
        edits = (Edit(fix.span, fix.text),)
        yield (Candidate("fix", fix.title, QUICK_FIX, edits, mends=found, is_preferred=len(found.fixes) == 1),)
