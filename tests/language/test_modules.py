"""Modules: imports of whole modules and of names, `std`, what is exported, and what cannot be followed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tdl.language.analysis import Analysis, analyse, locate, read_file, standard, standard_modules
from tdl.language.check import check_op
from tdl.language.source import Source

Marked = Callable[..., Analysis]
Run = Callable[..., dict[str, np.ndarray]]

LIB = """
    const HALF = 0.5
    const N = 4
    fn half(x: f32) -> f32 = HALF * x
    reducer add(a: f32, b: f32) -> f32 { identity 0
        combine a + b }
    op twice(X: f32[N]) -> Y: f32[N] { Y[i] = 2 * X[i] }
"""


# ---- imports


def test_a_module_is_used_by_its_path_and_names_by_themselves(marked: Marked) -> None:
    marked(
        """
        import lib
        import deep.er.lib
        from other import half, twice
        op f(X: f32[M]) -> (Y: f32[M], z: f32, W: f32[lib.N]) {
            Y[i] = lib.half(X[i]) * lib.HALF + half(X[i]) + deep.er.lib.half(1)
            z    = lib.add(X[k] for k)
            W[i] = 0
        }
        test a: lib.twice(X=[1, 2, 3, 4])
        test b: twice(X=[1, 2, 3, 4]) expect Y = [2, 4, 6, 8]
        bench c: deep.er.lib.twice()
        """,
        {"lib.tdl": LIB, "other.tdl": LIB, "deep/er/lib.tdl": LIB},
    )


def test_paths_are_relative_to_the_file(marked: Marked) -> None:
    files = {
        "a/one.tdl": "from two import g\nfrom b.three import h\nfn f(x: f32) -> f32 = g(x) + h(x)",
        "a/two.tdl": "fn g(x: f32) -> f32 = x",
        "a/b/three.tdl": "fn h(x: f32) -> f32 = x",
    }
    marked("from a.one import f\nop o(X: f32) -> Y: f32 { Y = f(X) }", files)
    assert locate("x.y", "a/b.tdl") == str(Path("a/x/y.tdl"))


def test_only_what_is_imported_is_known(marked: Marked) -> None:
    marked(
        """
        import lib
        from other import half
        op f(X: f32[M]) -> (a: f32, b: f32, c: f32, d: f32) {
            a = HALF  # error: [unknown-name] <HALF> unknown name `HALF`
            b = add(X[k] for k)  # error: [unknown-name] <add> unknown reducer `add`
            c = lib.halve(1)  # error: [unknown-name] <lib.halve> did you mean `lib.half`?
            d = other.half(1)  # error: [unknown-name] <other.half> unknown function `other.half`
        }
        """,
        {"lib.tdl": LIB, "other.tdl": LIB},
    )


def test_one_name_may_be_a_constant_and_a_function(marked: Marked) -> None:
    marked(
        "from lib import g\nop f(X: f32) -> Y: f32 { Y = g(X) + g }",
        {"lib.tdl": "const g = 2\nfn g(x: f32) -> f32 = x"},
    )


def test_names_imported_by_name_are_exported_again_and_others_are_not(marked: Marked) -> None:
    files = {"lib.tdl": LIB, "between.tdl": "import lib\nfrom lib import half"}
    marked("from between import half\nop f(X: f32) -> Y: f32 { Y = half(X) }", files)
    marked("import between\nop f(X: f32) -> Y: f32 { Y = between.half(X) }", files)
    marked("from between import twice  # error: [import] <twice> `between` declares no `twice`", files)
    marked(
        "import between\nop f(X: f32) -> Y: f32 { Y = between.lib.half(X) }"
        "  # error: [unknown-name] <between.lib.half> unknown function",
        files,
    )


def test_ops_of_a_module_include_those_imported_by_name(marked: Marked) -> None:
    analysed = marked("from lib import twice\nimport lib\nop f(X: f32) -> Y: f32 { Y = X }", {"lib.tdl": LIB})
    assert set(analysed.module.ops) == {"f", "twice"}


def test_an_imported_function_sees_its_own_module(marked: Marked) -> None:
    marked(
        "from lib import half\nconst HALF = 3\nop f(X: f32) -> Y: f32 { Y = half(X) }\ntest t: f(X=4) expect Y = 2",
        {"lib.tdl": LIB},
    )


def test_a_module_imported_twice_is_one(marked: Marked) -> None:
    analysed = marked(
        "import a\nimport b\nfrom lib import twice",
        {"lib.tdl": LIB, "a.tdl": "from lib import half", "b.tdl": "from lib import half"},
    )
    declarations = {name: each for (_, name), each in analysed.module.exports.items()}
    assert declarations["twice"].path == "lib.tdl"


# ---- what cannot be followed


def test_missing_modules_and_names(marked: Marked) -> None:
    marked(
        """
        import nowhere  # error: [import] <nowhere> there is no `nowhere`: no file nowhere.tdl
        from absent.mod import a, b  # error: [import] <absent.mod> no file absent
        from lib import halff, twice  # error: [import] <halff> did you mean `half`?
        op f(X: f32[M]) -> Y: f32 { Y = nowhere.g(X[0 | 0]) + a(1) + b + halff(2) }
        """,
        {"lib.tdl": LIB},
    )


def test_a_suggestion_for_an_import_is_a_fix(marked: Marked) -> None:
    (error,) = marked("from lib import halff  # error: [import] declares no `halff`", {"lib.tdl": LIB}).diagnostics
    assert [(fix.text, fix.span) for fix in error.fixes] == [("half", error.primary)]


def test_modules_that_import_each_other(marked: Marked) -> None:
    marked("import main  # error: [import] <main> `main` imports this module in turn")
    marked(
        "import a  # error: [import] <a> `b` has an error on line 1: `a` imports this module",
        {"a.tdl": "import b", "b.tdl": "import a"},
    )
    analysed = analyse(Source("./x/main.tdl", "import b"), read={"x/b.tdl": Source("x/b.tdl", "import main")}.get)
    (error,) = analysed.diagnostics
    assert error.message == "`b` has an error on line 1: `main` imports this module in turn"


def test_a_module_with_an_error_is_reported_at_its_import_and_nowhere_else(marked: Marked) -> None:
    marked(
        """
        import lib  # error: [import] <lib> `lib` has an error on line 2
        from lib import g  # error: [import] <lib> unknown name `y`
        op f(X: f32) -> Y: f32 { Y = g(X) + lib.g(X) }
        test t: f(X=1)
        """,
        {"lib.tdl": "fn h(x: f32) -> f32 = x\nfn g(x: f32) -> f32 = y"},
    )


def test_names_imported_and_declared_twice(marked: Marked) -> None:
    marked(
        """
        from lib import half, half  # error: [duplicate-name] <half> `half` is imported twice
        from other import half  # error: [duplicate-name] <half> `half` is imported twice
        from lib import twice
        fn half(x: f32) -> f32 = x  # error: [duplicate-name] <half> `half` is declared twice in this module
        const twice = 2
        """,
        {"lib.tdl": LIB, "other.tdl": LIB},
    )


def test_items_declared_twice_show_the_first(marked: Marked) -> None:
    (error,) = marked("const A = 1\nconst A = 2  # error: [duplicate-name] <A> `A` is declared twice").diagnostics
    (label,) = error.secondary
    assert (label.span.start, label.text) == (6, "first declared here")


def test_imports_nest_only_so_deep(marked: Marked) -> None:
    files = {f"m{n}.tdl": f"import m{n + 1}" for n in range(300)}
    marked("import m0  # error: [import] imports nest more than 50 deep", files)


def test_imports_that_are_not_written_as_such(marked: Marked) -> None:
    marked("import  # error: [syntax] expected")
    marked("from lib import  # error: [syntax] expected a name", {"lib.tdl": LIB})
    marked('import "lib"  # error: [syntax] expected', {"lib.tdl": LIB})
    uses = "\nop f(X: f32) -> Y: f32 { Y = lib.half(X) }\nop g(X: f32) -> Y: f32 { Y = half(X) }"
    marked(f"import lib as l  # error: [syntax] <as> expected\nfn half(x: f32) -> f32 = x{uses}", {"lib.tdl": LIB})
    marked(f"from lib import half as h  # error: [syntax] <as> expected\nimport lib{uses}", {"lib.tdl": LIB})


# ---- the standard library


@pytest.mark.parametrize("name", standard_modules())
def test_the_standard_library_has_no_errors(name: str) -> None:
    source = standard(name)
    assert source is not None
    analysed = analyse(source)
    assert [diagnostic.message for diagnostic in analysed.diagnostics] == []
    assert all(check_op(op).is_sound for op in analysed.module.ops.values())


def test_std_needs_no_file(marked: Marked) -> None:
    marked("""
        import std.nn
        from std.nn import relu
        test a: std.nn.relu(X=[-1.0, 2.0], T=f32) expect Y = [0, 2]
        test b: relu(X=[-1.0, 2.0], T=f32) expect Y = [0, 2]
    """)


def test_what_std_does_not_have(marked: Marked) -> None:
    marked("""
        import std.nothing  # error: [import] <std.nothing> the standard library has no `std.nothing` (it has
        import std  # error: [import] <std> the standard library has no `std` (it has
        from std.nn import rellu  # error: [import] <rellu> did you mean `relu`?
    """)


# ---- where the text comes from


def test_the_reader_gives_the_text_of_unsaved_files() -> None:
    texts = {"lib.tdl": "fn g(x: f32) -> f32 = x"}
    main = Source("main.tdl", "from lib import g\nop f(X: f32) -> Y: f32 { Y = g(X) }")

    def read(path: str) -> Source | None:
        return Source(path, texts[path]) if path in texts else None

    assert not analyse(main, read=read).diagnostics
    texts["lib.tdl"] = "fn g(x: f64) -> f64 = x"
    assert [error.code for error in analyse(main, read=read).diagnostics] == ["dtype"]
    del texts["lib.tdl"]
    assert [error.code for error in analyse(main, read=read).diagnostics] == ["import"]


def test_files_are_read_from_disk_without_a_reader(tmp_path: Path) -> None:
    (tmp_path / "lib.tdl").write_text("\ufefffn g(x: f32) -> f32 = x", encoding="utf-8")
    (tmp_path / "bad.tdl").write_bytes(b"fn g\xff")
    main = Source(str(tmp_path / "main.tdl"), "from lib import g\nop f(X: f32) -> Y: f32 { Y = g(X) }")
    assert not analyse(main).diagnostics
    assert read_file(str(tmp_path / "bad.tdl")) is None
    assert read_file(str(tmp_path)) is None
    (broken,) = analyse(Source(main.path, "import bad")).diagnostics
    assert broken.code == "import"
    assert broken.message == "`bad` cannot be read: the file is not UTF-8: byte 0xff at offset 4 does not belong there"
