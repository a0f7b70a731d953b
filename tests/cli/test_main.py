"""What every command shares: the version, usage errors, and the ways in which a run can end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tdl.compiler.cli import app as commands
from tdl.compiler.cli.fault import Fault
from tdl.compiler.version import VERSION

COMMAND = [sys.executable, "-c", "from tdl.compiler.cli.main import main; main()"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def test_version(tdlc):
    assert tdlc("--version").out == f"tdlc {VERSION}\n"
    assert tdlc("--version", "check").out == f"tdlc {VERSION}\n"


def test_version_imports_next_to_nothing():
    code = (
        "import sys; sys.argv[1:] = ['--version']; from tdl.compiler.cli.main import main; main(); print(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=ENVIRONMENT, check=True)
    assert not {"typer", "rich", "numpy", "lark", "islpy", "llvmlite"} & set(run.stdout.split())


def test_help_lists_the_commands(tdlc):
    outcome = tdlc("--help")
    assert outcome.code == 0
    for command in ("check", "fmt", "test", "run", "show", "explain"):
        assert f" {command} " in outcome.out


def test_no_arguments_is_help(tdlc):
    outcome = tdlc()
    assert "Commands" in outcome.out + outcome.err


@pytest.mark.parametrize(
    "arguments", [("chek",), ("check",), ("check", "--nope", "x"), ("--nope",), ("explain", "a", "b")]
)
def test_wrong_usage(tdlc, arguments):
    outcome = tdlc(*arguments)
    assert outcome.code == 2
    assert "Error" in outcome.err
    assert outcome.out == ""


def test_misspelt_command_is_offered(tdlc):
    assert "check" in tdlc("chek").err


@pytest.mark.parametrize("debug", ["", "1"])
def test_a_fault_of_ours_is_called_one(tdlc, monkeypatch, debug):
    def broken(code):
        raise KeyError("kaputt")

    monkeypatch.setattr("tdl.compiler.cli.explain.page", broken)
    if debug:
        monkeypatch.setenv("TDL_DEBUG", debug)
        with pytest.raises(KeyError):
            tdlc("explain", "dtype")
        return
    outcome = tdlc("explain", "dtype")
    assert outcome.code == 3
    assert outcome.err.startswith("internal error: KeyError: 'kaputt'\n  = help: this is a fault of tdlc")


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (OSError(28, "No space left on device"), 2, "error: No space left on device\n"),
        (OSError(13, "Permission denied", "a.npy"), 2, "error: a.npy: Permission denied\n"),
        (Fault("no", "yes", 1), 1, "error: no\n  = help: yes\n"),
    ],
)
def test_ways_to_end(tdlc, monkeypatch, raised, code, said):
    def ends(code):
        raise raised

    monkeypatch.setattr("tdl.compiler.cli.explain.page", ends)
    outcome = tdlc("explain", "dtype")
    assert (outcome.code, outcome.err) == (code, said)


def test_a_reader_that_goes_away_is_no_error():
    run = subprocess.Popen([*COMMAND, "explain"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT)
    assert run.stdout is not None
    run.stdout.close()
    _, err = run.communicate()
    assert err == b""
    assert run.returncode == 1


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c(tmp_path):
    fifo = tmp_path / "slow.tdl"
    os.mkfifo(fifo)
    run = subprocess.Popen(
        [*COMMAND, "check", str(fifo)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    )
    with fifo.open("w"):  # opens when the command does
        run.send_signal(signal.SIGINT)
        out, err = run.communicate()
    assert (run.returncode, out, err) == (130, b"", b"interrupted\n")


def test_every_command_is_in_a_file_of_its_name():
    for command in commands.app.registered_commands:
        assert command.callback is not None
        assert Path(command.callback.__code__.co_filename).stem == (command.name or command.callback.__name__)


def test_messages_do_not_control_the_terminal(tdlc):
    assert tdlc("check", "no\x1b[31mpe").err == "error: no such file: no␛[31mpe\n"


def run_apart(*arguments, code=None, **more):
    """A process of its own, where streams are at stake."""
    command = [sys.executable, "-c", code or "from tdl.compiler.cli.main import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False, **{"env": ENVIRONMENT, **more})


def test_closed_streams():
    code = "import sys; sys.stdout = sys.stderr = None; from tdl.compiler.cli.main import main; main()"
    assert run_apart("explain", "nope", code=code).returncode == 2
    assert run_apart("explain", code=code).returncode == 0


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_other_encodings(tmp_path, encoding):
    path = tmp_path / "a.tdl"
    path.write_text("const A = ž数\n", encoding="utf-8")
    environment = {**ENVIRONMENT, "PYTHONIOENCODING": encoding}
    run = run_apart("check", path, env=environment)
    assert run.returncode == 1
    assert b"\\u017e\\u6570" in run.stdout
    run = run_apart("check", "--format", "json", path, env=environment)
    assert "ž数" in json.loads(run.stdout)[0]["message"]
    run = run_apart("fmt", "-", input=path.read_bytes(), env=environment)
    assert run.stdout == path.read_bytes()
