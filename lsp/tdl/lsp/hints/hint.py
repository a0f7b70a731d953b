"""What is shown in a line that nobody wrote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Topic = Literal["ranges", "types", "loops", "parameters"]
"""The names of the settings."""


@dataclass(frozen=True, slots=True)
class Hint:
    """`offset` is that in the text of the item, `tooltip` Markdown."""

    offset: int
    label: str
    topic: Topic
    tooltip: str = ""
