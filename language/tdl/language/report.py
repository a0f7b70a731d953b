"""Where checkers put what they find, so that one pass reports all of it and later passes do not repeat it."""

from __future__ import annotations

from dataclasses import dataclass, field

from tdl.language.diagnostic import Diagnostic, Fix, Label
from tdl.language.source import Span


@dataclass
class Report:
    """`broken` names tensors already known to be wrong: nothing that follows from them is reported again."""

    diagnostics: list[Diagnostic] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)

    def error(
        self,
        code: str,
        message: str,
        span: Span,
        *notes: str,
        secondary: tuple[Label, ...] = (),
        fixes: tuple[Fix, ...] = (),
    ) -> None:
        diagnostic = Diagnostic(code, message, span, notes, secondary, fixes)
        if diagnostic not in self.diagnostics:
            self.diagnostics.append(diagnostic)

    @property
    def has_errors(self) -> bool:
        return any(diagnostic.severity == "error" for diagnostic in self.diagnostics)


@dataclass(frozen=True)
class Verdict:
    """What is wrong with a function, reducer or constant. The uses of one that is not usable are silent."""

    diagnostics: tuple[Diagnostic, ...]
    is_usable: bool
