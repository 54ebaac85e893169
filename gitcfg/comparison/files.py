"""Which files of nodes differ, and their contents on both sides."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gitcfg.comparison.change import Delta
from gitcfg.comparison.sameness import Sameness, by_node
from gitcfg.comparison.side import Side
from gitcfg.compile.fleetnode import FleetNode
from gitcfg.render.files import RenderedFile

Pair = tuple[FleetNode | None, FleetNode | None]
Versions = tuple[RenderedFile | None, RenderedFile | None]


class Files:
    """Files of nodes on two sides. Pairs that are given together are of one class on each side."""

    def __init__(self, old: Side, new: Side) -> None:
        self.old = old
        self.new = new
        self._sameness = Sameness(old, new)

    def changed(
        self, pairs: Mapping[str, Pair], params: Mapping[str, Delta]
    ) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        """The paths that changed, with the nodes on which it is those."""
        paths: dict[str, list[str]] = {name: [] for name in pairs}
        old, new = next(iter(pairs.values()))
        for path in self._suspects((old, new), params):
            if old is not None and new is not None and self._sameness.surely_not(old, new, path, params):
                for found in paths.values():
                    found.append(path)
                continue
            for names, versions in self.versions(path, pairs):
                for name in names if differ(*versions) else ():
                    paths[name].append(path)
        groups: dict[tuple[str, ...], list[str]] = {}
        for name, found in paths.items():
            groups.setdefault(tuple(found), []).append(name)
        for together, names in groups.items():
            yield together, tuple(names)

    def versions(self, path: str, pairs: Mapping[str, Pair]) -> Iterator[tuple[Sequence[str], Versions]]:
        """A file before and after, with the nodes that have it so; nodes whose file is sure to be
        the same are left out where it may be another on each node.
        """
        old, new = next(iter(pairs.values()))
        if not self._own(old, new, path):
            yield tuple(pairs), (self.old.file(old, path), self.new.file(new, path))
            return
        for name, (old, new) in pairs.items():
            if old is None or new is None or not self._sameness.of_nodes(old, new, path):
                yield (name,), (self.old.file(old, path), self.new.file(new, path))

    def modes(self, paths: Iterable[str], pair: Pair) -> dict[str, Delta]:
        """Of these files, where both nodes have them, what differs of mode, owner and group."""
        old, new = pair
        if old is None or new is None:
            return {}
        sides = ((path, self.old.access(old, path), self.new.access(new, path)) for path in paths)
        return {path: _turn(was, is_) for path, was, is_ in sides if was and is_ and was != is_}

    def _suspects(self, pair: Pair, params: Mapping[str, Delta]) -> list[str]:
        """Paths whose files may differ, in order."""
        old, new = pair
        paths = sorted((old.entries if old else {}).keys() | (new.entries if new else {}).keys())
        if old is None or new is None:
            return paths
        return [path for path in paths if not self._sameness.of_classes(old, new, path, params)]

    def _own(self, old: FleetNode | None, new: FleetNode | None, path: str) -> bool:
        """May the file differ among nodes of one class?"""
        sides = ((self.old, old), (self.new, new))
        entries = [(side, node.entries.get(path)) for side, node in sides if node is not None]
        found = [side.analysis(entry) for side, entry in entries if entry is not None]
        return any(analysis is not None and by_node(analysis) for analysis in found)


def differ(old: RenderedFile | None, new: RenderedFile | None) -> bool:
    """Does a node get another file than before?"""
    return (old.digest if old else None) != (new.digest if new else None)


def _turn(old: Mapping[str, str], new: Mapping[str, str]) -> Delta:
    """What differs of two that have the same keys."""
    keys = [key for key in old if old[key] != new[key]]
    return Delta({key: old[key] for key in keys}, {key: new[key] for key in keys})
