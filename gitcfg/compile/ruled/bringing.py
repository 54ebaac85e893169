"""What rules bring to each node: what they install, and then, by all features, what they set."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property

import msgspec

from gitcfg.cel import CelProblem
from gitcfg.compile.layers import Layers
from gitcfg.compile.nodes import Said
from gitcfg.compile.ruled.asking import Seen
from gitcfg.compile.ruled.book import Rulebook
from gitcfg.compile.ruled.brought import Brought, Installed
from gitcfg.compile.ruled.decided import Decided
from gitcfg.compile.ruled.installing import Installing
from gitcfg.compile.ruled.shapes import Shape, Shapes
from gitcfg.compile.ruled.strata import Strata
from gitcfg.compile.ruled.units import by_name, filled_unit
from gitcfg.compile.ruled.valued import valued
from gitcfg.model import Override
from gitcfg.model.rules import Rule, RuleKind

Being = tuple[Said, tuple[Override, ...]]
"""A node, and the overrides that apply to it."""


class Bringing:
    """Finds what rules bring to nodes, for one or for many at once, which is faster."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        self.book = Rulebook(layers.model.rules, layers.inclusion)
        self.shapes = Shapes(layers)
        leaving = self.book.of_kind(RuleKind.INSTALL, RuleKind.DOMAIN)
        self.decided = Decided(leaving, layers.model.allocations)
        self.installing = Installing(self.book, self.shapes, self.decided)
        self.failed: dict[str, dict[str, CelProblem]] = self.installing.failed
        self._brought: dict[str, Brought] = {}

    @cached_property
    def valued(self) -> Strata:
        """The order of the rules that leave values open."""
        return valued(self._layers, self.book)

    def installs(self, nodes: Mapping[str, Said]) -> Mapping[str, tuple[Installed, ...]]:
        """What rules install on nodes, in the order of the rules' names."""
        self.installing.look(nodes)
        return {name: self.installing.of(name) for name in nodes}

    def brought(self, nodes: Mapping[str, Being]) -> Mapping[str, Brought]:
        """All that rules bring to nodes. Stopped: that cannot be found."""
        new = {name: node for name, node in nodes.items() if name not in self._brought}
        if new:
            self._bring(new)
        return {name: self._brought[name] for name in nodes}

    def one(self, name: str, node: Being) -> Brought:
        """All that rules bring to one node."""
        if name not in self._brought:
            self._bring({name: node})
        return self._brought[name]

    def _bring(self, nodes: Mapping[str, Being]) -> None:
        installs = self.installs({name: said for name, (said, _) in nodes.items()})
        sets = self._sets(nodes, installs)
        for name, node in nodes.items():
            brought = Brought(installs[name], tuple(sets.get(name, ())), decided=self.decided.rules(name))
            self._brought[name] = self._with_decided(name, node, brought)

    def _sets(
        self, nodes: Mapping[str, Being], installs: Mapping[str, tuple[Installed, ...]]
    ) -> Mapping[str, list[str]]:
        """The rules that set something on nodes, in order of name."""
        rules, found = self.book.of_kind(RuleKind.SET), defaultdict[str, list[str]](list)
        seen = [
            self._seen(name, node, installs[name])
            for name, node in nodes.items()
            if rules and not node[0].retired
        ]
        for rule in rules:
            for name in self._setting(rule, seen):
                found[name].append(rule.name)
        return found

    def _with_decided(self, name: str, node: Being, brought: Brought) -> Brought:
        """With the values and attributes that were decided for a node."""
        values, attributes = self.decided.values(name), self.decided.attributes(name)
        if node[0].retired or not (values or attributes):
            return brought
        if attributes:
            shape = self.shapes.of(*node)
            installs = tuple(self._filled(each, shape, brought, name) for each in brought.installs)
            brought = msgspec.structs.replace(brought, installs=installs)
        return msgspec.structs.replace(brought, values=values, attributes=attributes, node=name)

    def _filled(self, installed: Installed, shape: Shape, brought: Brought, node: str) -> Installed:
        """What was decided for instances goes along where a rule installs something as they are."""
        over = self.book.rules[installed.rule].over
        if over is None:
            return installed
        attributes, reaches = self.decided.attributes(node), self.book.inclusion.reaches
        units = {unit.name: unit for unit in by_name(self.shapes.units(shape, brought.installs, over.name))}
        uses = []
        for use in installed.uses:
            unit = units.get(use.instance or "")
            found = filled_unit(unit, attributes, reaches).attributes if unit else {}
            uses.append(msgspec.structs.replace(use, attributes={**found, **use.attributes}))
        return msgspec.structs.replace(installed, uses=tuple(uses), node=node)

    def _setting(self, rule: Rule, seen: list[Seen]) -> Iterable[str]:
        answers = self.book.asked(rule, seen)
        if answers.failed:
            self.failed.setdefault(rule.name, {}).update(answers.failed)
        return [node.name for node in answers.holding]

    def _seen(self, name: str, node: Being, installs: tuple[Installed, ...]) -> Seen:
        """What conditions see once all features are known."""
        shape = self.shapes.of(*node)
        return Seen(name, node[0], self.shapes.features(shape, installs))
