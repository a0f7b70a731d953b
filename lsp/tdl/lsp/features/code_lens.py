"""Lenses: lines of commands above what they are about."""

from __future__ import annotations

from collections.abc import Callable

from lsprotocol import types
from tdl.lsp.features.run_lenses import run_lenses
from tdl.lsp.snapshot import Snapshot

PROVIDERS: tuple[Callable[[Snapshot], list[types.CodeLens]], ...] = (run_lenses,)


def code_lens(snapshot: Snapshot, params: types.CodeLensParams) -> list[types.CodeLens]:
    """The lenses of every provider."""
    return [lens for provide in PROVIDERS for lens in provide(snapshot)]
