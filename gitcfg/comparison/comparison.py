"""Every change between two fleets, equal ones of many nodes folded into one."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import overload

import msgspec

from gitcfg.comparison.actions import Consequences
from gitcfg.comparison.change import Change, Delta, Kind, came_and_went, deltas
from gitcfg.comparison.differing import Differing
from gitcfg.comparison.files import Files, Pair
from gitcfg.comparison.side import Side
from gitcfg.compile.fleetnode import FleetNode
from gitcfg.compile.trail import TrailStep
from gitcfg.sandbox import progress


class Comparison(Sequence[Change]):
    """The changes that lead from one fleet to another, those of most nodes first.

    Settings that only moved between layers are no change. `names` restricts it to some nodes.
    """

    def __init__(self, old: Side, new: Side, names: Iterable[str] | None = None) -> None:
        self.old = old
        self.new = new
        self.names = None if names is None else tuple(names)
        self.files = Files(old, new)
        self._differing = Differing(old.fleet, new.fleet)
        self._consequences = Consequences(old.fleet, new.fleet)

    @cached_property
    def pairs(self) -> dict[str, Pair]:
        """Each node on both sides, in order of name; None where it is not there."""
        old, new = self.old.nodes(self.names), self.new.nodes(self.names)
        return {name: (old.get(name), new.get(name)) for name in sorted(old.keys() | new.keys())}

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """All of them; none where nothing differs."""
        nodes: dict[bytes, list[str]] = {}
        found: dict[bytes, Change] = {}
        for together in self.alike(self.pairs):
            progress.note("comparing what changes for", next(iter(together)))
            for change in self._of(together):
                key = msgspec.json.encode(msgspec.structs.replace(change, nodes=()), order="sorted")
                nodes.setdefault(key, []).extend(change.nodes)
                found.setdefault(key, change)
        folded = (
            msgspec.structs.replace(change, nodes=tuple(sorted(nodes[key]))) for key, change in found.items()
        )
        return tuple(sorted(folded, key=lambda change: (-len(change.nodes), change.nodes)))

    @cached_property
    def walk_in(self) -> Change | None:
        """What changes for nodes that nobody has described; None: nothing."""
        sides = (self.old.fleet.walking_in, self.new.fleet.walking_in)
        old, new = (next((FleetNode("", kind, kind.said) for kind in kinds), None) for kinds in sides)
        return next(self._of({"": (old, new)}), None) if old or new else None

    def alike(self, names: Iterable[str]) -> Iterable[dict[str, Pair]]:
        """Nodes by what class they are of on either side: of those only one need be looked at."""
        groups: dict[tuple[int, int], dict[str, Pair]] = {}
        for name in names:
            old, new = self.pairs[name]
            key = (id(old.kind) if old else 0, id(new.kind) if new else 0)
            groups.setdefault(key, {})[name] = (old, new)
        return groups.values()

    def samples(self, names: Iterable[str]) -> tuple[str, ...]:
        """Of nodes that are alike on both sides, one each."""
        return tuple(next(iter(together)) for together in self.alike(names))

    def trails(self, name: str, param: str) -> tuple[tuple[TrailStep, ...], tuple[TrailStep, ...]]:
        """A parameter's steps on a node before and after; none on a side where the node is not."""
        old, new = self.pairs[name]
        return (old.trail(param) if old else (), new.trail(param) if new else ())

    def _of(self, together: dict[str, Pair]) -> Iterator[Change]:
        old, new = next(iter(together.values()))
        kind = Kind.ADDED if old is None else Kind.REMOVED if new is None else Kind.CHANGED
        params = self._deltas(old, new)
        none = frozenset[str]()
        features = came_and_went(old.kind.features if old else none, new.kind.features if new else none)
        groups = came_and_went(frozenset(old.groups if old else ()), frozenset(new.groups if new else ()))
        for files, names in self.files.changed(together, params):
            if kind is Kind.CHANGED and not (params or files or features or groups):
                continue
            act = self._consequences.of(old, new, params, files)
            modes = self.files.modes(files, (old, new))
            due = (act.restart, act.reload, act.stop)
            yield Change(kind, names, params, files, features, groups, *due, modes)

    def _deltas(self, old: FleetNode | None, new: FleetNode | None) -> dict[str, Delta]:
        """The parameters whose values differ."""
        if old is not None and new is not None:
            names = self._differing.names(old.kind, new.kind)
            if names is not None:
                return deltas(old.kind.some(names), new.kind.some(names))
        return deltas(old.params if old else {}, new.params if new else {})

    @overload
    def __getitem__(self, index: int) -> Change: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Change, ...]: ...

    def __getitem__(self, index: int | slice) -> Change | tuple[Change, ...]:
        return self.changes[index]

    def __len__(self) -> int:
        return len(self.changes)
