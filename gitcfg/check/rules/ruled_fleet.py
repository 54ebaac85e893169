"""What checks of rules share: the rules that can be checked, and what nodes finally have."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import Any, TypeVar

import msgspec

from gitcfg.cel import Key, Truth
from gitcfg.check.nodes import installed
from gitcfg.check.structure import listed
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.instances import Instance
from gitcfg.compile.node_class import NodeClass
from gitcfg.compile.operations import NOTHING, PENDING
from gitcfg.compile.partial import Cell
from gitcfg.compile.rules.evaluate import Candidate, Unit
from gitcfg.compile.rules.placement import Lacking, RuleEngine
from gitcfg.compile.rules.slots import RuleView
from gitcfg.domain import DomainProblem, Kind, Value, Values, parse
from gitcfg.model import Origin
from gitcfg.model.names import shown
from gitcfg.model.rules import Domain, Rule, RuleKind
from gitcfg.model.secrets import is_secret

T = TypeVar("T")


class RuledFleet:
    """A fleet with rules; `view` is what they read of it.

    `names` are the nodes of a fleet that has only some of all: only these are checked, and those of them that
    are gone.
    """

    def __init__(self, fleet: Fleet, rule_engine: RuleEngine, names: Set[str] | None = None) -> None:
        self.fleet = fleet
        self.names = names
        self.view = RuleView(fleet, rule_engine)
        self._shapes = rule_engine.shapes

    def rules(self, *kinds: RuleKind) -> Iterator[Rule]:
        """Return the rules of these kinds that can be checked; other checks report the rest."""
        return (rule for rule in self.view.book.of_kind(*kinds) if rule.name not in self._meaningless)

    @cached_property
    def _meaningless(self) -> frozenset[str]:
        """Rules with missing features, impossible counts, or cycles."""
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
        """Return the lines of an allocation about nodes that are checked."""
        names = self.names
        return [one for one in found if names is None or slot(one).partition("/")[0] in names]

    def unknown(self, rule: str) -> bool:
        """Return whether it is unknown where a rule applies, which is reported already."""
        return bool(self.view.failed.get(rule)) and not self.view.slots(rule)

    @cached_property
    def having(self) -> Mapping[str, Set[str]]:
        """The nodes that finally have each feature that rules name."""
        said = {rule.feature.name for rule in self.view.book.rules.values() if rule.feature is not None}
        found: dict[str, set[str]] = {name: set() for name in said}
        for node_class in self.fleet.classes:
            for name in node_class.features & said:
                found[name].update(node_class.names)
        return found

    def has(self, seen: Candidate, feature: str) -> bool:
        """Return whether a node, or an instance on it, finally has a feature that rules name."""
        if seen.name not in self.having[feature]:
            return False
        return seen.unit is None or any(
            unit.name == seen.unit.name for unit in self.units(seen.name, feature)
        )

    def units(self, node: str, feature: str) -> Sequence[Unit]:
        """Return the installations of a feature, or of what includes it, on a node."""
        node_class = self.fleet.node_classes[node]
        shape = self._shapes.of(node_class.definition, node_class.overrides)
        return self._shapes.units(shape, node_class.effects.installs, feature)

    def lacking(self, node: str) -> Iterable[tuple[str, Instance]]:
        """Return the instances on a node that lack an attribute which rules may give them."""
        node_class = self.fleet.node_classes[node]
        shape = self._shapes.of(self.fleet.roster.definition(node), node_class.overrides)
        uses = self._shapes.uses(shape, node_class.effects.installs)
        return self._lacking.of(uses, shape.without, node_class.effects.attributes)

    @cached_property
    def _lacking(self) -> Lacking:
        return Lacking(self.fleet.layers)

    def had_without(self, seen: Candidate, feature: str, rule: str) -> bool:
        """Return whether a node, or an instance, would have a feature if one rule installed nothing."""
        node_class = self.fleet.node_classes[seen.name]
        shape = self._shapes.of(seen.definition, node_class.overrides)
        others = tuple(each for each in node_class.effects.installs if each.rule != rule)
        if seen.unit is None:
            return feature in self._shapes.features(shape, others)
        return any(unit.name == seen.unit.name for unit in self._shapes.units(shape, others, feature))

    def where_installed(self, nodes: Iterable[str], feature: str) -> list[Origin]:
        """Return the places where nodes' lists name a feature, or what includes it."""
        kinds = {id(node_class): node_class for node_class in map(self.fleet.node_classes.__getitem__, nodes)}
        return [
            place
            for node_class in kinds.values()
            for place in installed(node_class, self.fleet.model, feature)
        ]


