"""Products in tiles that stay in registers while the sum runs, and panels of the wide operand that stay in a cache.

for jp: pack a panel of B          split C.j by [128, 64] -> jp, jr, ji
    for ir, jr: a tile of C        split C.i by 6 balanced -> ir, ii
        for k: ii, ji of it        reorder jp, ir, jr, C.k, ii, ji
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tdl.compiler.schedule.planner.draft import Draft
from tdl.compiler.schedule.planner.hardware import Hardware
from tdl.compiler.schedule.planner.products import Product
from tdl.language.dtypes import DType

_WORTH = 30_000
"""Multiplications that are worth waking threads for."""


@dataclass(frozen=True)
class Tile:
    """`rows` times `vectors` accumulators; `cycles` for each step of the sum, of all of the result."""

    rows: int
    vectors: int
    cycles: float


def best_tile(rows: int, columns: int, lanes: int, registers: int) -> Tile:
    """The tile that takes the fewest cycles for each step of the sum."""
    tiles = [
        Tile(high, wide, -(-rows // high) * -(-columns // (wide * lanes)) * _cycles(high, wide))
        for wide in range(1, 9)
        for high in range(1, 15)
        if high * wide + wide <= max(registers - 2, 2)
    ]
    return min(tiles, key=lambda tile: (tile.cycles, -tile.vectors, tile.rows))


def _cycles(high: int, wide: int) -> float:
    """Of a step, which multiplies and adds each accumulator, two a cycle; reads a vector for each column and a number
    for each row, two a cycle, not quite hidden behind arithmetic; and an accumulator is ready again after four."""
    return max(high * wide / 2, (high + wide) / 2, 4) + (high + wide) * 0.15


def in_tiles(draft: Draft, product: Product, hardware: Hardware) -> Draft:
    """The draft with the product in tiles, or as it was where a line that this needs is refused."""
    lanes = hardware.lanes(product.shape.dtype)
    rows, columns = (draft.extent(loop.label) for loop, _ in (product.i, product.j))
    tile = best_tile(rows, columns, lanes, hardware.registers)
    return _Plan(product, hardware, tile, lanes, rows, columns).written(draft).otherwise(draft)


@dataclass(frozen=True)
class _Plan:
    product: Product
    hardware: Hardware
    tile: Tile
    lanes: int
    rows: int
    columns: int

    @property
    def stage(self) -> str:
        return self.product.shape.name

    @property
    def width(self) -> int:
        """Columns of a tile."""
        return self.tile.vectors * self.lanes

    @property
    def panel(self) -> int:
        """Columns that are packed together: of two tiles, if there are as many."""
        return self.width * (2 if self.columns > self.width else 1)

    def written(self, draft: Draft) -> Draft:
        """The lines, one after the other."""
        (i, i_index), (j, j_index) = self.product.i, self.product.j
        ir, ii = draft.free(*_names(i_index.name, "r", "i"))
        jp, jr, ji = draft.free(*_names(j_index.name, "p", "r", "i"))
        is_wide = self.panel > self.width
        reason = f"tiles of {self.width} columns, {self.panel // self.width} to a panel"
        by, made = (f"[{self.panel}, {self.width}]", (jp, jr, ji)) if is_wide else (f"{self.width}", (jp, ji))
        draft, blocks, inner = self._blocked(draft.must(f"split {j.label} by {by} -> {', '.join(made)}", reason))
        held = f"{self.tile.rows * self.tile.vectors} sums and {self.tile.vectors} reads"
        reason = f"{self.tile.rows} rows of {self.tile.vectors} vectors: {held} in {self.hardware.registers} registers"
        draft = draft.must(f"split {i.label} by {self.tile.rows} balanced -> {ir}, {ii}", reason)
        others = [loop.label for loop, _ in self.product.shape.own if loop.symbol not in (i.symbol, j.symbol)]
        rest = self._labels(*((ir, jr) if is_wide else (ir,)))
        order = [*others, *self._labels(jp), *blocks, *rest, *inner, *self._labels(ii, ji)]
        reason = "a panel for all rows, a tile while the sum runs" if is_wide else "a tile while the sum runs"
        draft = draft.must(f"reorder {', '.join(map(draft.called, order))}", reason)
        if self._is_packed(draft):
            place = blocks[0] if blocks else f"{self.stage}.{jp}"
            draft = self._packed(draft, place, [*made[1:-1], *_shorts(inner, self._summed_in_wide(inner)), ji])
        return self._kept(self._parallel(draft, others, jp, ir), rest[-1], ii, ji)

    def _labels(self, *names: str) -> list[str]:
        return [f"{self.stage}.{name}" for name in names]

    def _blocked(self, draft: Draft) -> tuple[Draft, list[str], list[str]]:
        """The draft with the sum in blocks, if a panel of all of it is too large; the loops over blocks, and inside."""
        inner = [loop.label for loop, _ in self.product.shape.summed]
        (loop, index), block = self.product.shape.summed[0], self._block(draft)
        if not block:
            return draft, [], inner
        ko, ki = draft.free(*_names(index.name, "o", "i"))
        reason = f"{block} rows of a panel fit half of the second cache"
        draft = draft.must(f"split {loop.label} by {block} -> {ko}, {ki}", reason)
        return draft, self._labels(ko), [*self._labels(ki), *inner[1:]]

    def _block(self, draft: Draft) -> int:
        """How many steps of the outermost loop of the sum a panel has; 0 where it may have all."""
        dtype = self.product.shape.dtype
        size = dtype.bytes if isinstance(dtype, DType) else 4
        first, *others = (draft.extent(loop.label) for loop, _ in self.product.shape.summed)
        most = self.hardware.middle // (2 * self.panel * size * max(1, prod(others)))
        block = 1 << max(most.bit_length() - 1, 5)
        is_open = not self.product.shape.summed[0][0].hi.is_constant
        return block if first > 1.5 * block or (is_open and self._is_packed(draft)) else 0

    def _is_packed(self, draft: Draft) -> bool:
        """Whether a panel is used often enough to be copied, and each element of it by one step of the loops."""
        wide, (_, j) = self.product.wide, self.product.j
        is_plain = all(form.symbol is not None for form in wide.subscripts) and wide.boundary is None
        is_strided = self.product.shape.walk(wide, j) != "contiguous"
        return is_plain and (is_strided or self.rows >= 4 * self.tile.rows)

    def _summed_in_wide(self, inner: list[str]) -> list[bool]:
        """Which of the loops of the sum the wide operand moves with."""
        named = {form.symbol for form in self.product.wide.subscripts}
        return [index in named for _, index in self.product.shape.summed[: len(inner)]]

    def _packed(self, draft: Draft, place: str, items: list[str]) -> Draft:
        """The copy of a panel, in the order in which tiles read it."""
        wide = self.product.wide.tensor
        (name,) = draft.free(f"{wide}p")
        reason = f"used by {-(-self.rows // self.tile.rows)} tiles of rows, in this order"
        return draft.line(f"cache {wide} at {draft.called(place)} as {name} layout [{', '.join(items)}]", reason)

    def _kept(self, draft: Draft, place: str, ii: str, ji: str) -> Draft:
        """The tile in registers, and its loops as instructions."""
        tensor = self.product.shape.tensor
        (name,) = draft.free(f"{tensor}r")
        reason = "the tile stays in registers while the sum runs"
        draft = draft.must(f"cache {tensor} at {draft.called(place)} in register as {name}", reason)
        rows, columns = (draft.called(f"{self.stage}.{each}") for each in (ii, ji))
        draft = draft.must(f"vectorize {columns} by {self.lanes}", f"a vector holds {self.lanes} of {self._dtype}")
        return draft.must(f"unroll {rows}", "so that each row has registers of its own")

    @property
    def _dtype(self) -> str:
        return str(self.product.shape.dtype)

    def _parallel(self, draft: Draft, others: list[str], jp: str, ir: str) -> Draft:
        """Threads on the batch, on panels, or on tiles of rows: the outermost with enough parts."""
        depth = prod(draft.extent(loop.label) for loop, _ in self.product.shape.summed)
        if self.rows * self.columns * depth < _WORTH:
            return draft
        labels = [*others, *self._labels(jp, ir)]
        for least in (4, 2):
            for label in labels:
                count = draft.extent(label)
                if count >= least:
                    made = draft.must(f"parallel {draft.called(label)}", f"{count} parts")
                    if not made.is_refused:
                        return made
        return draft


def _names(index: str, *ends: str) -> list[str]:
    base = index.replace(".", "")
    return [f"{base}{end}" for end in ends]


def _shorts(labels: list[str], kept: list[bool]) -> list[str]:
    return [label.rpartition(".")[2] for label, is_kept in zip(labels, kept) if is_kept]
