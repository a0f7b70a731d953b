"""What the server does with the help of its workers: previews, their virtual documents, and commands."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from tdl.compiler.pages import page_path
from tdl.language.codes import CODES
from tdl.lsp.asking import meanwhile
from tdl.lsp.commands import COMMANDS, Context
from tdl.lsp.limits import why_not_checked
from tdl.lsp.previews import SCHEME, Wanted, answer, payload, position_of, wanted_at, wanted_by
from tdl.lsp.progress import ProgressBars
from tdl.lsp.protocol import CONTENT_MODIFIED, Refused
from tdl.lsp.session import Session
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.studio import studio_answer, studio_payload
from tdl.lsp.tries import ask
from tdl.lsp.tweaks import PARTS, tweaks
from tdl.lsp.workers import Progress, WorkerFailed

PREVIEW = "tdl/preview"
STATUS = "tdl/status"
TWEAKS = "tdl/tweaks"
MACHINE = "tdl/machine"
CODES_ASKED = "tdl/codes"
PAGE = "tdl/page"
STUDIO = "tdl/studio"


class Services:
    """Asynchronous answers; each ends with its request if that is cancelled."""

    def __init__(self, server: LanguageServer, session: Session) -> None:
        self._server = server
        self._session = session
        self.bars = ProgressBars(server.protocol)

    async def preview(self, request: Any) -> Any:
        """`tdl/preview`: an op at a stage, with what each line came from."""
        params = request if isinstance(request, dict) else {}
        if "textDocument" not in params:
            wanted = wanted_by(str(params.get("uri", "")))
        else:
            wanted = wanted_at(self._snapshot(_uri(params["textDocument"])), params)
        return await self._made(wanted)

    async def tweaks(self, request: Any) -> Any:
        """`tdl/tweaks`: what can be done to the schedule at a position."""
        params = request if isinstance(request, dict) else {}
        snapshot = self._snapshot(_uri(params.get("textDocument")))
        offset = snapshot.offset(position_of(params.get("position")))
        parts, loop = params.get("parts", PARTS), params.get("loop")
        if not isinstance(parts, list | tuple) or not set(map(str, parts)) <= set(PARTS):
            raise Refused(f"`parts` is a list of some of {', '.join(PARTS)}")
        asking = tweaks(snapshot, offset, parts, loop if isinstance(loop, str) else None)
        return await meanwhile(asking, partial(ask, self._session, snapshot))

    async def content(self, params: types.TextDocumentContentParams) -> types.TextDocumentContentResult:
        """`workspace/textDocumentContent`: the text of a virtual document."""
        wanted = wanted_by(params.uri)
        self._session.watch(wanted.uri, params.uri)
        return types.TextDocumentContentResult((await self._made(wanted))["text"])

    async def execute(self, params: types.ExecuteCommandParams) -> Any:
        """`workspace/executeCommand`: one of our commands, shown as work under way."""
        verb, run = COMMANDS.get(params.command, (None, None))
        if verb is None or run is None:
            raise Refused(f"there is no command `{params.command}`", types.ErrorCodes.InvalidParams.value)
        arguments = params.arguments[0] if params.arguments else None
        if not isinstance(arguments, dict):
            raise Refused(f'`{params.command}` takes one argument, {{"uri", "name"}}')
        snapshot = self._snapshot(str(arguments.get("uri", "")))
        token = await self.bars.token(params.work_done_token, self._session.client)
        work = partial(self._run, run, snapshot, arguments)
        return await self.bars.run(token, f"{verb} {arguments.get('name', '')}", work)

    async def _run(self, run: Any, snapshot: Snapshot, arguments: dict[str, Any], report: Progress) -> Any:
        context = Context(self._session, self._say, self._show, report, self._apply)
        try:
            result = await run(context, snapshot, arguments)
        except WorkerFailed as error:
            raise Refused(str(error)) from None
        self._refresh_lenses()
        return result

    async def status(self, _: Any) -> Any:
        """`tdl/status`: the processes at work and the documents that are open, for reports of faults."""
        workers = self._session.workers
        return {
            "version": self._server.version,
            "process": os.getpid(),
            "workers": {worker.name: worker.identity for worker in workers.all},
            "positionEncoding": self._session.workspace.encoding.value,
            "documents": [
                {"uri": each.uri, "version": each.version, "text": each.source.text}
                for each in self._session.workspace.documents.values()
            ],
        }

    async def studio(self, request: Any) -> Any:
        """`tdl/studio`: an op as the Schedule Studio shows it."""
        params = request if isinstance(request, dict) else {}
        snapshot = self._snapshot(_uri(params.get("textDocument")))
        wanted = wanted_at(snapshot, {**params, "stage": "nest"})
        self._refuse_if_stale(snapshot)
        made = await self._job("studio", studio_payload(snapshot, wanted, bool(params.get("assembly"))))
        self._refuse_if_stale(snapshot)
        return studio_answer(snapshot, wanted, made)

    async def machine(self, _: Any) -> Any:
        """`tdl/machine`: what code is made for."""
        return await self._job("machine", {})

    async def codes(self, _: Any) -> Any:
        """`tdl/codes`: the codes of diagnostics, each with its meaning."""
        return dict(CODES)

    async def page(self, request: Any) -> Any:
        """`tdl/page`: what `tdlc explain` says of a code, as Markdown."""
        code = request.get("code") if isinstance(request, dict) else None
        if code not in CODES:
            raise Refused(f"there is no code `{code}` (there are {', '.join(CODES)})")
        return {"code": code, "text": page_path(code).read_text(encoding="utf-8")}

    # ----

    async def _job(self, job: str, payload: dict[str, Any]) -> Any:
        """The result of a job that makes code, refused in the words of the worker where it has none."""
        try:
            return await self._session.workers.code.run(job, payload)
        except WorkerFailed as error:
            raise Refused(str(error)) from None

    def _snapshot(self, uri: str) -> Snapshot:
        snapshot = self._session.snapshot(uri)
        if snapshot is None:
            raise Refused(f"there is no {uri}: it is not open, and no file that can be read")
        reason = why_not_checked(snapshot.source)
        if reason is not None:
            raise Refused(reason)
        return snapshot

    async def _made(self, wanted: Wanted) -> dict[str, Any]:
        snapshot = self._snapshot(wanted.uri)
        self._refuse_if_stale(snapshot)
        made = await self._job("preview", payload(snapshot, wanted))
        self._refuse_if_stale(snapshot)
        return answer(snapshot, wanted, made)

    def _refuse_if_stale(self, snapshot: Snapshot) -> None:
        if self._session.is_stale(snapshot):
            raise Refused("the document was edited since", CONTENT_MODIFIED)

    def _say(self, kind: types.MessageType, message: str) -> None:
        self._server.window_show_message(types.ShowMessageParams(kind, message))

    async def _apply(self, edit: types.WorkspaceEdit, title: str) -> bool:
        """Whether the client made an edit; refused where it takes none from a server."""
        workspace = self._session.client.workspace
        if workspace is None or not workspace.apply_edit:
            raise Refused("this client takes no edits from the server")
        try:
            answer = await self._server.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit, title))
        except JsonRpcException as error:
            raise Refused(f"the client did not make the edit: {error.message}") from None
        return answer.applied

    def _show(self, uri: str) -> None:
        window, workspace = self._session.client.window, self._session.client.workspace
        can_show = window is not None and window.show_document is not None and window.show_document.support
        if can_show and workspace is not None and workspace.text_document_content is not None:
            self._server.window_show_document(types.ShowDocumentParams(uri))

    def _refresh_lenses(self) -> None:
        workspace = self._session.client.workspace
        if workspace is not None and workspace.code_lens is not None and workspace.code_lens.refresh_support:
            self._server.workspace_code_lens_refresh(None)


def _uri(document: Any) -> str:
    uri = document.get("uri") if isinstance(document, dict) else None
    if not isinstance(uri, str):
        raise Refused("a textDocument is {uri}")
    return uri


__all__ = ["CODES_ASKED", "MACHINE", "PAGE", "PREVIEW", "SCHEME", "STATUS", "STUDIO", "TWEAKS", "Services"]
