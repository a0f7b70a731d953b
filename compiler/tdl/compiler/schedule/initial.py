"""Where reductions begin: the identity is stored in a copy of the spatial loops, just before the outermost loop that
runs over the reduction.

    for j                           for j
        for k                  ->       for i
            for i                           C[i, j] = 0
                C[i, j] += ...          for k
                                            for i
                                                C[i, j] += ...

Nobody writes these statements, and no line of a schedule speaks of them: they follow from where the loops are at last.
Where the loop runs at least once and each tile of results is copied to nearer memory inside of it, the tile begins
there, in the loop's first iteration, in place of the copy:

    for j                           for ko
        C[i, j] = 0         ->          if ko == 0:  Cr = 0    else:  Cr = C
    for ko                              for ki:  Cr += ...
        Cr = C                          C = Cr
        for ki:  Cr += ...
        C = Cr

A loop that is spatial and of the reduction at once (two that were fused) is not copied; the index it counts runs over
all values that it has there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tdl.compiler.schedule.extremes import eliminated
from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.told import told_loops
from tdl.compiler.schedule.touches import reduced_symbols, touches
from tdl.compiler.schedule.tree import Copy, Initial, Leaf, Loop, Nest, Node, Stage, Update
from tdl.compiler.schedule.walk import Path, binders_of, leaves_of, map_leaves, path_to, replace_loop, substitute
from tdl.language import forms
from tdl.language.diagnostic import InternalError
from tdl.language.domains import Domain
from tdl.language.forms import Form, Symbol
from tdl.language.inequalities import Facts
from tdl.language.proof import holds
from tdl.language.sets import Undecided
from tdl.language.witness import size_facts

SUFFIX = ".init"


def with_initialisations(nest: Nest) -> Nest:
    """The nest with a stage `C.init` for every update `C`. Raises Refusal where no loops would do."""
    placer = _Placer(nest)
    body = placer.nodes(nest.body)
    return replace(nest, body=body, stages={**nest.stages, **placer.stages})


def check_beginnings(nest: Nest) -> None:
    """Refuse a nest that leaves some reduction no place to begin.

    Only a loop that counts both the reduction and an element can be at fault, and most nests have none.
    """
    placer = _Placer(nest)
    for path, leaf in leaves_of(nest.body):
        stage = nest.stages[leaf.stage]
        if isinstance(stage.work, Update):
            at, dropped = dict(leaf.at), _with_dependents(path, placer.reduced(leaf, path))
            if any(not dropped.isdisjoint(at[binder.index].symbols()) for binder in stage.indices):
                with_initialisations(nest)
                return


class _Placer:
    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        self.facts = size_facts(nest.program)
        self.updates = {name: stage for name, stage in nest.stages.items() if isinstance(stage.work, Update)}
        self.stages = {f"{name}{SUFFIX}": _initial(stage) for name, stage in self.updates.items()}
        self.found: dict[tuple[int, int], set[Symbol]] = {}

    def nodes(self, nodes: tuple[Node, ...], outer: Path = (), begun: frozenset[str] = frozenset()) -> tuple[Node, ...]:
        """The nodes with initialisations before those that begin a reduction; `begun` are stages that did before."""
        result: list[Node] = []
        here: set[str] = set()
        for node in nodes:
            beginning = [stage for stage in dict.fromkeys(self._beginning(node, outer)) if stage not in begun]
            for stage in beginning:
                tiled = None if stage in here else self._begun_in_tiles(stage, node, outer)
                if tiled is not None:
                    node = tiled
                elif stage not in here:
                    result.extend(self._copies(stage, nodes, outer))
            here.update(beginning)
            if isinstance(node, Loop):
                inner = self.nodes(node.body, (*outer, node), begun | frozenset(beginning))
                node = replace(node, body=inner)
            result.append(node)
        return tuple(result)

    def reduced(self, leaf: Leaf, path: Path) -> set[Symbol]:
        """The loops that run over a leaf's reduction, inside of where its results are kept.

        These are its group's loops, but for those whose values the spatial indices tell.
        """
        key = (id(leaf), len(path))
        if key not in self.found:
            self.found[key] = self._reduced(leaf, path)
        return self.found[key]

    def _reduced(self, leaf: Leaf, path: Path) -> set[Symbol]:
        stage = self.updates[leaf.stage]
        around = _around_storage(self.nest, stage, path)
        own = {binder.index for binder in stage.indices}
        over = reduced_symbols(stage, leaf)
        told = told_loops([form for index, form in leaf.at if index in own], over, path, around, self.facts)
        group = self.nest.groups.get(stage.writes[0].tensor)
        untold = [loop for loop in path[around:] if loop.symbol not in told]
        return {loop.symbol for loop in untold if loop.symbol in over or self._is_of(loop, group)}

    def _is_of(self, loop: Loop, group: str | None) -> bool:
        stage = self.nest.stages.get(loop.stage)
        return stage is not None and self.nest.groups.get(stage.writes[0].tensor) == group

    def is_placed(self, name: str, outer: Path) -> bool:
        """Whether the stage stands in loops of others, which may leave it only a part."""
        group = self.nest.groups.get(self.updates[name].writes[0].tensor)
        return any(not self._is_of(loop, group) for loop in outer)

    def is_elsewhere(self, name: str, nodes: tuple[Node, ...], outer: Path) -> bool:
        """Whether some of the stage begins at another place than among these nodes: what `peel` parted."""
        here = sum(leaf.stage == name for node in nodes for leaf in self._leaves_beginning(node, outer))
        return here < sum(leaf.stage == name for _, leaf in leaves_of(self.nest.body))

    def _beginning(self, node: Node, outer: Path) -> Iterator[str]:
        """The updates whose outermost reduction loop is the node, or that stand here without any."""
        return (leaf.stage for leaf in self._leaves_beginning(node, outer))

    def _leaves_beginning(self, node: Node, outer: Path) -> Iterator[Leaf]:
        if isinstance(node, Leaf):
            if node.stage in self.updates:
                yield node
            return
        for path, leaf in leaves_of((node,)):
            if leaf.stage in self.updates and node.symbol in self.reduced(leaf, (*outer, *path)):
                yield leaf

    def _copies(self, name: str, nodes: tuple[Node, ...], outer: Path) -> tuple[Node, ...]:
        """The spatial loops of all leaves of the stage that begin among the nodes, around its initialisation."""
        found: list[Node] = []
        is_placed, is_elsewhere = self.is_placed(name, outer), self.is_elsewhere(name, nodes, outer)
        for node in nodes:
            if name in self._beginning(node, outer):
                for path, leaf in leaves_of((node,)):
                    if leaf.stage == name:
                        dropped = self.reduced(leaf, (*outer, *path))
                        leaf = replace(leaf, through=_kept_outside(self.nest, leaf, outer))
                        copy = _Copy(self.updates[name], leaf, self.facts, is_placed, is_elsewhere).around(
                            path, dropped
                        )
                        found.extend(each for each in copy if each not in found)
        return tuple(found)

    def _begun_in_tiles(self, name: str, node: Node, outer: Path) -> Loop | None:
        """The outermost loop of a reduction with results begun where tiles of them are copied in, if they are."""
        update, nest = self.updates[name], self.nest
        if not isinstance(node, Loop) or node.kind != "serial" or node.descending or len(update.writes) > 1:
            return None
        tile = _tile(nest, update, node)
        if tile is None or self.is_elsewhere(name, (node,), outer) or not self._runs(node, outer):
            return None
        dropped: set[Symbol] = set()
        elements: set[Symbol] = set()
        for path, leaf in leaves_of((node,)):
            if leaf.stage == name:
                dropped |= _with_dependents(path, self.reduced(leaf, (*outer, *path)))
                at_values = dict(leaf.at)
                elements.update(symbol for each in update.indices for symbol in at_values[each.index].symbols())
        at = path_to((node,), tile.at)
        if any(loop.symbol in dropped for loop in at[1:]) or node.symbol in elements:
            return None  # the first iteration does not see all elements
        first, later = node.lo - forms.symbol(node.symbol), forms.symbol(node.symbol) - node.lo - 1
        try:
            begun = _guarded(self._tile_copies(update, tile.tensor, at[-1], dropped), f"{name}{SUFFIX}", first)
        except Refusal:
            return None
        copied = _guarded(at[-1].body, tile.tensor, later)
        (result,) = replace_loop((node,), tile.at, lambda loop: (replace(loop, body=(*begun, *copied)),))
        assert isinstance(result, Loop)
        return result

    def _runs(self, loop: Loop, outer: Path) -> bool:
        """Whether the loop has an iteration, as is known of the sizes."""
        extent = loop.hi - loop.lo - 1
        try:
            return extent.is_affine and holds(extent, self.facts, Domain(binders_of(outer)))
        except Undecided:
            return False

    def _tile_copies(self, update: Stage, cache: str, at: Loop, dropped: set[Symbol]) -> tuple[Node, ...]:
        """The spatial loops inside of a tile around its beginning."""
        found: list[Node] = []
        for path, leaf in leaves_of(at.body):
            if leaf.stage == update.name:
                leaf = replace(leaf, through=((update.writes[0].tensor, cache),))
                copies = _Copy(update, leaf, self.facts, True, False).around(path, dropped)
                found.extend(each for each in copies if each not in found)
        return tuple(found)


@dataclass(frozen=True, slots=True)
class _Tile:
    """A copy of results, kept in the body of the loop `at`."""

    tensor: str
    at: Symbol


def _tile(nest: Nest, update: Stage, loop: Loop) -> _Tile | None:
    """The copy through which alone the update's results are touched in the loop, and which comes in from them."""
    tensor = update.writes[0].tensor
    leaves = [leaf for _, leaf in leaves_of((loop,))]
    updates = [leaf for leaf in leaves if leaf.stage == update.name]
    caches = {dict(leaf.through).get(tensor) for leaf in updates}
    if update.domain is not None or len(caches) > 1 or any(leaf.guards for leaf in updates):
        return None
    cache = caches.pop()
    if cache is None or [leaf.through for leaf in leaves if leaf.stage == cache] != [()]:
        return None
    work, at = nest.stages[cache].work, nest.buffers[cache].at
    if not isinstance(work, Copy) or work.source.tensor != tensor or at is None or not path_to((loop,), at):
        return None
    own = (update.name, cache, f"{cache}.out")
    others = [leaf for leaf in leaves if leaf.stage not in own]
    if any(touch.tensor == tensor for leaf in others for touch in touches(nest, leaf)):
        return None
    return _Tile(cache, at)


