"""Every judged program as a library in C, called from a program in C, under sanitizers."""

from __future__ import annotations

from pathlib import Path

import pytest
from tdl.compiler.library.target import find_target

from tests.compiler.backends.c.native import COMPILER, WARNINGS
from tests.compiler.library.harness import build, calls_of, check_output, main_text, planned, run
from tests.test_programs import PROGRAMS

pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler: install gcc or clang, or name one in CC")

SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")
QUICK = ("dense", "reduce", "schedules")
"""The programs that are always tried; the others nightly."""


def program(path: Path) -> object:
    marks = () if path.stem in QUICK else pytest.mark.nightly
    return pytest.param(path, id=path.stem, marks=marks)


each_program = pytest.mark.parametrize("path", [program(path) for path in PROGRAMS])


@each_program
@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:Degrees of freedom")
def test_a_program_in_c(path: Path, tmp_path: Path) -> None:
    target = find_target("host")
    library = planned(path, target)
    build(library, target, ["c"], tmp_path)
    calls = calls_of(path, library)
    (tmp_path / "main.c").write_text(main_text(library, calls))
    objects = ["-c", f"{library.name}.c", "-o", "library.o"]
    run([COMPILER, *WARNINGS, "-O1", *SANITIZERS, *objects], tmp_path)
    run([COMPILER, *SANITIZERS, "main.c", "library.o", "-lm", "-o", "main"], tmp_path)
    check_output(calls, run(["./main"], tmp_path, ASAN_OPTIONS="detect_leaks=0"))
