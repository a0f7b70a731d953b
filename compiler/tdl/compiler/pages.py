"""Where the pages of the documentation are: in the installed package, or in the checkout."""

from __future__ import annotations

from pathlib import Path

_INSTALLED = Path(__file__).parent / "docs"
_CHECKOUT = Path(__file__).parents[3] / "docs"


def page_path(code: str) -> Path:
    """The file of a code of `codes.CODES`."""
    return manual_path(f"errors/{code}.md")


def manual_path(name: str) -> Path:
    """A file of the documentation that is installed with the package: `language.md`."""
    return (_INSTALLED if _INSTALLED.is_dir() else _CHECKOUT) / name
