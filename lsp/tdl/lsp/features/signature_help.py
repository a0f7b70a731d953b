"""How what is being written is written: calls, lines of schedules, subscripts, with the part that the cursor is in.

mix(X[i], ‸             mix(a: f32, b: f32, t: f32) -> f32, at `b`
split C.i by ‸          split loop by size -> outer, inner, at `by size`; the other forms of the line beside it
"""

from __future__ import annotations

from lsprotocol import types
from tdl.lsp.calls.bracket import brackets_at
from tdl.lsp.calls.callables import of_bracket
from tdl.lsp.calls.form import Form, Part
from tdl.lsp.calls.lines import FORMS, of_line
from tdl.lsp.completion.place import Place, place_at
from tdl.lsp.documentation import markup
from tdl.lsp.positions import Encoding, units
from tdl.lsp.snapshot import Snapshot

OPTIONS = types.SignatureHelpOptions(["(", "[", ",", " "], [")", "]", "="])


def signature_help(snapshot: Snapshot, params: types.SignatureHelpParams) -> types.SignatureHelp | None:
    """The forms of the call or line at the cursor, and which of them it is."""
    place = place_at(snapshot, snapshot.offset(params.position))
    forms, chosen = _forms(place)
    if not forms:
        return None
    shown = _Client.of(snapshot.client)
    return types.SignatureHelp([shown.signature(form) for form in forms], chosen, _active(forms[chosen]))


def _forms(place: Place) -> tuple[list[Form], int]:
    for bracket in brackets_at(place.cursor.tokens):
        found = of_bracket(bracket, place)
        if found:
            return found, len(found) - 1 if bracket.position and "for" not in bracket.inside else 0
    if place.cursor.statement == "schedule_line" and place.tokens[:1] and place.tokens[0] in FORMS:
        return of_line(place)
    return [], 0


def _active(form: Form) -> int:
    """The part that is being written; behind the last where it is none, as not every client takes null for that."""
    return len(form.parts) if form.active is None else form.active


class _Client:
    """Signatures as a client takes them."""

    def __init__(self, has_offsets: bool, has_markdown: bool) -> None:
        self._has_offsets, self._has_markdown = has_offsets, has_markdown

    @classmethod
    def of(cls, capabilities: types.ClientCapabilities) -> _Client:
        document = capabilities.text_document
        help = None if document is None else document.signature_help
        information = None if help is None else help.signature_information
        if information is None:
            return cls(False, False)
        parameter = information.parameter_information
        formats = information.documentation_format or ()
        return cls(
            parameter is not None and bool(parameter.label_offset_support),
            types.MarkupKind.Markdown in formats,
        )

    def signature(self, form: Form) -> types.SignatureInformation:
        return types.SignatureInformation(
            form.label,
            documentation=self._said(form.doc),
            parameters=[self._parameter(form.label, part) for part in form.parts],
            active_parameter=_active(form),
        )

    def _parameter(self, label: str, part: Part) -> types.ParameterInformation:
        return types.ParameterInformation(
            (_units(label, part.start), _units(label, part.end)) if self._has_offsets else label[part.start : part.end],
            self._said(part.doc),
        )

    def _said(self, text: str) -> types.MarkupContent | None:
        return markup(text, is_markdown=self._has_markdown) if text else None


def _units(label: str, end: int) -> int:
    """An offset in a label, which LSP counts in UTF-16."""
    return units(label[:end], Encoding.Utf16)
