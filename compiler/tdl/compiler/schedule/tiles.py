"""How many iterations a tile has."""

from __future__ import annotations

from tdl.language import forms
from tdl.language.forms import Form


def tile_size(extent: Form, factor: int, outer: Form) -> Form:
    """How many iterations the tile `outer` has: `factor`, or what is left in the last one."""
    left = extent - outer * factor
    if forms.modulo(extent, forms.constant(factor)) == forms.ZERO:
        return forms.constant(factor)
    return forms.extreme("min", forms.constant(factor), left)


def balanced_tile(least: int, larger: Form, outer: Form) -> Form:
    """Of the tile `outer`: one more than `least` in the first `larger` tiles."""
    one_more = forms.extreme("min", forms.constant(1), forms.extreme("max", forms.ZERO, larger - outer))
    return one_more + least
