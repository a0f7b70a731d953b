"""Strongly connected components of a small graph, in topological order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


def strong_components(nodes: Sequence[int], needs: Mapping[int, Iterable[int]]) -> list[list[int]]:
    """Components such that each comes after those it needs; of several that may come next, the one with the least node.

    Two nodes are in one component if each needs the other, directly or through others.
    """
    reached = {node: _reached(node, needs, set(nodes)) for node in nodes}
    components: dict[int, list[int]] = {}
    for node in nodes:
        first = next((other for other in components if node in reached[other] and other in reached[node]), node)
        components.setdefault(first, []).append(node)
    return _sorted(components, reached)


def _reached(start: int, needs: Mapping[int, Iterable[int]], among: set[int]) -> set[int]:
    found: set[int] = set()
    waiting = [start]
    while waiting:
        for node in needs.get(waiting.pop(), ()):
            if node in among and node not in found:
                found.add(node)
                waiting.append(node)
    return found


def _sorted(components: dict[int, list[int]], reached: Mapping[int, set[int]]) -> list[list[int]]:
    waiting = {first: sorted(members) for first, members in components.items()}
    ordered: list[list[int]] = []
    while waiting:
        ready = [f for f in waiting if not any(other != f and other in reached[f] for other in waiting)]
        chosen = min(ready, key=lambda first: waiting[first][0])
        ordered.append(waiting.pop(chosen))
    return ordered
