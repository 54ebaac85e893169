"""What nodes have whatever is chosen: by hand, and by rules that were asked before or leave no choice."""

from collections.abc import Iterator, Sequence
from functools import cached_property

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.ruled.asking import Seen
from gitcfg.compile.ruled.book import Rulebook
from gitcfg.compile.ruled.brought import Installed
from gitcfg.compile.ruled.shapes import Shape, Shapes
from gitcfg.compile.ruled.units import Unit
from gitcfg.model import Origin
from gitcfg.model.rules import RuleKind


class Ground:
    """A fleet for which nothing is decided yet from a stratum on (`level`, from 0)."""

    def __init__(self, fleet: Fleet, book: Rulebook, level: int) -> None:
        self.fleet = fleet
        self.reaches = book.inclusion.reaches
        self._shapes = Shapes(fleet.layers)
        self._book = book
        self._level = level
        self._whole: dict[tuple[str, frozenset[str]], frozenset[str]] = {}
        self._had: dict[str, tuple[Shape, tuple[Installed, ...]]] = {}

    def _of(self, node: str) -> tuple[Shape, tuple[Installed, ...]]:
        if node not in self._had:
            kind, order = self.fleet.kinds[node], self._book.order
            shape = self._shapes.of(self.fleet.roster.said(node), kind.overrides)
            there = tuple([each for each in kind.brought.installs if order[each.rule] <= self._level])
            self._had[node] = shape, there
        return self._had[node]

    def features(self, node: str) -> frozenset[str]:
        """The features that a node has already."""
        return self._shapes.features(*self._of(node))

    def without(self, node: str) -> frozenset[str]:
        """The features that a node does without."""
        return self._of(node)[0].without

    def units(self, seen: Seen, feature: str) -> Sequence[Unit]:
        """The installations of a feature on a node, or under the name of an instance."""
        if feature not in self.features(seen.name):
            return ()
        found = self._shapes.units(*self._of(seen.name), feature)
        return [unit for unit in found if seen.unit is None or unit.name == seen.unit.name]

    def origin(self, node: str, feature: str) -> Origin:
        """Where it is written that a node has a feature."""
        uses = self._shapes.uses(*self._of(node))
        having = (use.origin for use in uses if self.brings(use.feature, feature, node))
        return next(having, self.fleet.model.settings.origin)

    def brings(self, feature: str, other: str, node: str) -> bool:
        """Is a feature another one, or does it include that, as it would stand on a node?"""
        near = feature == other or self.reaches.leads(feature, other)
        return near and other in self.whole(feature, self.without(node))

    def whole(self, feature: str, without: frozenset[str]) -> frozenset[str]:
        """A feature and all that it includes, where some are left out with what only they include."""
        key = (feature, without)
        if key not in self._whole:
            found = set[str]()
            waiting = [feature]
            while waiting:
                name = waiting.pop()
                if name not in found and name not in without:
                    found.add(name)
                    waiting += self._book.inclusion.edges.get(name, ())
            self._whole[key] = frozenset(found)
        return self._whole[key]

    @cached_property
    def later(self) -> frozenset[str]:
        """The features that rules may bring which are asked only after this."""
        return self.reaches.closed(self._later())

    def _later(self) -> Iterator[str]:
        for rule in self._book.of_kind(RuleKind.INSTALL):
            known = rule.feature is not None and rule.feature.name in self.fleet.model.features
            if known and rule.feature and self._book.order.get(rule.name, -1) > self._level:
                yield rule.feature.name
