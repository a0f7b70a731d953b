"""Sums over products of two tensors, in tiles that stay in registers and panels that stay in a cache.

C[i, j] = sum(A[i, k] * B[k, j] for k)      i: what only A has, j: what only B has, in vectors; B is packed
"""

from __future__ import annotations

from dataclasses import dataclass

from tdl.compiler.schedule.planner.draft import Draft
from tdl.compiler.schedule.planner.hardware import Hardware
from tdl.compiler.schedule.planner.shapes import Shape, extent
from tdl.compiler.schedule.tree import Loop
from tdl.language.dtypes import DType
from tdl.language.forms import Symbol
from tdl.language.tree import Access

Own = tuple[Loop, Symbol]


@dataclass(frozen=True)
class Product:
    """`wide` has the index `j`, and `tall` the index `i`, which the other has not."""

    shape: Shape
    i: Own
    j: Own
    tall: Access
    wide: Access


def product_of(draft: Draft, shape: Shape) -> Product | None:
    """The product that a stage is, if it is one with something to keep near in both directions."""
    if not shape.is_sum or shape.stage.name != shape.tensor or shape.stage.filter or shape.stage.domain:
        return None
    if not shape.summed or len(shape.own) < 2 or len(shape.own) != len(shape.stage.indices):
        return None
    reads = list(dict.fromkeys(shape.accesses))
    if len(reads) != 2 or len(shape.stage.work.targets) != 1:  # type: ignore[union-attr]
        return None
    found: list[tuple[tuple[bool, int], Product]] = []
    for wide, tall in (reads, reads[::-1]):
        for j in shape.own:
            if _has(wide, j[1]) and not _has(tall, j[1]) and _is_last(shape, j[1]):
                for i in shape.own:
                    if _has(tall, i[1]) and not _has(wide, i[1]):
                        size = extent(i[0], shape.path, draft.assumed)
                        found.append(((shape.walk(wide, j[1]) == "contiguous", size), Product(shape, i, j, tall, wide)))
    return max(found, key=lambda each: each[0])[1] if found else None


def _has(access: Access, index: Symbol) -> bool:
    return any(form.mentions(index) for form in access.subscripts)


def _is_last(shape: Shape, index: Symbol) -> bool:
    return shape.stage.writes[0].coordinates[-1].symbol == index


# ---- how large tiles are


@dataclass(frozen=True)
class Tile:
    """`rows` times `vectors` accumulators."""

    rows: int
    vectors: int
    cycles: float


