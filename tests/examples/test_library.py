"""The library example: the commands of its README, as they stand there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"```sh\n(.*?)```", (ROOT / "examples/library/README.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler: install gcc or clang")
@pytest.mark.parametrize("commands", BLOCKS, ids=["shared", "c"])
def test_the_commands(commands: str, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    tdlc = tools / "tdlc"
    tdlc.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tdl.compiler.cli.main "$@"\n')
    tdlc.chmod(0o755)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    environment = {
        **os.environ,
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    done = subprocess.run(
        ["sh", "-e", "-c", commands], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "   ---" in done.stdout
    assert done.stdout.endswith("out of bounds (smooth.tdl:10: colours[X[n], c])\n")
