"""Texts that would hold up everything else: what is longer than a program ever is can be edited, and is not checked."""

from __future__ import annotations

from tdl.language.source import Source

MOST_CHARACTERS = 500_000
"""About 12,000 lines. Checking so many from nothing takes some seconds, and the server does nothing else meanwhile."""


def why_not_checked(source: Source) -> str | None:
    """Why a text is not checked; None for one that is."""
    if len(source.text) <= MOST_CHARACTERS:
        return None
    length = f"it has {len(source.text):,} characters, and the server checks at most {MOST_CHARACTERS:,}"
    return f"this text is not checked: {length}. Split it into modules, or run `tdlc check`"
