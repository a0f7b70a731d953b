"""Conditions go around loops that decide nothing of them."""

from dataclasses import replace

from tdl.compiler.kernel.tree import Guard, Kernel, Loop, Place, Store
from tdl.compiler.lower.hoist import hoist_guards
from tdl.compiler.lower.simplify import condition
from tdl.language import forms
from tdl.language.dtypes import F32
from tdl.language.forms import Symbol
from tdl.language.tree import Number

I, J = Symbol("i", "index"), Symbol("j", "index")
STORE = Store(Place("Y", forms.symbol(J)), Number(1.0, F32))


def loop(symbol, *body):
    return Loop(symbol, forms.ZERO, forms.constant(4), body)


def guard(*tests):
    return Guard(condition(tests), (STORE,))


def hoisted(*body):
    return hoist_guards(Kernel(None, {}, body)).body


def test_out_of_the_loops_that_it_does_not_speak_of():
    test = guard(forms.symbol(I) - 1)
    assert hoisted(loop(I, loop(J, test))) == (loop(I, replace(test, body=(loop(J, STORE),))),)


def test_only_the_part_that_the_loop_does_not_decide():
    both = guard(forms.symbol(I) - 1, forms.symbol(J) - 2)
    outer, inner = guard(forms.symbol(I) - 1), guard(forms.symbol(J) - 2)
    assert hoisted(loop(I, loop(J, both))) == (loop(I, replace(outer, body=(loop(J, inner),))),)


def test_what_the_loop_decides_or_does_besides_keeps_it_in():
    own = loop(J, guard(forms.symbol(J) - 1))
    beside = loop(J, guard(forms.symbol(I) - 1), STORE)
    assert hoisted(own, beside) == (own, beside)
