"""A question that takes too long is an error that says so, never a yes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tdl.language import sets
from tdl.language.diagnostic import Diagnostic
from tdl.language.tree import Program

Check = Callable[[str], tuple[Program, tuple[Diagnostic, ...]]]

# Other names than in other tests: what was checked once is remembered.
CASES = {
    "bounds": "op f1(X: f32[N]) -> Y: f32[N] { Y[i] = X[i - 2] if i % 2 == 0 and i != 0 else 0 }",
    "coverage": "op f2(X: f32[N]) -> Y: f32[N] {\n Y[i] = 0 for i in 0..N if i % 3 == 1\n"
    " Y[i] = 1 for i in 0..N if i % 3 != 1 }",
    "order": "op f3(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] + Y[2*i - N | mirror] }",
}


@pytest.mark.parametrize("text", CASES.values(), ids=CASES.keys())
def test_undecided(check: Check, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sets, "_CASES", 0)
    _, found = check(text)
    assert [each.code for each in found] == ["undecided"]
    assert found[0].notes


def test_isl_that_runs_out_of_operations_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    from tdl.language import forms
    from tdl.language.conditions import at_least, equal
    from tdl.language.forms import Symbol

    monkeypatch.setattr(sets, "_OPERATIONS", 1)
    monkeypatch.setattr(sets, "_verdicts", {})
    a, b = (forms.symbol(Symbol(name, "index")) for name in "ab")
    with pytest.raises(sets.Undecided):
        sets.is_empty([equal(a * 7, b * 5 + 1), at_least(a, 100), at_least(b, a * 3)])
