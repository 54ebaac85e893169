"""Where rules may count in a fleet: nodes, or the instances on them, as each rule sees them."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from gitcfg.compile.classes import NodeClass
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.nodes import Said
from gitcfg.compile.ruled.asking import Seen
from gitcfg.compile.ruled.bringing import Bringing
from gitcfg.compile.ruled.brought import Installed
from gitcfg.compile.ruled.reading import OF_VALUES
from gitcfg.compile.ruled.shapes import Shape
from gitcfg.compile.ruled.units import Unit, by_name, filled_unit
from gitcfg.model.rules import Rule, RuleKind

Params = Callable[[], Mapping[str, Any]]
"""The final values of a node, which are asked for only if they are read."""


class _Node(msgspec.Struct, frozen=True, gc=False):
    """A node as some rules see it, and what it has of features then."""

    seen: Seen
    kind: NodeClass
    shape: Shape
    installs: tuple[Installed, ...]


class Slots:
    """Finds what the expressions of rules are asked of. Retired nodes have no part in rules."""

    def __init__(self, fleet: Fleet, bringing: Bringing) -> None:
        self._fleet = fleet
        self._shapes = bringing.shapes
        self._installing = bringing.installing
        self._order = bringing.book.order
        self._seen: dict[int | None, list[_Node]] = {}
        self._found: dict[Hashable, tuple[Seen, ...]] = {}

    def sight(self, rule: Rule) -> Hashable:
        """Equal for rules that see the same: what was decided for attributes only some kinds do."""
        return self._level(rule), rule.kind in OF_VALUES, rule.over and rule.over.name

    def of(self, rule: Rule) -> tuple[Seen, ...]:
        """All nodes, or all instances of the feature that a rule goes over, class by class.

        They are found once for all rules that see the same.
        """
        sight = self.sight(rule)
        if sight not in self._found:
            self._found[sight] = tuple(self._of(rule))
        return self._found[sight]

    def _of(self, rule: Rule) -> Iterator[Seen]:
        level = self._level(rule)
        if level not in self._seen:
            self._seen[level] = list(self._nodes(level))
        for node in self._seen[level]:
            yield from self._slots(rule, node)

    def on(self, rule: Rule, name: str) -> tuple[Seen, ...]:
        """A node, or the instances on it; nothing of a retired one."""
        said, kind = self._fleet.roster.said(name), self._fleet[name].kind
        if said.retired:
            return ()
        return tuple(
            self._slots(rule, self._node(self._level(rule), name, said, kind, partial(_params, kind)))
        )

    def _level(self, rule: Rule) -> int | None:
        """What a rule sees: of those that install one the same as all of its stratum, of the others None."""
        return self._order.get(rule.name, 0) if rule.kind is RuleKind.INSTALL else None

    def _slots(self, rule: Rule, node: _Node) -> Iterator[Seen]:
        seen = node.seen
        if rule.over is None:
            yield seen
        elif rule.over.name in seen.features:
            for unit in by_name(self._shapes.units(node.shape, node.installs, rule.over.name)):
                unit = self._as_had(rule, unit, node.kind)
                yield Seen(seen.name, seen.said, seen.features, unit, seen.params)

    def _nodes(self, level: int | None) -> Iterator[_Node]:
        """The nodes that are not retired, as rules of a level see them that install; None: as all others."""
        for kind in self._fleet.classes:
            params = partial(_params, kind)  # one for all of them, by which they look alike
            for name in () if kind.said.retired else kind.names:
                yield self._node(level, name, self._fleet.roster.said(name), kind, params)

    def _node(self, level: int | None, name: str, said: Said, kind: NodeClass, params: Params) -> _Node:
        shape, installs = self._as_seen(level, name, said, kind)
        seen = Seen(name, said, self._shapes.features(shape, installs), None, params)
        return _Node(seen, kind, shape, installs)

    def _as_had(self, rule: Rule, unit: Unit, kind: NodeClass) -> Unit:
        """An instance with what was decided for it, which rules that install or count never see."""
        attributes = kind.brought.attributes
        if rule.kind not in OF_VALUES or not attributes:
            return unit
        return filled_unit(unit, attributes, self._fleet.layers.reaches)

    def _as_seen(
        self, level: int | None, name: str, said: Said, kind: NodeClass
    ) -> tuple[Shape, tuple[Installed, ...]]:
        """What a rule sees of a node: one that installs sees what is there before it, the others all."""
        if level is None:
            return self._shapes.of(said, kind.overrides), kind.brought.installs
        installs = self._installing.of(name)  # as they were without what was decided for attributes
        earlier = tuple([each for each in installs if self._order[each.rule] < level])
        return self._shapes.of(said), earlier


def _params(kind: NodeClass) -> Mapping[str, Any]:
    return kind.params
