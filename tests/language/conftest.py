"""What tests of the language share: an op from its text, evaluated; a module whose errors are marked, checked."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from tdl.language import analysis
from tdl.language.arrays import dtype_of, numpy_dtype
from tdl.language.binding import ArrayType, bind
from tdl.language.evaluate import evaluate
from tdl.language.source import Source

Results = dict[str, np.ndarray]


@pytest.fixture
def run() -> Callable[..., Results]:
    """`run(text, X=..., sizes={...}, parameters={...})`: the outputs of the text's last op; a warning is an error.

    Arrays are taken as they are, and lists get the type that the op declares.
    """

    def run(
        text: str,
        sizes: Mapping[str, Any] | None = None,
        parameters: Mapping[str, object] | None = None,
        **inputs: Any,
    ) -> Results:
        analysed = analysis.analyse(Source("test.tdl", dedent(text)))
        assert not analysed.has_errors, [diagnostic.message for diagnostic in analysed.diagnostics]
        *_, op = analysed.module.ops.values()
        types = {name: _type(value) for name, value in inputs.items()}
        bound = bind(op, types, parameters, sizes)
        arrays = {
            name: np.array(value, numpy_dtype(bound.program.tensors[name].dtype)).reshape(bound.shape(name))
            for name, value in inputs.items()
        }
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return evaluate(bound.program, arrays, bound.sizes)

    return run


def _type(value: Any) -> ArrayType:
    if isinstance(value, (np.ndarray, np.generic)):
        return ArrayType(dtype_of(value.dtype), value.shape)
    return ArrayType(None, np.shape(value))


MARK = re.compile(r"# error: \[([\w-]+)\] (?:<(.*)> )?(\S.*?)\s*$")


@pytest.fixture(scope="session")
def marked() -> Callable[..., analysis.Analysis]:
    """`marked(text, {"other.tdl": ...})` checks a module and asserts that it has just the errors its marks say.

    `# error: [code] <covered> words` at the end of a line marks an error that starts on it, covers that text (where it
    is given), and has these words in its message or notes. A mark that has its line to itself is about the line
    above the marks, whose errors are in the order of their places.
    """

    def marked(text: str, files: Mapping[str, str] | None = None) -> analysis.Analysis:
        text = dedent(text)
        source = Source("main.tdl", text)
        sources = {path: Source(path, dedent(other)) for path, other in (files or {}).items()}
        analysed = analysis.analyse(source, read=sources.get)
        expected: list[tuple[int, str]] = []
        marks: list[re.Match[str]] = []
        at = 0
        for number, line in enumerate(text.split("\n"), 1):
            mark = MARK.search(line)
            at = number if mark is None or line[: mark.start()].strip() else at
            if mark is not None:
                expected.append((at, mark[1]))
                marks.append(mark)
        found = [(source.position(each.primary.start).line, each.code) for each in analysed.diagnostics]
        assert found == expected, "\n".join(f"{each.code}: {each.message}" for each in analysed.diagnostics)
        for diagnostic, mark in zip(analysed.diagnostics, marks):
            covered, words = mark[2], mark[3]
            span = diagnostic.primary
            if covered is not None:
                assert text[span.start : span.end] == covered
            assert words.lower() in "\n".join([diagnostic.message, *diagnostic.notes]).lower()
            assert 0 <= span.start <= span.end <= len(text)
        return analysed

    return marked
