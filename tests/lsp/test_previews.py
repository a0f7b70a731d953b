"""Generated code beside its source, through our own request and as virtual documents."""

from __future__ import annotations

import json
import re
from urllib.parse import quote

import pytest

from tests.lsp.client import ROOT, Client, ServerError

URI = "file:///nowhere/product.tdl"
LINES = """\
op product(A: f32[M, K], B: f32[K, N]) -> C: f32[M, N] {
    C[i, j] = sum(A[i, k] * B[k, j] for k)
}
schedule product for cpu {
    split C.i by 4 -> io, ii
    reorder io, C.k, ii, C.j
    vectorize C.j by 4
}
bench square: product(M=64, K=64, N=64)
test odd: product(M=5, K=3, N=7)
"""


@pytest.fixture
def opened(client: Client) -> Client:
    client.initialise()
    client.open(URI, LINES)
    return client


def preview(client: Client, line: int, **more: object) -> dict:
    position = {"line": line, "character": 4}
    return client.request("tdl/preview", {"textDocument": {"uri": URI}, "position": position, **more})


def test_nest_with_links_both_ways(opened: Client) -> None:
    shown = preview(opened, 0)
    assert shown["title"] == "product, loops at M=64 K=64 N=64"
    lines = shown["text"].splitlines()
    by_line = {link["line"]: link for link in shown["links"]}
    (loop,) = (number for number, line in enumerate(lines) if line.strip().startswith("for io"))
    assert by_line[loop]["step"] == 2  # the line that put it where it is
    assert by_line[loop]["schedule"]["range"]["start"] == {"line": 5, "character": 4}
    update = next(number for number, line in enumerate(lines) if "+=" in line)
    assert by_line[update]["source"]["range"]["start"]["line"] == 1
    assert by_line[update]["source"]["uri"] == URI
    assert [place["range"]["start"]["line"] for place in shown["steps"]] == [4, 5, 6]


def test_a_step_says_what_its_line_changed(opened: Client) -> None:
    shown = preview(opened, 4, step="cursor")
    assert shown["title"] == "product, loops after 1 line at M=64 K=64 N=64"
    lines = shown["text"].splitlines()
    added = [lines[number].split("#")[0].strip() for number in shown["changes"]["added"]]
    assert added == ["for io in 0..16", "for ii in 0..4", "i = 4*io + ii", "i = 4*io + ii"]
    assert [each["text"].split("#")[0].strip() for each in shown["changes"]["removed"]] != []


@pytest.mark.parametrize("stage", ["kernel", "c", "llvm-made", "llvm", "asm"])
def test_code_links_to_its_definition_and_its_schedule_line(opened: Client, stage: str) -> None:
    shown = preview(opened, 0, stage=stage)
    places = {link["source"]["range"]["start"]["line"] for link in shown["links"] if "source" in link}
    assert places == {1}
    assert {link["step"] for link in shown["links"] if "step" in link} >= {2}
    for noise in ("!dbg", "DILocation", "\t.loc", ".cfi_"):
        assert noise not in shown["text"]


def test_assembly_says_what_its_hot_loop_is_made_of(opened: Client) -> None:
    shown = preview(opened, 0, stage="asm")
    loop = shown["hotLoop"]
    assert loop["vectorBits"] >= 128
    assert sum(loop["counts"].values()) > 0
    assert 0 < loop["startLine"] < loop["endLine"] < len(shown["text"].splitlines())


def test_sizes_of_the_case_at_the_cursor(opened: Client) -> None:
    assert preview(opened, 9)["title"] == "product, loops at M=5 K=3 N=7"
    assert preview(opened, 0, sizes="test")["title"] == "product, loops at M=5 K=3 N=7"
    assert preview(opened, 0, sizes={"M": 8})["title"] == "product, loops at M=8"
    assert preview(opened, 0, sizes="open")["title"] == "product, loops at open sizes"


def test_a_virtual_document_is_the_same_text_and_follows_edits(client: Client) -> None:
    client.initialise({"workspace": {"textDocumentContent": {}}})
    client.open(URI, LINES)
    client.diagnostics(URI)
    shown = preview(client, 0)
    content = client.request("workspace/textDocumentContent", {"uri": shown["uri"]})
    assert content["text"] == shown["text"]
    place = {"start": {"line": 4, "character": 17}, "end": {"line": 4, "character": 18}}
    client.change(URI, 2, {"range": place, "text": "8"})
    assert client.wait_for("workspace/textDocumentContent/refresh")["uri"] == shown["uri"]
    assert "0..8" in client.request("workspace/textDocumentContent", {"uri": shown["uri"]})["text"]


def test_the_scheme_of_virtual_documents_is_advertised(client: Client) -> None:
    capabilities = client.initialise()["capabilities"]
    assert capabilities["workspace"]["textDocumentContent"] == {"schemes": ["tdl-preview"]}


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"stage": "gpu"}, "there is no stage `gpu`"),
        ({"sizes": "large"}, "`product` has no test or bench `large`"),
        ({"step": 9}, "the schedule of `product` has 3 lines, and no step 9"),
        ({"op": "nothing"}, "there is no op `nothing`"),
        ({"sizes": {"Q": 3}}, "Q"),
    ],
)
def test_what_cannot_be_shown_is_said(opened: Client, params: dict, words: str) -> None:
    with pytest.raises(ServerError, match=words):
        preview(opened, 0, **params)


def test_a_uri_that_is_no_preview(opened: Client) -> None:
    with pytest.raises(ServerError, match="is no preview"):
        opened.request("workspace/textDocumentContent", {"uri": "tdl-preview:/x.s"})
    gone = f"tdl-preview:/x.s?stage=asm&op=x&uri={quote('file:///nowhere/gone.tdl', safe='')}"
    with pytest.raises(ServerError, match=r"there is no file:///nowhere/gone\.tdl"):
        opened.request("workspace/textDocumentContent", {"uri": gone})


def test_the_examples_of_the_manual(opened: Client) -> None:
    page = (ROOT / "docs" / "lsp.md").read_text(encoding="utf-8")
    examples = [json.loads(each) for each in re.findall(r"```json\n(.*?)```", page, re.DOTALL)]
    (request,) = [each for each in examples if each.get("step") == "cursor"]
    assert request["position"] == {"line": 4, "character": 4}
    (wanted,) = [each for each in examples if {"hotLoop", "text"} <= each.keys()]
    shown = preview(opened, 4, stage=request["stage"], sizes=request["sizes"], step=request["step"])
    assert shown.keys() == wanted.keys()
    head, _ = wanted["text"].split("...")
    assert shown["text"].startswith(head.rstrip())
    assert shown["changes"]["removed"][0] == wanted["changes"]["removed"][0]
    for name in ("title", "op", "stage", "step", "languageId", "version", "hotLoop", "refused"):
        assert shown[name] == wanted[name]
    (loop,) = [each for each in examples if "vectorBits" in each]
    assert preview(opened, 0, stage="asm")["hotLoop"].keys() == loop.keys()
