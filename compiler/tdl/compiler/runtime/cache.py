"""Object code kept on disk between runs. Every way in which a file can be wrong counts as not having it.

A file is named by a digest of everything its code follows from: the LLVM text, the CPU, LLVM's version and ours. It
holds a mark, that digest, the length and a digest of the code, then the code. It is written beside its place and moved
there at once, so that another process sees all of it or nothing.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from tdl.compiler.backends.llvm.target import Target
from tdl.compiler.version import VERSION

_MARK = b"TDL object 1\n"
_DIGEST = 32
_HEAD = len(_MARK) + _DIGEST + 8 + _DIGEST


def cache_directory() -> Path:
    """Where object code is kept: `TDL_CACHE_DIR`, or the user's cache directory."""
    chosen = os.environ.get("TDL_CACHE_DIR")
    if chosen:
        return Path(chosen)
    from platformdirs import user_cache_path

    return user_cache_path("tdl", appauthor=False)


def cache_key(ir: str, target: Target) -> str:
    digest = blake2b(digest_size=_DIGEST)
    for part in (VERSION, target.llvm_version, target.triple, target.cpu, target.features, ir):
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    return digest.hexdigest()


def read(key: str) -> bytes | None:
    """The code kept under a key, if all of it is there and is what was written."""
    try:
        content = _path(key).read_bytes()
    except OSError:
        return None
    code = content[_HEAD:]
    return code if content[:_HEAD] == _head(key, code) else None


def write(key: str, code: bytes) -> None:
    """Keep code under a key. A cache that cannot be written is no error: the code is compiled again next time."""
    path = _path(key)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(temporary, "xb") as file:
            file.write(_head(key, code) + code)
        os.replace(temporary, path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()


def _path(key: str) -> Path:
    return cache_directory() / f"{key}.o"


def _head(key: str, code: bytes) -> bytes:
    return _MARK + bytes.fromhex(key) + len(code).to_bytes(8, "little") + blake2b(code, digest_size=_DIGEST).digest()
