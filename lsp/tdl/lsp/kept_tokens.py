"""The colours that clients were sent, so that the next answer can be what changed."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from dataclasses import dataclass, field
from hashlib import blake2b

_MOST = 16


@dataclass
class KeptTokens:
    """The last answers by their names, which follow from what is in them."""

    _kept: OrderedDict[str, list[int]] = field(default_factory=OrderedDict)

    def keep(self, data: list[int]) -> str:
        """Remember an answer; gives its name."""
        name = blake2b(array("I", data).tobytes(), digest_size=8).hexdigest()
        self._kept[name] = data
        self._kept.move_to_end(name)
        while len(self._kept) > _MOST:
            self._kept.popitem(last=False)
        return name

    def find(self, name: str) -> list[int] | None:
        return self._kept.get(name)
