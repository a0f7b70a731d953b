"""What `docs/editors.md` has its readers copy: it is well formed, and names what there is."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tdl.lsp.commands import COMMANDS
from tdl.lsp.previews import LANGUAGES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
PLUGIN = (ROOT / "editors" / "neovim" / "lua" / "tdl.lua").read_text(encoding="utf-8")


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return found


def test_settings_of_sublime_are_json() -> None:
    client = json.loads(block("json"))["clients"]["tdl"]
    assert client["command"] == ["tdlc", "lsp"]
    assert f"scope: {client['selector']}\n" in block("yaml")


def test_parentheses_of_emacs_close() -> None:
    text = re.sub(r'"(?:\\.|[^"\\])*"', '""', block("elisp"))
    assert text.count("(") == text.count(")") > 0


def test_every_stage_and_command_is_one_of_the_server() -> None:
    in_emacs = re.findall(r'"Stage: " \'\((.*?)\)', block("elisp"))
    in_neovim = re.findall(r"STAGES = \{ (.*?) \}", PLUGIN)
    assert [re.findall(r"[\w-]+", each) for each in (*in_emacs, *in_neovim)] == [list(LANGUAGES)] * 2
    assert {f"tdl.run{kind}" for kind in ("Test", "Bench")} <= COMMANDS.keys()


def test_every_command_of_the_plugin_has_its_line() -> None:
    defined = set(re.findall(r"define\('(\w+)'", PLUGIN))
    assert defined == set(re.findall(r"^\| `:(\w+)", PAGE, re.MULTILINE))
    assert defined == set(re.findall(r"^---   :(\w+)", PLUGIN, re.MULTILINE))
