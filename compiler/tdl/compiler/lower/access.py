"""Accesses of tensors become offsets into buffers: boundaries become conditions around them, checks part of them.

    X[i - 1 | 0]            X[i - 1] if i - 1 >= 0 and N - i >= 0 else 0
    X[i - 1 | edge]         X[max(0, min(i - 1, N - 1))]
    T[I[n]]                 T[checked(I[n], V)]

So nothing after this knows of boundaries, and what makes conditions simpler (ranges, splitting of loops) serves them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tdl.compiler.kernel.tree import Checked, Place
from tdl.compiler.lower.known import Known
from tdl.compiler.lower.simplify import condition, conditions_of, simplified
from tdl.compiler.lower.storage import Storage
from tdl.language import forms
from tdl.language.dtypes import I64
from tdl.language.forms import Form, Opaque, Symbol
from tdl.language.tree import Access, Binary, Expr, Integer, Let, Local, Reduce, Select, Target, map_children


@dataclass(frozen=True)
class Accesses:
    """Rewrites expressions of a stage where it stands: `values` are its own indices, `through` its caches.

    `names` gives names that nobody else binds.
    """

    storages: Mapping[str, Storage]
    values: Mapping[Symbol, Form]
    through: Mapping[str, str]
    names: Iterator[str]

    def place(self, target: Target, known: Known) -> Place:
        """The element that a target names."""
        storage = self._storage(target.tensor)
        coordinates = tuple(forms.substitute(form, self.values) for form in target.coordinates)
        return Place(storage.buffer.name, storage.offset(coordinates, known))

    def expr(self, expr: Expr, known: Known) -> Expr:
        """The expression on buffers."""
        match expr:
            case Access():
                return self._access(expr, known)
            case Select(test, then, other):
                test = self.expr(test, known)
                chosen = self.expr(then, known.where(conditions_of(test)))
                return replace(expr, condition=test, then=chosen, other=self.expr(other, known))
            case Binary("and", left, right):
                left = self.expr(left, known)
                return replace(expr, left=left, right=self.expr(right, known.where(conditions_of(left))))
            case Reduce(_, binders, test):
                for binder in binders:
                    known = known.inside(binder.index, self.form(binder.lo, known), self.form(binder.hi, known))
                if test is not None:
                    known = known.where(conditions_of(self.expr(test, known)))
        return map_children(expr, lambda each: self.expr(each, known), lambda form: self.form(form, known))

    def form(self, form: Form, known: Known) -> Form:
        return forms.substitute(form, self.values, lambda each: self.expr(each, known))

    def _storage(self, tensor: str) -> Storage:
        return self.storages[self.through.get(tensor, tensor)]

    # ---- one access

    def _access(self, access: Access, known: Known) -> Expr:
        storage = self._storage(access.tensor)
        subscripts = [self.form(form, known) for form in access.subscripts]
        if access.boundary is None:
            for axis, is_checked in enumerate(access.checked):
                if is_checked:
                    subscripts[axis] = _checked(access, axis, subscripts[axis], storage.sizes[axis], known)
            return _read(access, storage, subscripts, known)
        bound: list[tuple[str, Form]] = []
        for axis, form in enumerate(subscripts):
            if not form.is_affine:
                name = next(self.names)
                bound.append((name, form))
                subscripts[axis] = forms.opaque(Local(name, I64))
        if access.boundary.value is None:
            pairs = zip(subscripts, storage.sizes)
            moved = [simplified(_brought_inside(access.boundary.mode, *pair, known), known) for pair in pairs]
            result: Expr = _read(access, storage, moved, known)
        else:
            result = self._or_else(access, storage, subscripts, access.boundary.value, known)
        for name, form in reversed(bound):
            result = Let(name, Integer(form), result, span=access.span)
        return result

    def _or_else(
        self, access: Access, storage: Storage, subscripts: Sequence[Form], outside: Expr, known: Known
    ) -> Expr:
        inside = [form for at, size in zip(subscripts, storage.sizes) for form in (at, size - at - 1)]
        unknown = [form for form in inside if not known.holds(form)]
        test = condition(unknown)
        if test is None:
            return _read(access, storage, subscripts, known)
        value = _read(access, storage, subscripts, known.where(unknown))
        return Select(test, value, self.expr(outside, known), access.dtype, span=access.span)


def _read(access: Access, storage: Storage, subscripts: Sequence[Form], known: Known) -> Access:
    offset = storage.offset(tuple(subscripts), known)
    return Access(storage.buffer.name, (offset,), access.dtype, span=access.span)


def _checked(access: Access, axis: int, subscript: Form, size: Form, known: Known) -> Form:
    if known.holds(subscript) and known.holds(size - subscript - 1):
        return subscript
    args = (Integer(subscript), Integer(size))
    checked = Checked("checked", args, I64, tensor=access.tensor, axis=axis, span=access.span)
    return Form(((Opaque(checked), 1),), 0)


def _brought_inside(mode: str, at: Form, size: Form, known: Known) -> Form:
    """The subscript that a boundary reads instead; 0 where the axis has one element (or none, and nobody reads)."""
    last = size - 1
    if mode == "edge":
        return forms.extreme("max", forms.ZERO, forms.extreme("min", at, last))
    period = size if mode == "wrap" else last * 2
    if not known.holds(period - 1):
        period = forms.extreme("max", period, forms.constant(1))
    turned = forms.modulo(at, period)
    return turned if mode == "wrap" else forms.extreme("min", turned, last * 2 - turned)
