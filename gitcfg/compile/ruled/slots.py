"""Where rules may count in a fleet: nodes, or the instances on them, as each rule sees them."""

from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from typing import Any

from gitcfg.compile.classes import NodeClass
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.nodes import Said
from gitcfg.compile.ruled.asking import Seen
from gitcfg.compile.ruled.bringing import Bringing
from gitcfg.compile.ruled.brought import Installed
from gitcfg.compile.ruled.filling import filled_unit
from gitcfg.compile.ruled.shapes import Shape
from gitcfg.compile.ruled.units import Unit, by_name
from gitcfg.model.rules import Rule, RuleKind


class Slots:
    """Finds what the expressions of rules are asked of. Retired nodes have no part in rules."""

    def __init__(self, fleet: Fleet, bringing: Bringing) -> None:
        self._fleet = fleet
        self._shapes = bringing.shapes
        self._order = bringing.book.order

    @cached_property
    def _nodes(self) -> list[tuple[str, NodeClass]]:
        """The nodes that are not retired, class by class."""
        kinds = [kind for kind in self._fleet.classes if not kind.said.retired]
        return [(name, kind) for kind in kinds for name in kind.names]

    def of(self, rule: Rule) -> Iterator[Seen]:
        """All nodes, or all instances of the feature that a rule goes over, class by class."""
        for name, kind in self._nodes:
            said, params = self._fleet.roster.said(name), partial(_params, kind)
            shape, installs = self._as_seen(rule, said, kind)
            features = self._shapes.features(shape, installs)
            if rule.over is None:
                yield Seen(name, said, features, None, params)
            elif rule.over.name in features:
                for unit in by_name(self._shapes.units(shape, installs, rule.over.name)):
                    yield Seen(name, said, features, self._as_had(rule, unit, kind), params)

    def _as_had(self, rule: Rule, unit: Unit, kind: NodeClass) -> Unit:
        """An instance with what was decided for it, which rules that install never see."""
        attributes = kind.brought.attributes
        if rule.kind is RuleKind.INSTALL or not attributes:
            return unit
        return filled_unit(unit, attributes, self._fleet.layers.reaches)

    def _as_seen(self, rule: Rule, said: Said, kind: NodeClass) -> tuple[Shape, tuple[Installed, ...]]:
        """What a rule sees of a node: one that installs sees what is there before it, the others all."""
        installs = kind.brought.installs
        if rule.kind is not RuleKind.INSTALL:
            return self._shapes.of(said, kind.overrides), installs
        order = self._order
        earlier = tuple([each for each in installs if order[each.rule] < order.get(rule.name, 0)])
        return self._shapes.of(said), earlier


def _params(kind: NodeClass) -> Mapping[str, Any]:
    return kind.params