def _guarded(nodes: tuple[Node, ...], stage: str, guard: Form) -> tuple[Node, ...]:
    """The nodes with one more condition on the statement of a stage."""

    def change(leaf: Leaf) -> tuple[Node, ...]:
        return (replace(leaf, guards=(*leaf.guards, guard)) if leaf.stage == stage else leaf,)

    return map_leaves(nodes, change)


class _Copy:
    """The spatial loops of one leaf, without those of the reduction."""

    def __init__(self, stage: Stage, leaf: Leaf, facts: Facts, is_placed: bool, is_elsewhere: bool) -> None:
        self.stage, self.leaf, self.facts = stage, leaf, facts
        self.is_placed, self.is_elsewhere = is_placed, is_elsewhere
        self.at = dict(leaf.at)

    def around(self, path: Path, reduced: set[Symbol]) -> tuple[Node, ...]:
        dropped = _with_dependents(path, reduced)
        kept = [loop for loop in path if loop.symbol not in dropped]
        at: dict[Symbol, Form] = {}
        fresh: list[Loop] = []
        for binder in self.stage.indices:
            form = self.at[binder.index]
            if any(symbol in dropped for symbol in form.symbols()):
                fresh.append(self._over_all(binder.index, form, path, dropped))
                form = forms.symbol(fresh[-1].symbol)
            at[binder.index] = form
        guards = tuple(guard for guard in self.leaf.guards if not any(symbol in dropped for symbol in guard.symbols()))
        name = f"{self.stage.name}{SUFFIX}"
        body: tuple[Node, ...] = (Leaf(name, tuple(at.items()), guards, self.leaf.through),)
        for loop in reversed((*kept, *fresh)):
            symbol = Symbol(f"{name}.{loop.name}", "index")
            body = substitute(body, {loop.symbol: forms.symbol(symbol)})
            body = (replace(loop, stage=name, symbol=symbol, body=body, intrinsic=None),)
        return body

    def _over_all(self, own: Symbol, form: Form, path: Path, dropped: set[Symbol]) -> Loop:
        """A loop over all values that an own index has while the dropped loops run."""
        whole = self._whole(own, form, path)
        if whole is not None:
            return whole
        lo: Form | None = form
        hi = lo
        for binder in reversed(binders_of(tuple(loop for loop in path if loop.symbol in dropped))):
            lo = None if lo is None else eliminated(lo, binder, "least", self.facts)
            hi = None if hi is None else eliminated(hi, binder, "greatest", self.facts)
        if lo is None or hi is None or self.is_elsewhere or not _is_gapless(form, dropped):
            message = f"the elements of `{self.stage.name}` that begin here are no range of `{own}`"
            raise Refusal("schedule", message, f"`{own}` is {form}, in loops that run over the reduction as well")
        return Loop(self.stage.name, own.name, own, lo, hi + 1, ())

    def _whole(self, own: Symbol, form: Form, path: Path) -> Loop | None:
        """The index's own range, where every loop that counts it begins here: then it takes all of its values.

        Not where it is placed, or begins elsewhere too: then these loops may leave it only some.
        """
        inside = {loop.symbol: loop for loop in path}
        moving = {symbol for symbol in form.symbols() if symbol.kind == "index"}
        if self.is_placed or self.is_elsewhere or not moving <= set(inside):
            return None
        ends = [end for symbol in moving for end in (inside[symbol].lo, inside[symbol].hi)]
        if any(symbol.kind == "index" and symbol not in moving for end in ends for symbol in end.symbols()):
            return None  # its range depends on what other indices are
        binder = next(binder for binder in self.stage.indices if binder.index == own)
        lo, hi = (forms.substitute(end, self.at) for end in (binder.lo, binder.hi))
        if any(symbol in inside for end in (lo, hi) for symbol in end.symbols()):
            return None
        return Loop(self.stage.name, own.name, own, lo, hi, ())


