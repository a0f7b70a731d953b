"""Where the page of a diagnostic code is: in the installed package, or in the checkout."""

from __future__ import annotations

from pathlib import Path

_INSTALLED = Path(__file__).parent / "docs" / "errors"
_CHECKOUT = Path(__file__).parents[3] / "docs" / "errors"


def page_path(code: str) -> Path:
    """The file of a code of `codes.CODES`."""
    folder = _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT
    return folder / f"{code}.md"
