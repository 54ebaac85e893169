"""Graphs: strongly connected components and reachability, iterative and in a stable order."""

from collections.abc import Iterable, Iterator, Mapping


def components(edges: Mapping[str, Iterable[str]]) -> list[tuple[str, ...]]:
    """Return the strongly connected components (Tarjan), each sorted, after the components that they lead to.

    Targets that are not keys are vertices without edges.
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


class Reach:
    """The vertices that each vertex of a graph leads to, stored as bits: small for chains of thousands."""

    def __init__(self, edges: Mapping[str, Iterable[str]]) -> None:
        order = components(edges)
        self.names = tuple(sorted(name for members in order for name in members))
        self._index = {name: index for index, name in enumerate(self.names)}
        self._bits: dict[str, int] = {}
        for members in order:
            found = self._mask(members) if len(members) > 1 else 0
            for member in members:
                for target in edges.get(member, ()):
                    found |= 1 << self._index[target] | self._bits.get(target, 0)
            self._bits.update(dict.fromkeys(members, found))

    def __getitem__(self, name: str) -> frozenset[str]:
        """Return what a vertex leads to; this includes itself only if it lies on a cycle."""
        return frozenset(self._named(self._bits[name]))

    def leads(self, start: str, target: str) -> bool:
        """Return whether there is a path from one vertex to another."""
        index = self._index.get(target)
        return index is not None and bool(self._bits.get(start, 0) >> index & 1)

    def closed(self, names: Iterable[str]) -> frozenset[str]:
        """Return these vertices and all that they lead to."""
        names = tuple(names)
        found = self._mask(names)
        for name in names:
            found |= self._bits[name]
        return frozenset(self._named(found))

    def common(self, names: Iterable[str]) -> list[str]:
        """Return the vertices that each of these vertices is or leads to, sorted."""
        found = -1
        for name in names:
            found &= self._bits[name] | 1 << self._index[name]
        return list(self._named(found))

    def _mask(self, names: Iterable[str]) -> int:
        found = 0
        for name in names:
            found |= 1 << self._index[name]
        return found

    def _named(self, bits: int) -> Iterator[str]:
        digits = f"{bits:b}"[::-1]
        index = digits.find("1")
        while index >= 0:
            yield self.names[index]
            index = digits.find("1", index + 1)


def reach(edges: Mapping[str, Iterable[str]]) -> Reach:
    """Return what each vertex leads to. Targets that are not keys are vertices without edges."""
    return Reach(edges)


def reverse(edges: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """Return the graph with every edge reversed."""
    result: dict[str, list[str]] = {name: [] for name in edges}
    for name, targets in edges.items():
        for target in targets:
            result.setdefault(target, []).append(name)
    return result
