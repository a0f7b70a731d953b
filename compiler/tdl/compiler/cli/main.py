"""The entry of `tdlc`: hands over to the command, and turns every way it can fail into a message and an exit code.

0: all is well; 1: errors were found in a program or its data; 2: the command line is wrong, or a file is out of reach;
3: a fault of tdlc itself; 130: interrupted.
"""

from __future__ import annotations

import gc
import os
import sys

INTERRUPTED = 130
"""What a shell gives for a process that Ctrl-C ended."""


def main() -> None:
    """Run the command line of this process and exit."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 (it stays open)
    if sys.argv[1:] == ["--version"]:
        from tdl.compiler.version import VERSION

        print(f"tdlc {VERSION}")
        return
    if sys.argv[1:] in (["lsp"], ["lsp", "--stdio"]):
        sys.exit(_serve())
    sys.exit(_run())


def _serve() -> int:
    """An editor waits for its server, which needs nothing of what reads a command line."""
    gc.set_threshold(1_000_000, 20, 100)
    from importlib import import_module

    try:
        code: int = import_module("tdl.lsp.main").serve_stdio()
    except ModuleNotFoundError:
        return _run()  # which says what to install
    return code


def _run() -> int:
    gc.set_threshold(1_000_000, 20, 100)  # little of what a command makes is a cycle: looking for them costs a tenth
    from tdl.compiler.cli.app import app
    from tdl.compiler.cli.fault import Fault

    try:
        code = app(prog_name="tdlc", standalone_mode=False)
        sys.stdout.flush()
    except Fault as fault:
        _say("error", fault.message, fault.hint)
        return fault.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return _interrupted()
    except MemoryError as error:
        _say("error", f"not enough memory: {error}" if str(error) else "not enough memory")
        return 1
    except OSError as error:
        _say("error", f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error))
        return 2
    except Exception as error:
        return _other(error)
    if code == INTERRUPTED:
        return _interrupted()
    return code if isinstance(code, int) else 0


def _other(error: Exception) -> int:
    """Wrong usage that the command-line library found, or a fault of ours."""
    kind = type(error).__name__
    show, code = getattr(error, "show", None), getattr(error, "exit_code", None)
    if callable(show) and isinstance(code, int):
        show()
        return code
    if kind == "Abort":
        return _interrupted()
    if os.environ.get("TDL_DEBUG"):
        raise error
    _say(
        "internal error",
        str(error) if kind == "InternalError" else f"{kind}: {error}",
        "this is a fault of tdlc, not of your program; TDL_DEBUG=1 shows where it happened",
    )
    return 3


def _interrupted() -> int:
    _say("interrupted")
    return INTERRUPTED


def _say(kind: str, message: str = "", hint: str = "") -> None:
    from tdl.compiler.cli.screen import Screen, shown
    from tdl.language.frame import Fragment, Line

    head: Line = (Fragment(kind, "error"), Fragment(f": {shown(message)}" if message else "", "message"))
    lines = [head]
    if hint:
        lines.append((Fragment("  = help: ", "help"), Fragment(shown(hint))))
    Screen.of(sys.stderr).write(lines)


if __name__ == "__main__":
    main()
