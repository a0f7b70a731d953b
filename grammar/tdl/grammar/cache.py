"""A small JSON store in the user's cache folder.

Nothing here can fail a run: what cannot be read or written is not there.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import tempfile
from pathlib import Path
from typing import Any


def key_of(text: str) -> str:
    """A key for what is computed from `text` by the installed Lark."""
    spec = importlib.util.find_spec("lark")
    # Its first lines hold the version; asking importlib.metadata for it takes 25 ms.
    lark = Path(spec.origin).read_bytes() if spec is not None and spec.origin else b""
    return hashlib.sha256(lark + text.encode()).hexdigest()[:32]


def read(key: str) -> dict[str, Any] | None:
    try:
        data = json.loads(_path(key).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def write(key: str, data: dict[str, Any]) -> None:
    """Store `data` whole or not at all: another process may be reading or writing the same key."""
    try:
        path = _path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    except OSError:
        return
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(data, file, separators=(",", ":"))
        Path(temporary).replace(path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)


def _path(key: str) -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("tdl", appauthor=False) / f"grammar-{key}.json"
