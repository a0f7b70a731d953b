"""The plugin for Neovim, in a Neovim without a screen."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "editors" / "neovim"
SCRIPT = Path(__file__).with_name("neovim.lua")
NEOVIM = shutil.which("nvim")
TEXT = """\
op double(X: f32[N]) -> Y: f32[N] {
    Y[i] = 2 * Z[i]
}
schedule double for cpu {
    split Y.i by 8 -> io, ii
}
test tiny: double(N=3)
bench big: double(N=1000)
"""


@pytest.mark.skipif(NEOVIM is None, reason="Neovim is not installed (`apt-get install neovim`)")
def test_a_session_in_neovim(tmp_path: Path) -> None:
    program = tmp_path / "a program.tdl"
    program.write_text(TEXT, encoding="utf-8")
    paths = [str(ROOT / each) for each in ("grammar", "language", "compiler", "lsp")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "XDG_STATE_HOME": str(tmp_path)}
    command = f"{{ cmd = {{ '{sys.executable}', '-m', 'tdl.compiler.cli.main', 'lsp' }} }}"
    arguments = [
        *("--headless", "-u", "NONE", "-n", "--cmd", f"set runtimepath+={PLUGIN}"),
        *("--cmd", "runtime plugin/tdl.lua", "--cmd", f"lua require('tdl').setup({command})"),
        *(program.name, "-c", f"luafile {SCRIPT}"),
    ]
    done = subprocess.run(
        [NEOVIM or "", *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.stdout.splitlines()[-1:] == ["PASS"], done.stdout + done.stderr
