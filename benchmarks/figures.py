"""Figures with their targets, as a table or as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Figure:
    """`value` in `unit`, to be below `target` if there is one."""

    name: str
    value: float
    unit: str
    target: float | None

    @property
    def is_good(self) -> bool:
        return self.target is None or self.value < self.target


def report(figures: Sequence[Figure], is_json: bool) -> int:
    """Print them all. The exit code: 1 where a target is missed."""
    if is_json:
        print(json.dumps([{**asdict(each), "ok": each.is_good} for each in figures], indent=2, ensure_ascii=False))
    else:
        Console().print(_table(figures))
    return 0 if all(each.is_good for each in figures) else 1


def _table(figures: Sequence[Figure]) -> Table:
    table = Table("figure", box=None, header_style="dim", pad_edge=False)
    table.add_column("median", justify="right")
    table.add_column("target", justify="right")
    table.add_column("ok")
    for each in figures:
        verdict = "[green]yes[/]" if each.is_good else "[bold red]no[/]"
        target, verdict = ("", "") if each.target is None else (f"< {each.target:g} {each.unit}", verdict)
        table.add_row(each.name, f"[bold]{each.value:.3g}[/] {each.unit}", target, verdict)
    return table
