"""`tdlc bench`: how fast the ops of `bench` lines run, beside what the machine could do at most."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from tdl.compiler.cli.duration import duration
from tdl.compiler.cli.fault import Fault
from tdl.compiler.cli.files import find_sources
from tdl.compiler.cli.programs import checked_file
from tdl.compiler.cli.progress import Bar
from tdl.compiler.cli.screen import Color, Screen, shown, stderr, stdout
from tdl.language.frame import Fragment, Line, Style

if TYPE_CHECKING:
    from tdl.language.analysis import Analysis
    from tdl.language.cases import Case

BUSY = 0.5
"""The load, in cores, from which figures are not to be trusted."""


@dataclass(frozen=True)
class Result:
    """A bench as it was measured. Rates are per second; shares are of the machine's peaks at as many threads."""

    file: str
    name: str
    op: str
    arguments: str
    threads: int
    seconds: float
    spread: float
    rounds: int
    flops: float
    bytes: float
    share_of_compute: float
    share_of_memory: float
    against: dict[str, float]


def bench(
    files: Annotated[
        list[str], typer.Argument(help="Files or directories; `-` is standard input.", metavar="FILES...")
    ],
    name: Annotated[
        str | None, typer.Option("-k", metavar="NAME", help="Only benches with this in their name.")
    ] = None,
    seconds: Annotated[float, typer.Option(help="How long to measure each bench.", min=0.0)] = 1.0,
    threads: Annotated[int | None, typer.Option(help="How many threads to use.", min=1)] = None,
    against: Annotated[list[str] | None, typer.Option(metavar="PEER", help="Also time `numpy`, in turns.")] = None,
    compare: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Show the change since an earlier --json.")
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    color: Annotated[Color, typer.Option(help="When to use colours.")] = Color.auto,
) -> None:
    """Measure the ops of `bench` lines: time, GFLOP/s, GB/s, and how much of the machine's peak that is."""
    unknown = [peer for peer in against or [] if peer != "numpy"]
    if unknown:
        raise Fault(f"there is no peer `{unknown[0]}`", "`--against numpy` is the one there is")
    benches = [(analysis, case) for path in find_sources(files) for analysis, case in _benches(path, color)]
    chosen = [(analysis, case) for analysis, case in benches if name is None or name in case.name]
    if not chosen:
        raise Fault("there is no bench" + (f" with `{name}` in its name" if name else " in what was given"))
    before = _earlier(compare)
    _warn_if_busy(stderr(color))
    if threads is not None:
        from tdl.compiler.runtime.threads import set_num_threads

        set_num_threads(threads)
    results = list(_measured(chosen, seconds, against or [], stdout(color), before, quiet=json_))
    if json_:
        stdout(color).print(json.dumps([asdict(result) for result in results], indent=2))


def _benches(path: str, color: Color) -> Iterator[tuple[Analysis, Case]]:
    from tdl.language import syntax
    from tdl.language.cases import check_case

    analysis = checked_file(path, color)
    for entry in analysis.module.entries:
        if isinstance(entry.placed.item, syntax.Bench):
            case = check_case(entry.declaration).case
            if case is not None:
                yield analysis, case


def _earlier(path: Path | None) -> dict[tuple[str, str], float]:
    """Seconds by file and name from an earlier run."""
    if path is None:
        return {}
    try:
        rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
        return {(str(row["file"]), str(row["name"])): float(row["seconds"]) for row in rows}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Fault(f"{path} holds no figures of an earlier run: {error}", "`tdlc bench --json` makes them") from None


def _warn_if_busy(screen: Screen) -> None:
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if load > BUSY:
        words = f"the machine is busy (load {load:.1f}); these figures will not mean much"
        screen.write([(Fragment("warning", "warning"), Fragment(f": {words}"))])


def _measured(
    chosen: Sequence[tuple[Analysis, Case]],
    seconds: float,
    peers: Sequence[str],
    screen: Screen,
    before: dict[tuple[str, str], float],
    *,
    quiet: bool,
) -> Iterator[Result]:
    widths = (max(len(case.name) for _, case in chosen), max(len(case.op.name) for _, case in chosen))
    file = ""
    bar = Bar("measuring", len(chosen))
    for analysis, case in bar.over(chosen):
        result = measure_case(analysis, case, seconds, peers)
        bar.clear()
        if not quiet:
            if analysis.source.path != file:
                file = analysis.source.path
                screen.write([(Fragment(shown(file), "message"),)])
            screen.write([_line(result, widths, before.get((result.file, result.name)))])
        yield result


def measure_case(analysis: Analysis, case: Case, seconds: float, peers: Sequence[str]) -> Result:
    """One bench, interleaved with its peers."""
    from tdl.compiler.cli.trials import arguments_of
    from tdl.compiler.machine import machine
    from tdl.compiler.measure import take_turns
    from tdl.compiler.peers import numpy_call
    from tdl.compiler.runtime.threads import num_threads
    from tdl.compiler.trial import compiled_call
    from tdl.compiler.work import work_of
    from tdl.language.samples import random_inputs

    bound = case.bound
    inputs = random_inputs(bound.program, bound.sizes)
    contenders: dict[str, Callable[[], object]] = {"tdl": compiled_call(analysis, case, inputs)}
    if "numpy" in peers:
        contenders["numpy"] = numpy_call(bound, inputs)
    timings = take_turns(contenders, seconds, pause=0.13 if peers else 0.0)
    ours = timings["tdl"]
    work, here, threads = work_of(bound.program, bound.sizes), machine(), num_threads()
    dtype = str(bound.program.tensors[bound.program.outputs[0]].dtype)
    flops, moved = work.operations / ours.median, work.bytes / ours.median
    return Result(
        analysis.source.path,
        case.name,
        case.op.name,
        arguments_of(case),
        threads,
        ours.median,
        ours.spread,
        len(ours.samples),
        flops,
        moved,
        flops / here.peak(dtype, threads),
        moved / here.bandwidth,
        {peer: ours.against(timings[peer]) for peer in peers},
    )


def _line(result: Result, widths: tuple[int, int], before: float | None) -> Line:
    parts = [
        Fragment(f"  {result.name.ljust(widths[0])}  "),
        Fragment(f"{result.op.ljust(widths[1])}  ", "place"),
        Fragment(f"{duration(result.seconds):>8}", "message"),
        Fragment(f" ±{result.spread * 100:3.0f}%  ", "dim"),
        Fragment(f"{result.flops / 1e9:7.1f} GFLOP/s "),
        Fragment(f"{result.share_of_compute * 100:4.0f}%  ", _share(result.share_of_compute)),
        Fragment(f"{result.bytes / 1e9:6.1f} GB/s "),
        Fragment(f"{result.share_of_memory * 100:4.0f}%", _share(result.share_of_memory)),
    ]
    for peer, ratio in result.against.items():
        parts.append(Fragment(f"  {ratio:.2f}x {peer}", "good" if ratio >= 1 else "warning"))
    if before is not None:
        change = before / result.seconds
        parts.append(Fragment(f"  {change:.2f}x since", "good" if change >= 1 else "warning"))
    parts.append(Fragment(f"  {result.arguments}", "dim"))
    return tuple(parts)


def _share(share: float) -> Style:
    return "good" if share >= 0.7 else ""
