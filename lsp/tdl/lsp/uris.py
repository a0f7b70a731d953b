"""Files as clients name them: URIs against the paths that the language uses.

file:///home/a%20b/f.tdl    /home/a b/f.tdl
untitled:Untitled-1         untitled:Untitled-1: what is not on disk is its own path
(a file in the package)     <std.nn>: a module of the standard library
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path, PurePath
from urllib.parse import unquote, urlsplit

_DRIVE = re.compile(r"^/[a-zA-Z]:")


def path_of(uri: str) -> str:
    """The path of a URI, spelt as imports will spell it."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return uri
    path = unquote(parts.path)
    if os.name == "nt":  # pragma: no cover
        host = f"//{parts.netloc}" if parts.netloc else ""
        return str(PurePath(host + (path[1:] if _DRIVE.match(path) else path)))
    return str(PurePath(path))


def uri_of(path: str) -> str:
    """The URI of a path, or of a module of the standard library in the place it was installed to."""
    if path.startswith("<std") and path.endswith(">"):
        return _standard_uri(path[1:-1])
    return Path(path).as_uri() if PurePath(path).is_absolute() else path


def import_path(path: str) -> str:
    """A file of the standard library as imports spell it; any other path as it is."""
    found = PurePath(path)
    return f"<std.{found.stem}>" if found.parent == _standard_folder() and found.suffix == ".tdl" else path


@lru_cache(maxsize=256)
def _standard_uri(module: str) -> str:
    return _standard_folder().joinpath(*module.split(".")[1:]).with_suffix(".tdl").as_uri()


@lru_cache(maxsize=1)
def _standard_folder() -> Path:
    from importlib.resources import files

    return Path(str(files("tdl.language").joinpath("std")))
