"""Strongly connected components and reachability, iteratively and in a stable order."""

from collections.abc import Iterable, Iterator, Mapping


def components(edges: Mapping[str, Iterable[str]]) -> list[tuple[str, ...]]:
    """The strongly connected components (Tarjan), each sorted; what they lead to comes before them.

    Targets that are no keys are vertices without edges.
    """
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: list[str] = []
    result: list[tuple[str, ...]] = []
    for root in edges:
        if root not in order:
            _visit(root, edges, order, low, open_, result)
    return result


def _visit(
    root: str,
    edges: Mapping[str, Iterable[str]],
    order: dict[str, int],
    low: dict[str, int],
    open_: list[str],
    result: list[tuple[str, ...]],
) -> None:
    def enter(vertex: str) -> tuple[str, Iterator[str]]:
        order[vertex] = low[vertex] = len(order)
        open_.append(vertex)
        waiting.add(vertex)
        return vertex, iter(edges.get(vertex, ()))

    waiting: set[str] = set(open_)
    path = [enter(root)]
    while path:
        vertex, targets = path[-1]
        target = next(targets, None)
        if target is None:
            path.pop()
            if path:
                low[path[-1][0]] = min(low[path[-1][0]], low[vertex])
            if low[vertex] == order[vertex]:
                at = open_.index(vertex)
                waiting.difference_update(open_[at:])
                result.append(tuple(sorted(open_[at:])))
                del open_[at:]
        elif target not in order:
            path.append(enter(target))
        elif target in waiting:
            low[vertex] = min(low[vertex], order[target])


def reach(edges: Mapping[str, Iterable[str]]) -> dict[str, frozenset[str]]:
    """What each vertex leads to, itself only where it lies on a cycle."""
    result: dict[str, frozenset[str]] = {}
    for members in components(edges):
        inside = set(members)
        found: set[str] = set()
        for member in members:
            for target in edges.get(member, ()):
                found.add(target)
                if target not in inside:
                    found |= result[target]
        if len(members) > 1:
            found |= inside
        shared = frozenset(found)
        for member in members:
            result[member] = shared
    return result
