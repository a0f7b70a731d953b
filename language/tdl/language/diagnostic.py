"""The one object that says something is wrong. Terminal, JSON and editor render the same one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from tdl.language.source import Span

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Label:
    """A further place with a word about it. `path` is None for the file of the diagnostic itself."""

    span: Span
    text: str
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Fix:
    """A text edit that would mend the cause: replace `span` by `text`."""

    title: str
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """`code` is a key of `codes.CODES`; `notes` carry counterexamples and remedies, one sentence each."""

    code: str
    message: str
    primary: Span
    notes: tuple[str, ...] = ()
    secondary: tuple[Label, ...] = ()
    fixes: tuple[Fix, ...] = ()
    severity: Severity = "error"

    def shifted(self, offset: int) -> Diagnostic:
        """The same diagnostic with every place of its own file moved: from item-relative to absolute."""
        return replace(
            self,
            primary=self.primary.shifted(offset),
            secondary=tuple(
                label if label.path is not None else replace(label, span=label.span.shifted(offset))
                for label in self.secondary
            ),
            fixes=tuple(replace(fix, span=fix.span.shifted(offset)) for fix in self.fixes),
        )


class InternalError(Exception):
    """A fault of ours, with the state that shows it. Never caused by a program, however wrong it is."""
