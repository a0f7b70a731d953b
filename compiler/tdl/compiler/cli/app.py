"""The commands of `tdlc`, with their help. Each is in a file of its own name and imports what it needs when it runs."""

from __future__ import annotations

from typing import Annotated

import typer
from tdl.compiler.cli.bench import bench
from tdl.compiler.cli.build import build
from tdl.compiler.cli.check import check
from tdl.compiler.cli.explain import explain
from tdl.compiler.cli.fmt import fmt
from tdl.compiler.cli.lsp import lsp
from tdl.compiler.cli.run import run
from tdl.compiler.cli.schedule import schedule
from tdl.compiler.cli.show import show
from tdl.compiler.cli.test import run_tests
from tdl.compiler.version import VERSION

app = typer.Typer(
    name="tdlc",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(check)
app.command()(fmt)
app.command("test")(run_tests)
app.command()(bench)
app.command()(run)
app.command()(build)
app.command()(show)
app.command()(schedule)
app.command()(explain)
app.command()(lsp)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tdlc {VERSION}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Check, run and inspect TDL programs: tensor computations whose meaning and whose schedule are written apart."""
