"""Files as clients name them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tdl.language.analysis import standard
from tdl.lsp.uris import import_path, path_of, uri_of


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b.tdl", "/a/b.tdl"),
        ("file:///a%20b/gr%C3%B6%C3%9Fe.tdl", "/a b/größe.tdl"),
        ("file:///a/größe.tdl", "/a/größe.tdl"),
        ("file:///a/%23x%3F.tdl", "/a/#x?.tdl"),
        ("file:///a/./b//c.tdl", "/a/b/c.tdl"),
        ("untitled:Untitled-1", "untitled:Untitled-1"),
    ],
)
def test_paths(uri: str, path: str) -> None:
    assert path_of(uri) == path
    assert path_of(uri_of(path)) == path


def test_a_module_of_the_standard_library_is_a_file() -> None:
    path = Path(path_of(uri_of("<std.tactics>")))
    found = standard("std.tactics")
    assert found is not None
    assert path.read_text(encoding="utf-8") == found.text
    assert import_path(str(path)) == "<std.tactics>"
    assert import_path("/std/tactics.tdl") == "/std/tactics.tdl"
