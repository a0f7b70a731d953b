"""The benchmarks run, and measure what they say; how fast anything is, is not tested."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tdl.compiler.schedule.check import diagnose
from tdl.language.analysis import analyse
from tdl.language.source import Source

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PROGRAMS = Path(__file__).parents[1] / "programs"
HEAD = re.compile(r"^(op|fn|const|reducer|test|bench) (\w+)", re.MULTILINE)


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---- generated modules


def test_a_generated_module_is_long_enough_and_checks() -> None:
    text: str = script("generate").generate(2000)
    assert 2000 <= len(text.splitlines()) < 2100
    assert analyse(Source("long.tdl", text)).diagnostics == ()


def test_everything_that_is_declared_has_a_name_of_its_own() -> None:
    heads = HEAD.findall(script("generate").generate(1000))
    assert len(set(heads)) == len(heads)


def test_all_programs_are_in_it() -> None:
    text: str = script("generate").generate(300)
    generated = {name for _, name in HEAD.findall(text)}
    for path in PROGRAMS.glob("*.tdl"):
        for kind, name in HEAD.findall(path.read_text(encoding="utf-8")):
            assert (f"{path.stem}_{name}_1" if kind in ("test", "bench") else f"{name}_1") in generated


def test_locals_and_comments_keep_their_words(tmp_path: Path) -> None:
    (tmp_path / "one.tdl").write_text("# relu\nop relu(X: f32[N]) -> Y: f32[N] { Y[i] = max(X[i], 0) }\n")
    (tmp_path / "two.tdl").write_text("from one import relu\ntest relu: relu(N=3)\n")
    assert script("generate").generate(6, tmp_path) == (
        "# relu\nop relu_1(X: f32[N]) -> Y: f32[N] { Y[i] = max(X[i], 0) }\n\ntest two_relu_1: relu_1(N=3)\n\n"
        "# relu\nop relu_2(X: f32[N]) -> Y: f32[N] { Y[i] = max(X[i], 0) }\n\n"
    )


# ---- figures


def test_all_figures_are_measured_and_judged_by_their_targets() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, BENCHMARKS / "language.py", "--rounds", "1", "--force", "--json"]
    result = subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, check=False)
    figures = json.loads(result.stdout)
    assert [(each["target"], each["unit"]) for each in figures] == [
        (0.15, "s"),
        (1.0, "s"),
        (30, "ms"),
        (5, "x"),
        (2, "µs"),
        (4, "µs"),
    ]
    assert all(each["ok"] == (each["value"] < each["target"]) for each in figures)
    assert result.returncode == (0 if all(each["ok"] for each in figures) else 1)


def test_a_busy_machine_is_refused_unless_forced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    quiet = script("quiet")
    monkeypatch.setattr(quiet, "busy_share", lambda: 0.5)
    with pytest.raises(SystemExit) as ended:
        quiet.refuse_if_busy(force=False)
    assert ended.value.code == 2
    quiet.refuse_if_busy(force=True)
    assert capsys.readouterr().err.count("50% busy") == 2
    monkeypatch.setattr(quiet, "busy_share", lambda: 0.01)
    quiet.refuse_if_busy(force=False)
    assert capsys.readouterr().err == ""


def test_the_compiler_is_measured_from_a_schedule_to_code() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, BENCHMARKS / "compile.py", "--rounds", "1", "--force", "--json"]
    result = subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, check=False)
    figures = json.loads(result.stdout)
    assert [each["target"] for each in figures] == [30, None, 150, 5, 100, 100]
    assert all(each["ok"] == (each["target"] is None or each["value"] < each["target"]) for each in figures)
    assert result.returncode == (0 if all(each["ok"] for each in figures) else 1)


@pytest.mark.parametrize("name", ["products", "blur", "convolution"])
def test_programs_of_the_benchmarks_have_no_faults(name: str) -> None:
    path = BENCHMARKS / f"{name}.tdl"
    assert diagnose(analyse(Source(str(path), path.read_text(encoding="utf-8")))) == ()