def best_tile(rows: int, columns: int, lanes: int, registers: int) -> Tile:
    """The tile that takes the fewest cycles for all of the result, for each step of the sum.

    A step multiplies and adds each accumulator, two a cycle; reads a vector for each column and a number for each row,
    two a cycle; and no accumulator is ready again before four cycles.
    """
    tiles = [
        Tile(high, wide, -(-rows // high) * -(-columns // (wide * lanes)) * _cycles(high, wide))
        for wide in range(1, 5)
        for high in range(1, 15)
        if high * wide + wide <= max(registers - 2, 2)
    ]
    return min(tiles, key=lambda tile: (tile.cycles, -tile.vectors, tile.rows))


def _cycles(high: int, wide: int) -> float:
    """Of a step; reads are not quite hidden behind arithmetic."""
    return max(high * wide / 2, (high + wide) / 2, 4) + (high + wide) * 0.15


def in_tiles(draft: Draft, product: Product, hardware: Hardware) -> Draft | None:
    """The product in tiles; None where a line that it needs is refused."""
    shape = product.shape
    rows, columns = (extent(each[0], shape.path, draft.assumed) for each in (product.i, product.j))
    lanes = hardware.lanes(shape.dtype)
    tile = best_tile(rows, columns, lanes, hardware.registers)
    return _Writer(draft, product, hardware, tile, lanes, rows, columns).written()


@dataclass(frozen=True)
class _Writer:
    draft: Draft
    product: Product
    hardware: Hardware
    tile: Tile
    lanes: int
    rows: int
    columns: int

    @property
    def width(self) -> int:
        return self.tile.vectors * self.lanes

    @property
    def depth(self) -> int:
        """How often a tile is added to."""
        shape, count = self.product.shape, 1
        for loop, _ in shape.summed:
            count *= extent(loop, shape.path, self.draft.assumed)
        return count

    @property
    def is_packed(self) -> bool:
        """Whether the panel is used often enough to be copied, and every element of it is named by loops alone."""
        wide, (_, j) = self.product.wide, self.product.j
        plain = all(form.symbol is not None for form in wide.subscripts) and wide.boundary is None
        is_strided = self.product.shape.walk(wide, j) != "contiguous"
        return plain and (is_strided or (self.rows >= 4 * self.tile.rows and self.depth >= 16))

    def written(self) -> Draft | None:
        shape, tile = self.product.shape, self.tile
        stage, (i, i_index), (j, j_index) = shape.name, self.product.i, self.product.j
        ib, jb = (index.name.replace(".", "") for index in (i_index, j_index))
        jp, jr, ji, ir, ii = self.draft.free(f"{jb}p", f"{jb}r", f"{jb}i", f"{ib}r", f"{ib}i")
        panel = self._panel()
        draft: Draft | None = self.draft.all(
            (f"split {self._name(j)} by [{panel}, {self.width}] -> {jp}, {jr}, {ji}", self._panel_reason(panel)),
        )
        last = shape.summed[-1][0]
        summed = [each for each, _ in shape.summed]
        blocks: list[str] = []
        inner = [f"{stage}.{each.name}" for each in summed]
        block = self._block(panel)
        if draft is not None and block:
            kb = shape.summed[0][1].name.replace(".", "")
            ko, ki = draft.free(f"{kb}o", f"{kb}i")
            draft = draft.all(
                (
                    f"split {stage}.{summed[0].name} by {block} -> {ko}, {ki}",
                    f"{block} rows of a panel fit half of the second cache",
                )
            )
            blocks, inner[0] = [f"{stage}.{ko}"], f"{stage}.{ki}"
        if draft is None:
            return None
        assert last is not None
        held = f"{tile.rows * tile.vectors} sums and {tile.vectors} reads in {self.hardware.registers} registers"
        reason = f"{tile.rows} rows of {tile.vectors} vectors: {held}"
        draft = draft.all((f"split {stage}.{i.name} by {tile.rows} balanced -> {ir}, {ii}", reason))
        if draft is None:
            return None
        others = [each.label for each, _ in shape.own if each.symbol not in (i.symbol, j.symbol)]
        order = [
            *others,
            f"{stage}.{jp}",
            *blocks,
            f"{stage}.{ir}",
            f"{stage}.{jr}",
            *inner,
            f"{stage}.{ii}",
            f"{stage}.{ji}",
        ]
        draft = self._line(draft, "reorder {}", order, "each panel for all rows; a tile while the sum runs")
        if draft is None:
            return None
        if self.is_packed:
            draft = self._pack(draft, blocks[0] if blocks else f"{stage}.{jp}", jr, ji, inner)
        (cached,) = draft.free(f"{shape.tensor}r")
        made = draft.all(
            (
                f"cache {shape.tensor} at {_called(draft, f'{stage}.{jr}')} in register as {cached}",
                "the tile stays in registers while the sum runs",
            ),
            (
                f"vectorize {_called(draft, f'{stage}.{ji}')} by {self.lanes}",
                f"a vector holds {self.lanes} of {shape.dtype}",
            ),
        )
        made = (
            None
            if made is None
            else made.all((f"unroll {_called(made, f'{stage}.{ii}')}", "so that each row has its registers"))
        )
        return None if made is None else self._parallel(made, others, jp, ir, panel)

    def _name(self, loop: Loop) -> str:
        return self.draft.name(loop)

    def _line(self, draft: Draft, text: str, loops: list[str], reason: str) -> Draft | None:
        return draft.all((text.format(", ".join(_called(draft, label) for label in loops)), reason))

    def _panel(self) -> int:
        """How many columns are packed together: two tiles, if there are as many."""
        return self.width * (2 if self.columns > self.width else 1)

    def _panel_reason(self, panel: int) -> str:
        return f"tiles of {self.width} columns, {panel // self.width} to a panel"

    def _block(self, panel: int) -> int:
        """How many steps of the sum a panel has, where all of them would not fit."""
        dtype = self.product.shape.dtype
        size = dtype.bytes if isinstance(dtype, DType) else 4
        shape = self.product.shape
        first = extent(shape.summed[0][0], shape.path, self.draft.assumed)
        most = self.hardware.middle // (2 * panel * size * max(1, self.depth // max(1, first)))
        block = 1 << max(most.bit_length() - 1, 5)
        is_open = not self.product.shape.summed[0][0].hi.is_constant
        return block if first > 1.5 * block or (is_open and self.is_packed) else 0

    def _pack(self, draft: Draft, place: str, jr: str, ji: str, inner: list[str]) -> Draft:
        """The copy of a panel, in the order in which tiles read it."""
        wide, stage = self.product.wide, self.product.shape.name
        names = {form.symbol for form in wide.subscripts}
        summed = {index: label for (_, index), label in zip(self.product.shape.summed, inner) if index in names}
        short = [label.rpartition(".")[2] for label in summed.values()]
        own = [jr, *short, ji]
        (packed,) = draft.free(f"{wide.tensor}p")
        made = draft.all(
            (
                f"cache {wide.tensor} at {_called(draft, place)} as {packed} layout [{', '.join(own)}]",
                f"used by {-(-self.rows // self.tile.rows)} tiles of rows, each in this order",
            ),
        )
        if made is None:
            return draft
        assert stage
        return made

    def _parallel(self, draft: Draft, others: list[str], jp: str, ir: str, panel: int) -> Draft:
        """Threads on the batch, on panels, or on tiles of rows: the outermost with enough parts."""
        stage, shape = self.product.shape.name, self.product.shape
        if self.rows * self.columns * self.depth < 30_000:
            return draft
        counts = [
            (label, extent(loop, shape.path, draft.assumed))
            for label in others
            for loop, _ in shape.own
            if loop.label == label
        ]
        counts += [(f"{stage}.{jp}", -(-self.columns // panel)), (f"{stage}.{ir}", -(-self.rows // self.tile.rows))]
        for least in (4, 2):
            for label, count in counts:
                if count >= least:
                    made = draft.all((f"parallel {_called(draft, label)}", f"{count} parts"))
                    if made is not None:
                        return made
        return draft


def _called(draft: Draft, label: str) -> str:
    loop = draft.loop(label)
    return label if loop is None else draft.name(loop)
