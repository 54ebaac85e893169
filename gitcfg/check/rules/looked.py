"""What checks of rules look at: the rules that can be judged, and what nodes have in the end."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import TypeVar

from gitcfg.check.together import installed
from gitcfg.compile.classes import NodeClass
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.instances import Instance
from gitcfg.compile.ruled.asking import Seen
from gitcfg.compile.ruled.bringing import Bringing
from gitcfg.compile.ruled.lacking import Lacking
from gitcfg.compile.ruled.units import Unit
from gitcfg.compile.ruled.view import Ruled
from gitcfg.model import Origin
from gitcfg.model.rules import Rule, RuleKind

T = TypeVar("T")


class Looked:
    """A fleet with rules. `view` is what they ask of it.

    `names` are its nodes where it has a part of all: only these, and those of them that are gone, are
    looked at.
    """

    def __init__(self, fleet: Fleet, bringing: Bringing, names: Set[str] | None = None) -> None:
        self.fleet = fleet
        self.names = names
        self.view = Ruled(fleet, bringing)
        self._shapes = bringing.shapes

    def rules(self, *kinds: RuleKind) -> Iterator[Rule]:
        """The rules of some kinds that mean something; what is wrong with the others is told elsewhere."""
        return (rule for rule in self.view.book.of_kind(*kinds) if rule.name not in self._meaningless)

    @cached_property
    def _meaningless(self) -> frozenset[str]:
        """Rules that name features which do not exist, ask for what cannot be, or wait for themselves."""
        book = self.view.book
        found = {name for name, rule in book.rules.items() if self._names_nothing(rule)}
        circles = (*book.strata.circles, *self.view.valued.circles)
        circling = (name for circle in circles for name in circle.rules)
        return frozenset(found.union(circling, book.led))

    def _names_nothing(self, rule: Rule) -> bool:
        count, features = rule.count, (rule.feature, rule.over)
        turned = count is not None and count.most is not None and count.least > count.most
        return turned or any(
            ref is not None and ref.name not in self.fleet.model.features for ref in features
        )

    def lines(self, found: Iterable[T], slot: Callable[[T], str]) -> list[T]:
        """Those lines of an allocation that are about nodes that are looked at."""
        names = self.names
        return [one for one in found if names is None or slot(one).partition("/")[0] in names]

    def unknown(self, rule: str) -> bool:
        """Is it not known where a rule counts? That is told already."""
        return bool(self.view.failed.get(rule)) and not self.view.slots(rule)

    @cached_property
    def having(self) -> Mapping[str, Set[str]]:
        """The nodes that have each feature of which rules speak, in the end."""
        said = {rule.feature.name for rule in self.view.book.rules.values() if rule.feature is not None}
        found: dict[str, set[str]] = {name: set() for name in said}
        for kind in self.fleet.classes:
            for name in kind.features & said:
                found[name].update(kind.names)
        return found

    def has(self, seen: Seen, feature: str) -> bool:
        """Has a node, or an instance by its name, a feature of which rules speak, in the end?"""
        if seen.name not in self.having[feature]:
            return False
        return seen.unit is None or any(
            unit.name == seen.unit.name for unit in self.units(seen.name, feature)
        )

    def units(self, node: str, feature: str) -> Sequence[Unit]:
        """The installations of a feature, or of what includes it, that a node has."""
        kind = self.fleet.kinds[node]
        shape = self._shapes.of(kind.said, kind.overrides)
        return self._shapes.units(shape, kind.brought.installs, feature)

    def lacking(self, node: str) -> Iterable[tuple[str, Instance]]:
        """The instances on a node that lack an attribute which rules may give them."""
        kind = self.fleet.kinds[node]
        shape = self._shapes.of(self.fleet.roster.said(node), kind.overrides)
        uses = self._shapes.uses(shape, kind.brought.installs)
        return self._lacking.of(uses, shape.without, kind.brought.attributes)

    @cached_property
    def _lacking(self) -> Lacking:
        return Lacking(self.fleet.layers)

    def had_without(self, seen: Seen, feature: str, rule: str) -> bool:
        """Had a node, or an instance by its name, a feature if one rule installed nothing?"""
        kind = self.fleet.kinds[seen.name]
        shape = self._shapes.of(seen.said, kind.overrides)
        others = tuple(each for each in kind.brought.installs if each.rule != rule)
        if seen.unit is None:
            return feature in self._shapes.features(shape, others)
        return any(unit.name == seen.unit.name for unit in self._shapes.units(shape, others, feature))

    def where_installed(self, nodes: Iterable[str], feature: str) -> list[Origin]:
        """Where it is said that nodes have a feature, or what includes it."""
        kinds = {id(kind): kind for kind in map(self.fleet.kinds.__getitem__, nodes)}
        return [place for kind in kinds.values() for place in self._installed(kind, feature)]

    def _installed(self, kind: NodeClass, feature: str) -> Iterator[Origin]:
        leads = self.fleet.layers.reaches.leads
        yield from installed(kind, self.fleet.model, feature)
        for use in (use for each in kind.brought.installs for use in each.uses):
            if use.feature == feature or leads(use.feature, feature):
                yield use.origin