# The values that domains apply to: parameters of nodes, or attributes of instances.


class Held(msgspec.Struct, frozen=True):
    """The value of a slot for one name, and its places; None where there is none."""

    seen: Candidate
    name: str
    value: Any
    origins: tuple[Origin, ...]

    def normal(self, values: Values) -> tuple[Kind, Value] | None:
        """Return the kind and the normal form of the value; None if the value is of another kind."""
        try:
            return values.kind, values.normal(self.value)
        except DomainProblem:
            return None


class Holding:
    """Finds the values of slots and reads domains, each once."""

    def __init__(self, ruled: RuledFleet) -> None:
        self._ruled = ruled
        self._cells: dict[tuple[int, str], Cell | None] = {}
        self._held: dict[str, tuple[Held, ...]] = {}

    @cached_property
    def problems(self) -> Sequence[tuple[Rule, Domain, DomainProblem]]:
        """The domains that are not valid, with their problems."""
        return [(rule, said, found) for rule, said, found in self._read if isinstance(found, DomainProblem)]

    @cached_property
    def values(self) -> Mapping[tuple[str, str], Values]:
        """The sets of values of domains, by rule and name."""
        found = ((rule, domain, values) for rule, domain, values in self._read)
        return {
            (rule.name, domain.name): values
            for rule, domain, values in found
            if not isinstance(values, DomainProblem)
        }

    @cached_property
    def _read(self) -> list[tuple[Rule, Domain, Values | DomainProblem]]:
        rules = self._ruled.rules(RuleKind.DOMAIN)
        return [
            (rule, domain, self._parsed(rule, domain)) for rule in rules for domain in rule.domains.values()
        ]

    def _parsed(self, rule: Rule, domain: Domain) -> Values | DomainProblem:
        kind = self._ruled.fleet.declarations.kind(domain.name) if rule.over is None else None
        try:
            return parse(domain.items, kind)
        except DomainProblem as problem:
            return DomainProblem(*problem.args)  # without its traceback's frames

    def of(self, rule: Rule) -> tuple[Held, ...]:
        """Return the values in the slots of a rule for its domains, without secrets."""
        if rule.name not in self._held:
            self._held[rule.name] = tuple(self._of(rule))
        return self._held[rule.name]

    def _of(self, rule: Rule) -> Iterator[Held]:
        names = [name for name in rule.domains if (rule.name, name) in self.values]
        for seen in self._ruled.view.slots(rule.name):
            for name in names:
                found = self._attribute(seen, name) if rule.over else self._param(seen.name, name)
                if not is_secret(found[0]):
                    yield Held(seen, name, *found)

    def _attribute(self, seen: Candidate, name: str) -> tuple[Any, tuple[Origin, ...]]:
        given = seen.self_.attributes.get(name)
        return (None, ()) if given is None else (given.given, (given.at,))

    def cell(self, node: str, name: str) -> tuple[NodeClass, Cell | None]:
        """Return the class of a node, and the class's cell of a parameter."""
        node_class = self._ruled.fleet.node_classes[node]
        key = id(node_class), name
        if key not in self._cells:
            self._cells[key] = node_class.cell(name)
        return node_class, self._cells[key]

    def _param(self, node: str, name: str) -> tuple[Any, tuple[Origin, ...]]:
        node_class, cell = self.cell(node, name)
        value = NOTHING if cell is None else node_class.value(name, cell)
        if cell is None or value is NOTHING or value is None:
            return None, ()
        if len(cell.steps) == 1:
            return value, (cell.steps[0].origin,)
        facts = node_class.facts(name) if cell.value is PENDING else None
        return value, tuple(step.origin for step in reversed([*cell.counting(facts)]))


# Words for findings about rules: keys of groups.

SOLVE = "Run `gitcfg solve`"


def named(key: Key | None) -> str:
    """Return the key of a group as the rule writes it."""
    if isinstance(key, tuple):
        return "/".join(map(named, key))
    if isinstance(key, Truth):
        return key.name.lower()
    return shown(str(key))


def within(keys: Sequence[Key | None]) -> str:
    """Return the words for the groups concerned; an empty text if the rule has no groups."""
    if None in keys:
        return ""
    names = sorted(map(named, keys))
    return f" in {'each of ' if len(names) > 1 else ''}{listed(names)}"
