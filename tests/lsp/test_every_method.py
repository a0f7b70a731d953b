"""Every method over the pipe, asked by VS Code and by the least of clients: the answers are those of the features.

The pages in `features/` are asked here once more, by clients that check what they are answered against the protocol. A
feature without pages is asked about one program.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsprotocol import converters, types
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig, LanguageClient
from tdl.lsp.protocol import Refused

from tests.lsp.client import ROOT
from tests.lsp.features.pages import FEATURES, FOLDER, Page, Question, question_of

PAGES = Path(__file__).parent / "features"
PROGRAM = """\
op double(X: f32[M, N]) -> Y: f32[M, N] {
    Y[i, j] = 2 * X[i, j] + ‸max(X[i, j], 0)
}
schedule double for cpu {
    split Y.j by 8 -> jo, ji
    vectorize ji
}
test small: double(M=2, N=9)
"""
CLIENTS = {
    "VS Code": pytest_lsp.client_capabilities("visual-studio-code"),
    "the least of clients": types.ClientCapabilities(),
}
COMMAND = [sys.executable, "-m", "tdl.compiler.cli.main", "lsp"]
PATHS = os.pathsep.join(str(ROOT / each) for each in ("grammar", "language", "compiler", "lsp"))

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning"),
]
unstructure = converters.get_converter().unstructure


def make_client() -> LanguageClient:
    """One that also takes what servers ask of an editor that can ask again."""
    client = pytest_lsp.make_test_lsp_client()
    for method in (
        types.CLIENT_REGISTER_CAPABILITY,
        types.WORKSPACE_CODE_LENS_REFRESH,
        types.WORKSPACE_INLAY_HINT_REFRESH,
        types.WORKSPACE_SEMANTIC_TOKENS_REFRESH,
    ):
        client.feature(method)(lambda _: None)
    return client


@pytest_lsp.fixture(
    scope="module",
    params=CLIENTS,
    config=ClientServerConfig(COMMAND, make_client, {**os.environ, "PYTHONPATH": PATHS}),
)
async def editor(lsp_client: LanguageClient, request: pytest.FixtureRequest) -> AsyncIterator[None]:
    folders = [types.WorkspaceFolder(f"file://{FOLDER}", "project")]
    capabilities = CLIENTS[request.param]
    await lsp_client.initialize_session(types.InitializeParams(capabilities, workspace_folders=folders))
    yield
    await lsp_client.shutdown_session()


def pages(feature: str) -> list[Page]:
    """Those of a feature that need no settings, or one about the program."""
    found = [Page.read(path) for path in sorted((PAGES / feature).glob("*.md"))]
    return [each for each in found if "json settings" not in each.blocks] or [
        Page(PAGES / feature / "program.md", {"tdl": PROGRAM})
    ]


@pytest.mark.parametrize("feature", sorted(FEATURES))
async def test_answers_are_those_of_the_feature(editor: LanguageClient, feature: str) -> None:
    for page in pages(feature):
        question = question_of(page, editor.capabilities)
        documents = question.snapshot.workspace.documents.values()
        for each in documents:
            item = types.TextDocumentItem(each.uri, "tdl", each.version, each.source.text)
            editor.text_document_did_open(types.DidOpenTextDocumentParams(item))
        try:
            assert await answered(editor, question) == expected(question), page.path.name
        finally:
            for each in documents:
                identity = types.TextDocumentIdentifier(each.uri)
                editor.text_document_did_close(types.DidCloseTextDocumentParams(identity))


async def answered(editor: LanguageClient, question: Question) -> Any:
    """What the server answers; of a refusal its words."""
    try:
        return unstructure(await editor.protocol.send_request_async(question.feature.method, question.params))
    except JsonRpcException as refusal:
        return refusal.message


def expected(question: Question) -> Any:
    try:
        return unstructure(question.answer())
    except Refused as refusal:
        return str(refusal)
