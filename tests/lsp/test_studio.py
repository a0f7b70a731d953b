"""What the Schedule Studio shows, asked over the pipe."""

from __future__ import annotations

import pytest

from tests.lsp.client import Client, ServerError

URI = "file:///nowhere/product.tdl"
TEXT = """\
op product(A: f32[M, K], B: f32[K, N]) -> C: f32[M, N] {
    C[i, j] = sum(A[i, k] * B[k, j] for k)
}
schedule product for cpu {
    knob rows = 4 in [4, 8]
    split C.i by   rows -> io, ii
    reorder io, C.k, ii, C.j
    vectorize C.j by 4
}
bench square: product(M=64, K=64, N=64)
test odd: product(M=5, K=3, N=7)
"""


@pytest.fixture
def opened(client: Client) -> Client:
    client.initialise()
    client.open(URI, TEXT)
    return client


def studio(client: Client, line: int = 3, **more: object) -> dict:
    position = {"line": line, "character": 4}
    return client.request("tdl/studio", {"textDocument": {"uri": URI}, "position": position, **more})


def test_the_nest_with_what_each_loop_touches(opened: Client) -> None:
    shown = studio(opened)
    assert (shown["op"], shown["sizes"], shown["case"], shown["version"]) == ("product", "M=64 K=64 N=64", "square", 1)
    loops = {each["name"]: each for each in shown["lines"] if each["kind"] == "loop" and each["name"]}
    assert [(name, each["extent"], each["runs"], each["depth"]) for name, each in loops.items()] == [
        ("C.io", 16, "serial", 0),
        ("C.k", 64, "serial", 1),
        ("C.ii", 4, "serial", 2),
        ("C.j", 16, "serial", 3),
        ("C.j.lane", 4, "vector", 4),
    ]
    assert loops["C.io"]["touches"]["bytes"] == 4 * (4 * 64 + 64 * 64 + 4 * 64)
    assert {"tensor": "C", "bytes": 1024, "written": True} in loops["C.k"]["touches"]["tensors"]
    assert shown["total"]["bytes"] == 3 * 64 * 64 * 4
    assert shown["work"] == {"flops": 2 * 64**3, "bytes": 3 * 64 * 64 * 4}
    update = next(each for each in shown["lines"] if "+=" in each["text"])
    assert update["source"]["range"]["start"]["line"] == 1


def test_steps_with_their_places_and_whether_they_change_the_nest(opened: Client) -> None:
    steps = studio(opened)["steps"]
    assert [(each["text"], each["changes"], each["refused"]) for each in steps] == [
        ("knob rows = 4 in [4, 8]", False, None),
        ("split C.i by rows -> io, ii", True, None),
        ("reorder io, C.k, ii, C.j", True, None),
        ("vectorize C.j by 4", True, None),
    ]
    assert [each["place"]["range"]["start"]["line"] for each in steps] == [4, 5, 6, 7]
    whole = studio(opened)["schedule"]["range"]
    assert whole == {"start": {"line": 3, "character": 0}, "end": {"line": 8, "character": 1}}


def test_the_nest_after_some_lines(opened: Client) -> None:
    assert [each["name"] for each in studio(opened, step=0)["lines"] if each.get("name")] == ["C.i", "C.j", "C.k"]
    assert studio(opened, 5, step="cursor")["step"] == 2
    with pytest.raises(ServerError, match="and no step 9"):
        studio(opened, step=9)


def test_a_refused_line_says_why(opened: Client) -> None:
    place = {"start": {"line": 7, "character": 4}, "end": {"line": 7, "character": 22}}
    opened.change(URI, 2, {"range": place, "text": "parallel C.k"})
    assert "C.k" in studio(opened)["steps"][3]["refused"]


def test_the_hot_loop_counts_among_the_limits_where_it_is_asked_for(opened: Client) -> None:
    assert studio(opened)["hotLoop"] is None
    shown = studio(opened, assembly=True)
    assert shown["hotLoop"]["vectorBits"] == 128
    if shown["machine"]["vectorBits"] > 128:
        (limit,) = [each for each in shown["limits"] if each["kind"] == "vectors"]
        assert limit["line"] == 3
        assert "128 bits" in limit["words"]


def test_other_sizes(opened: Client) -> None:
    assert studio(opened, sizes="odd")["sizes"] == "M=5 K=3 N=7"
    shown = studio(opened, sizes="open")
    assert (shown["case"], shown["work"], shown["total"]) == (None, None, None)
    assert shown["cases"] == [{"name": "square", "kind": "bench"}, {"name": "odd", "kind": "test"}]


def test_an_op_without_a_schedule(client: Client) -> None:
    client.initialise()
    client.open(URI, "op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] }\n")
    shown = studio(client, 0)
    assert shown["steps"] == []
    assert shown["lines"] != []
