"""`tdlc bench`: figures for every bench line, as text and as JSON, beside a peer and an earlier run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tdl.compiler.cli.main import main

PROGRAM = """op mm(A: f32[M, K], B: f32[K, N]) -> C: f32[M, N] { C[i, j] = sum(A[i, k] * B[k, j] for k) }
op twice(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] * 2 }
bench small: mm(M=8, K=8, N=8)
bench other: twice(N=100)
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TDL_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "b.tdl"
    path.write_text(PROGRAM)
    return path


def tdlc(monkeypatch: pytest.MonkeyPatch, *args: str) -> int:
    monkeypatch.setattr("sys.argv", ["tdlc", *args])
    with pytest.raises(SystemExit) as exit_:
        main()
    return int(exit_.value.code or 0)


def test_every_bench_has_a_line(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tdlc(monkeypatch, "bench", str(file), "--seconds", "0", "--against", "numpy") == 0
    out = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in out[1:]] == [["small", "mm"], ["other", "twice"]]
    assert all("GFLOP/s" in line and "GB/s" in line and "x numpy" in line for line in out[1:])


def test_json_and_comparison(file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert tdlc(monkeypatch, "bench", str(file), "--seconds", "0", "--json", "-k", "small") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["op"], row["arguments"]) == ("mm", "M=8 K=8 N=8")
    assert row["flops"] == pytest.approx(2 * 8**3 / row["seconds"])
    earlier = file.with_name("earlier.json")
    earlier.write_text(json.dumps([row]))
    assert tdlc(monkeypatch, "bench", str(file), "--seconds", "0", "-k", "small", "--compare", str(earlier)) == 0
    assert "x since" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--against", "fortran"], "no peer `fortran`"),
        (["-k", "huge"], "no bench with `huge`"),
        (["--compare", "nothing.json"], "no figures of an earlier run"),
    ],
)
def test_what_cannot_be_measured_is_said(
    args: list[str], words: str, file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tdlc(monkeypatch, "bench", str(file), "--seconds", "0", *args) != 0
    assert words in capsys.readouterr().err
