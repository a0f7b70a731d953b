"""Changes of a document tried in a process beside the server."""

from __future__ import annotations

import asyncio
from typing import Any

from tdl.lsp.actions.candidate import Choice
from tdl.lsp.actions.trial import Change
from tdl.lsp.asking import Objections
from tdl.lsp.previews import texts_of
from tdl.lsp.protocol import CONTENT_MODIFIED, Refused
from tdl.lsp.session import Session
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.workers import WorkerFailed


async def ask(session: Session, snapshot: Snapshot, choice: Choice) -> Objections:
    """The objections to changes of a document, which is refused once it was edited. A process that falls is an
    objection, too; the next choice starts another."""
    if session.is_stale(snapshot):
        raise Refused("the document was edited since", CONTENT_MODIFIED)
    work = asyncio.ensure_future(session.workers.tries.run("try", _payload(snapshot, choice)))
    work.add_done_callback(_seen)
    try:
        found: Objections = await asyncio.shield(work)  # a request that is cancelled does not end the process
    except WorkerFailed as error:
        return [str(error)]
    return found


def _payload(snapshot: Snapshot, choice: Choice) -> dict[str, Any]:
    changes = [Change.of(candidate) for candidate in choice]
    plain = [
        {"edits": [[each.span.start, each.span.end, each.text] for each in change.edits], "mends": change.mends}
        for change in changes
    ]
    return {**texts_of(snapshot), "choice": plain}


def _seen(work: asyncio.Future[Any]) -> None:
    """So that nothing is said of a failure that nobody waits for any more."""
    if not work.cancelled():
        work.exception()
