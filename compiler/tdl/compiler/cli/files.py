"""Finding, reading and replacing files, with a clear message for each way that can fail."""

from __future__ import annotations

import difflib
import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tdl.compiler.cli.fault import ERRORS, Fault
from tdl.language.decode import decode
from tdl.language.diagnostic import Diagnostic
from tdl.language.source import Source

STDIN = "-"


def find_sources(paths: Sequence[str]) -> list[str]:
    """The files that are meant, each once: directories are searched for `*.tdl`, except below hidden ones."""
    found: dict[str, None] = {}
    for path in paths:
        if path != STDIN and os.path.isdir(path):
            inside = list(_search(path))
            if not inside:
                raise Fault(f"no .tdl file in directory {path}")
            found.update(dict.fromkeys(inside))
        else:
            found[path] = None
    return list(found)


def _search(directory: str) -> Iterator[str]:
    for folder, names, files in os.walk(directory):
        names[:] = sorted(name for name in names if not name.startswith("."))
        yield from (os.path.join(folder, file) for file in sorted(files) if file.endswith(".tdl"))


def read_bytes(path: str) -> bytes:
    """The content of a file, or of standard input for `-`."""
    if not path:
        raise Fault("the name of a file is empty")
    try:
        return sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()
    except OSError as error:
        raise unreachable(path, error) from None


def read_source(path: str) -> tuple[Source, Diagnostic | None]:
    """The text, and the diagnostic if it is not UTF-8."""
    return decode("<stdin>" if path == STDIN else path, read_bytes(path))


def read_text(path: str) -> Source:
    """The text; bytes that are not UTF-8 end the command."""
    source, fault = read_source(path)
    if fault is not None:
        raise Fault(f"{source.path}: {fault.message}", fault.notes[0], ERRORS)
    return source


def unreachable(path: str, error: OSError) -> Fault:
    """Why a file cannot be read or written, in words."""
    match error:
        case FileNotFoundError():
            return Fault(f"no such file: {path}", _similar(path))
        case IsADirectoryError():
            return Fault(f"{path} is a directory, not a file")
        case PermissionError():
            return Fault(f"no permission for {path}")
    return Fault(f"{path}: {error.strerror or error}")


def _similar(path: str) -> str:
    folder, name = os.path.split(path)
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return f"there is no directory {folder}"
    close = difflib.get_close_matches(name, names, 1)
    return f"did you mean {os.path.join(folder, close[0])}?" if close else ""


def replace_file(path: str, data: bytes) -> None:
    """Put new content in place in one step: a reader sees the old file or the new one, and a failure leaves the old.

    The mode is kept, and a link is followed. The new file is made beside the old one.
    """
    target = Path(os.path.realpath(path))
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, _mode(target))
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise unreachable(path, error) from None


def _mode(target: Path) -> int:
    """The mode of the file to be replaced, or what a new file would get."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