def _around_storage(nest: Nest, stage: Stage, path: Path) -> int:
    """How many loops of a path there are down to the one for whose iterations the results are kept."""
    at = nest.buffers[stage.writes[0].tensor].at
    symbols = [loop.symbol for loop in path]
    return symbols.index(at) + 1 if at in symbols else 0


def _initial(stage: Stage) -> Stage:
    assert isinstance(stage.work, Update)
    work = Initial(stage.work.targets, stage.work.reducer)
    return replace(stage, name=f"{stage.name}{SUFFIX}", work=work, reduction=(), filter=None)


def _kept_outside(nest: Nest, leaf: Leaf, outer: Path) -> tuple[tuple[str, str], ...]:
    """The caches that a leaf goes through, where they live outside of the reduction; else what they are copies of."""
    found: list[tuple[str, str]] = []
    around = {loop.symbol for loop in outer}
    written = {target.tensor for target in nest.stages[leaf.stage].writes}
    for tensor, cache in leaf.through:
        if tensor not in written:
            continue
        while cache != tensor and nest.buffers[cache].at is not None and nest.buffers[cache].at not in around:
            if cache not in {leaf.stage for _, leaf in leaves_of(nest.body)}:
                message = f"`{cache}` brings nothing in, and the reduction of `{tensor}` would begin outside of it"
                raise Refusal("schedule", message)
            cache = _copied(nest, cache)
        if cache != tensor:
            found.append((tensor, cache))
    return tuple(found)


def _copied(nest: Nest, cache: str) -> str:
    """What a cache is a copy of: a tensor, or another cache of it."""
    for _, leaf in leaves_of(nest.body):
        work = nest.stages[leaf.stage].work if leaf.stage in (cache, f"{cache}.out") else None
        if isinstance(work, Copy):
            far = work.source if leaf.stage == cache else work.target
            return dict(leaf.through).get(far.tensor, far.tensor)
    raise InternalError(f"{cache} is a copy of nothing")


def _with_dependents(path: Path, reduced: set[Symbol]) -> set[Symbol]:
    """The loops of the reduction, and those whose ranges depend on these."""
    dropped = set(reduced)
    for loop in path:
        if any(symbol in dropped for end in (loop.lo, loop.hi) for symbol in end.symbols()):
            dropped.add(loop.symbol)
    return dropped


def _is_gapless(form: Form, dropped: set[Symbol]) -> bool:
    """Whether the form takes every value between its least and its greatest: one step at a time in one of the loops."""
    moving = [(atom, count) for atom, count in form.terms if any(s in dropped for s in Form(((atom, 1),), 0).symbols())]
    return len(moving) == 1 and moving[0][1] == 1 and isinstance(moving[0][0], Symbol | forms.FloorDiv)
