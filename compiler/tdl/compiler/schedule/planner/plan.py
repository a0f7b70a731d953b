"""The automatic schedule: what is cheap is inlined, rows are kept together, products tiled, the rest put in vectors.

Sizes that are open are guessed for the choice of numbers alone; lines are proved without them.
"""

from __future__ import annotations

from collections.abc import Mapping

from tdl.compiler.schedule.planner.dots import in_dots
from tdl.compiler.schedule.planner.draft import Draft
from tdl.compiler.schedule.planner.fusion import in_rows, inlined
from tdl.compiler.schedule.planner.hardware import Hardware, this_machine
from tdl.compiler.schedule.planner.products import product_of
from tdl.compiler.schedule.planner.shapes import shape_of, shapes_of
from tdl.compiler.schedule.planner.stencils import in_strips
from tdl.compiler.schedule.planner.threads import in_parallel
from tdl.compiler.schedule.planner.tiles import in_tiles
from tdl.compiler.schedule.planner.turns import turned
from tdl.compiler.schedule.planner.vectors import in_vectors
from tdl.language.forms import Symbol
from tdl.language.scope import Declaration
from tdl.language.tree import Program
from tdl.language.witness import size_symbols

_GUESS = 512


def plan(
    op: Declaration,
    program: Program,
    sizes: Mapping[Symbol, int],
    guesses: Mapping[Symbol, int] | None = None,
    hardware: Hardware | None = None,
) -> Draft:
    """The schedule of an op whose program has those sizes bound."""
    assumed = {**dict.fromkeys(size_symbols(program), _GUESS), **(guesses or {}), **sizes}
    hardware = hardware or this_machine()
    draft = inlined(Draft(op, program, sizes, assumed))
    products = {
        draft.nest.groups[shape.tensor]: shape.name for shape in shapes_of(draft.nest) if product_of(draft, shape)
    }
    for shape in reversed(shapes_of(draft.nest)):
        if shape_of(draft.nest, shape.name) is not None and shape.tensor not in products:
            draft = in_rows(draft, shape.name, frozenset(products))
            draft = in_strips(draft, shape.name, hardware)
    for name in products.values():
        shape_now = shape_of(draft.nest, name)
        product = None if shape_now is None else product_of(draft, shape_now)
        if product is not None:
            draft = in_dots(draft, product, hardware).otherwise(in_tiles(draft, product, hardware))
    for shape in shapes_of(draft.nest):
        draft = turned(draft, shape.name, hardware)
    return in_parallel(in_vectors(draft, hardware))
