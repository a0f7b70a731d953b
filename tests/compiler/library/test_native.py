"""Every judged program as a compiled library, called from a program in C that gcc makes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tdl.compiler.library.target import find_target

from tests.compiler.backends.c.native import COMPILER
from tests.compiler.library.harness import build, calls_of, check_output, main_text, planned, run
from tests.compiler.library.test_c import each_program

pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler: install gcc or clang, or name one in CC")


@each_program
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:Degrees of freedom")
def test_a_shared_library(path: Path, tmp_path: Path, threads: int) -> None:
    target = find_target("host")
    library = planned(path, target)
    build(library, target, ["so"], tmp_path)
    calls = calls_of(path, library)
    (tmp_path / "main.c").write_text(main_text(library, calls))
    run([COMPILER, "main.c", "-L.", f"-l{library.name}", "-Wl,-rpath,.", "-o", "main"], tmp_path)
    check_output(calls, run(["./main"], tmp_path, TDL_NUM_THREADS=str(threads)))
