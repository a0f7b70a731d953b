"""What `workspace/executeCommand` does: run a test, measure a bench, show how an op will run, change the text.

    {"command": "tdl.runTest", "arguments": [{"uri": "file:///f.tdl", "name": "odd"}]}

Each shows how far it is, can be cancelled, and answers with what it found. What runs something runs in the worker.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from lsprotocol import converters, types
from tdl.language import syntax
from tdl.lsp.actions.workspace_edits import workspace_edit
from tdl.lsp.actions.writing import first_schedule
from tdl.lsp.asking import meanwhile
from tdl.lsp.outcomes import Outcome, key_of
from tdl.lsp.previews import Wanted, answer, payload, texts_of
from tdl.lsp.protocol import Refused
from tdl.lsp.session import Session
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.tries import ask
from tdl.lsp.workers import Progress

Say = Callable[[types.MessageType, str], None]
Show = Callable[[str], None]
Apply = Callable[[types.WorkspaceEdit, str], Awaitable[bool]]


@dataclass(frozen=True)
class Context:
    """What a command may use: `say` shows a message, `show` opens a document, `apply` has the client make an edit."""

    session: Session
    say: Say
    show: Show
    report: Progress
    apply: Apply


Run = Callable[[Context, Snapshot, dict[str, Any]], Coroutine[Any, Any, Any]]


async def run_test(context: Context, snapshot: Snapshot, arguments: dict[str, Any]) -> Any:
    """Run a test; a failure names the first element that differs, with both values."""
    name = _name(arguments, "test")
    _check_allowed(context)
    found = await context.session.workers.runs.run("test", {**texts_of(snapshot), "name": name}, context.report)
    words = "passed" if found["passed"] else found["message"]
    context.say(
        types.MessageType.Info if found["passed"] else types.MessageType.Error,
        f"test {name} {words}" if found["passed"] else f"test {name}: {words}",
    )
    _keep(context, snapshot, name, words, found["passed"], found)
    return found


async def run_bench(context: Context, snapshot: Snapshot, arguments: dict[str, Any]) -> Any:
    """Measure a bench: GFLOP/s, the share of the machine's peak, and the change since it last ran."""
    name = _name(arguments, "bench")
    _check_allowed(context)
    job = {**texts_of(snapshot), "name": name, **({"seconds": arguments["seconds"]} if "seconds" in arguments else {})}
    found = await context.session.workers.runs.run("bench", job, context.report)
    before = context.session.workspace.outcomes.last(snapshot.source.path, name)
    change = None if before is None or "seconds" not in before.figures else before.figures["seconds"] / found["seconds"]
    words = bench_words(found, change)
    if not arguments.get("quiet"):
        context.say(types.MessageType.Info, f"bench {name}: {words}")
    _keep(context, snapshot, name, words, True, found)
    return {**found, "change": change, "message": words}


async def show_plan(context: Context, snapshot: Snapshot, arguments: dict[str, Any]) -> Any:
    """The loops of an op as they will run, in a document of their own where the client can show one."""
    stage = arguments.get("stage", "nest")
    wanted = Wanted(snapshot.document.uri, _name(arguments, "op"), stage, arguments.get("sizes", "bench"))
    made = await context.session.workers.code.run("preview", payload(snapshot, wanted), context.report)
    shown = answer(snapshot, wanted, made)
    context.show(shown["uri"])
    return shown


async def write_schedule(context: Context, snapshot: Snapshot, arguments: dict[str, Any]) -> Any:
    """A first schedule of an op, of the standard tactics that fit it best."""
    name = _name(arguments, "op")
    found = await meanwhile(first_schedule(snapshot, name), partial(ask, context.session, snapshot))
    if found is None:
        raise Refused(f"`{name}` has a schedule already, or is no op of this file that one could be written for")
    return {"applied": await context.apply(workspace_edit(snapshot, found.edits), found.title)}


async def apply_edit(context: Context, snapshot: Snapshot, arguments: dict[str, Any]) -> Any:
    """An edit that was offered to a client that takes commands alone."""
    try:
        edit = _converter().structure(arguments["edit"], types.WorkspaceEdit)
    except (KeyError, TypeError, ValueError):
        raise Refused('this command takes {"uri", "name", "edit"}, as a code action gives them') from None
    return {"applied": await context.apply(edit, _name(arguments, "change"))}


@cache
def _converter() -> Any:
    return converters.get_converter()


COMMANDS: Mapping[str, tuple[str, Run]] = {
    "tdl.runTest": ("running", run_test),
    "tdl.runBench": ("measuring", run_bench),
    "tdl.showPlan": ("planning", show_plan),
    "tdl.writeSchedule": ("writing a schedule of", write_schedule),
    "tdl.applyEdit": ("applying", apply_edit),
}
"""The function of each command, and the word that its progress begins with."""


def bench_words(found: dict[str, Any], change: float | None) -> str:
    """`103.2 GFLOP/s, 81% of the machine's peak, 1.02x since the last run`."""
    parts = [f"{found['flops'] / 1e9:.1f} GFLOP/s", f"{found['share_of_compute'] * 100:.0f}% of the machine's peak"]
    if found["share_of_memory"] > found["share_of_compute"]:
        parts.append(f"{found['bytes'] / 1e9:.1f} GB/s, {found['share_of_memory'] * 100:.0f}% of its bandwidth")
    if change is not None:
        parts.append(f"{change:.2f}x since the last run")
    return ", ".join(parts)


def _check_allowed(context: Context) -> None:
    if not context.session.can_run:
        raise Refused("nothing is run or measured here: the editor does not trust this workspace")


def _name(arguments: dict[str, Any], what: str) -> str:
    name = arguments.get("name")
    if not isinstance(name, str):
        raise Refused(f'this command takes {{"uri", "name"}}, the name of a{"n" * (what == "op")} {what}')
    return name


def _keep(context: Context, snapshot: Snapshot, name: str, words: str, is_good: bool, figures: dict[str, Any]) -> None:
    module = snapshot.analysis.module
    for entry in module.entries:
        item = entry.placed.item
        if isinstance(item, syntax.Test | syntax.Bench) and item.name.text == name:
            outcome = Outcome(key_of(entry.declaration, module.schedules), words, is_good, figures)
            context.session.workspace.outcomes.keep(snapshot.source.path, name, outcome)
