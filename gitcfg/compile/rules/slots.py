"""Where each rule applies in a whole fleet, in which groups, and what is counted there."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import msgspec

from gitcfg.cel import Budget, CelProblem, CelStopped, Key, KeyExpression
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.node_class import NodeClass
from gitcfg.compile.nodes import NodeDefinition, RuleInstall
from gitcfg.compile.rules.evaluate import (
    OF_VALUES,
    Answers,
    Candidate,
    Unit,
    ask_condition,
    ask_keys,
    filled_unit,
    first_by_name,
    strip_frames,
)
from gitcfg.compile.rules.placement import RuleEngine, Shape
from gitcfg.compile.rules.rulebook import Strata
from gitcfg.model.rules import Rule, RuleKind

Groups = Mapping[Key | None, tuple[Candidate, ...]]
"""Slots by key; without `per` all have the key None."""


class Places:
    """Slots in order of their nodes' names, and by slot why the condition failed for others."""

    def __init__(self, slots: tuple[Candidate, ...], failed: Mapping[str, CelProblem]) -> None:
        self.slots = slots
        self.failed = failed

    @cached_property
    def by_slot(self) -> Mapping[str, Candidate]:
        """The slots by their names in allocations."""
        return {seen.slot: seen for seen in self.slots}


class Grouped:
    """Slots by key, and by slot why others have no key."""

    def __init__(self, groups: Groups, failed: Mapping[str, CelProblem]) -> None:
        self.groups = groups
        self.failed = failed

    @cached_property
    def by_node(self) -> Mapping[str, Sequence[tuple[Key | None, Candidate]]]:
        """The slots on each node, each with its key."""
        found: dict[str, list[tuple[Key | None, Candidate]]] = {}
        for key, slots in self.groups.items():
            for seen in slots:
                found.setdefault(seen.name, []).append((key, seen))
        return found


def group_slots(per: KeyExpression | None, slots: tuple[Candidate, ...], budget: Budget) -> Grouped:
    """Return slots in groups by key; without a key they are one group."""
    if per is None:
        return Grouped({None: slots}, {})
    try:
        keys, problems = ask_keys(per, slots, budget)
    except CelStopped as problem:
        return Grouped({}, fail_all(slots, problem))
    found: dict[Key | None, list[Candidate]] = {}
    for row, (seen, key) in enumerate(zip(slots, keys, strict=True)):
        if row not in problems:
            found.setdefault(key, []).append(seen)
    failed = {slots[row].slot: problem for row, problem in problems.items()}
    return Grouped({key: tuple(members) for key, members in found.items()}, failed)


def fail_all(slots: Iterable[Candidate], problem: CelProblem) -> Mapping[str, CelProblem]:
    """Return this problem for every slot."""
    return dict.fromkeys([seen.slot for seen in slots], strip_frames(problem))


# Where rules may apply in a fleet: nodes, or the instances on them, as each rule sees them.

Params = Callable[[], Mapping[str, Any]]
"""A function that returns the final values of a node, computed at first use."""


class _Node(msgspec.Struct, frozen=True, gc=False):
    """A node as some rules see it, with the features that they see."""

    seen: Candidate
    kind: NodeClass
    shape: Shape
    installs: tuple[RuleInstall, ...]


class Slots:
    """Finds the nodes and instances that rules may apply to. Retired nodes are excluded."""

    def __init__(self, fleet: Fleet, rule_engine: RuleEngine) -> None:
        self._fleet = fleet
        self._shapes = rule_engine.shapes
        self._installing = rule_engine.installing
        self._order = rule_engine.book.order
        self._seen: dict[int | None, list[_Node]] = {}
        self._found: dict[Hashable, tuple[Candidate, ...]] = {}

    def sight(self, rule: Rule) -> Hashable:
        """Return a key that is equal for rules that see the same. Only some kinds see decided attributes."""
        return self._level(rule), rule.kind in OF_VALUES, rule.over and rule.over.name

    def of(self, rule: Rule) -> tuple[Candidate, ...]:
        """Return all nodes, or all instances of the feature that a rule goes over, class by class.

        The result is cached for all rules that see the same.
        """
        sight = self.sight(rule)
        if sight not in self._found:
            self._found[sight] = tuple(self._of(rule))
        return self._found[sight]

    def _of(self, rule: Rule) -> Iterator[Candidate]:
        level = self._level(rule)
        if level not in self._seen:
            self._seen[level] = list(self._nodes(level))
        for node in self._seen[level]:
            yield from self._slots(rule, node)

    def on(self, rule: Rule, name: str) -> tuple[Candidate, ...]:
        """Return a node, or the instances on it; nothing for a retired node."""
        definition, kind = self._fleet.roster.definition(name), self._fleet[name].node_class
        if definition.retired:
            return ()
        return tuple(
            self._slots(rule, self._node(self._level(rule), name, definition, kind, partial(_params, kind)))
        )

    def _level(self, rule: Rule) -> int | None:
        """Return the stratum of a rule that installs, which determines what it sees; None for other kinds."""
        return self._order.get(rule.name, 0) if rule.kind is RuleKind.INSTALL else None

    def _slots(self, rule: Rule, node: _Node) -> Iterator[Candidate]:
        seen = node.seen
        if rule.over is None:
            yield seen
        elif rule.over.name in seen.features:
            for unit in first_by_name(self._shapes.units(node.shape, node.installs, rule.over.name)):
                unit = self._as_had(rule, unit, node.kind)
                yield Candidate(seen.name, seen.definition, seen.features, unit, seen.params)

    def _nodes(self, level: int | None) -> Iterator[_Node]:
        """Yield the nodes that are not retired, as rules of a stratum (None: other rules) see them."""
        for node_class in self._fleet.classes:
            params = partial(_params, node_class)  # one object, so that `group_alike` finds the nodes alike
            for name in () if node_class.definition.retired else node_class.names:
                yield self._node(level, name, self._fleet.roster.definition(name), node_class, params)

    def _node(
        self, level: int | None, name: str, definition: NodeDefinition, node_class: NodeClass, params: Params
    ) -> _Node:
        shape, installs = self._view_of(level, name, definition, node_class)
        seen = Candidate(name, definition, self._shapes.features(shape, installs), None, params)
        return _Node(seen, node_class, shape, installs)

    def _as_had(self, rule: Rule, unit: Unit, node_class: NodeClass) -> Unit:
        """Return an instance with its decided attributes, which rules that install or count do not see."""
        attributes = node_class.effects.attributes
        if rule.kind not in OF_VALUES or not attributes:
            return unit
        return filled_unit(unit, attributes, self._fleet.layers.reaches)

    def _view_of(
        self, level: int | None, name: str, definition: NodeDefinition, node_class: NodeClass
    ) -> tuple[Shape, tuple[RuleInstall, ...]]:
        """Return what a rule sees of a node: an install rule only earlier strata, other rules everything."""
        if level is None:
            return self._shapes.of(definition, node_class.overrides), node_class.effects.installs
        installs = self._installing.of(name)  # without decided attributes
        earlier = tuple([each for each in installs if self._order[each.rule] < level])
        return self._shapes.of(definition), earlier


def _params(node_class: NodeClass) -> Mapping[str, Any]:
    return node_class.params


class RuleView:
    """The rules of a fleet, each evaluated once, at first use.

    Slots are in order of their nodes' names. `failed` are, by rule and slot, expressions that could not be
    evaluated; it grows with each evaluation.
    """

    def __init__(self, fleet: Fleet, rule_engine: RuleEngine) -> None:
        self.fleet = fleet
        self.book = rule_engine.book
        self.failed: dict[str, dict[str, CelProblem]] = rule_engine.failed
        self._rule_engine = rule_engine
        self._slots = Slots(fleet, rule_engine)
        self._places: dict[Hashable, Places] = {}
        self._grouped: dict[Hashable, Grouped] = {}

    @property
    def valued(self) -> Strata:
        """The order of the rules that leave values open, since they read each other's values."""
        return self._rule_engine.valued

    def slots(self, rule: str) -> tuple[Candidate, ...]:
        """Return the nodes or instances for which the condition of a rule holds."""
        return self.places(rule).slots

    def places(self, rule: str) -> Places:
        """Return the slots with an index by name. Rules with the same condition and view share the result."""
        same = self._same(rule)
        if same not in self._places:
            self._places[same] = self._evaluate(rule)
        self._fail(rule, self._places[same].failed)
        return self._places[same]

    def _same(self, rule: str) -> Hashable:
        """Return a key that is equal for rules that apply to the same slots."""
        where = self.book.wheres.get(rule)
        return self._slots.sight(self.book.rules[rule]), where and where.condition.text

    def on(self, rule: str, node: str) -> tuple[tuple[Candidate, ...], Answers]:
        """Return a node, or the instances on it, as a rule sees them, and where its condition holds."""
        found = self._slots.on(self.book.rules[rule], node)
        return found, self.book.evaluate(self.book.rules[rule], found)

    def together(self, rule: str, slots: tuple[Candidate, ...]) -> Groups:
        """Return some slots of a rule, grouped by its key."""
        return group_slots(self.book.pers.get(rule), slots, self.book.budgets[rule]).groups

    def _evaluate(self, rule: str) -> Places:
        found = self._slots.of(self.book.rules[rule])
        try:
            answers = ask_condition(self.book.wheres.get(rule), found, self.book.budgets[rule])
        except CelStopped as problem:
            answers = Answers((), fail_all(found, problem))
        return Places(tuple(sorted(answers.holding, key=lambda seen: seen.name)), answers.failed)

    def groups(self, rule: str) -> Groups:
        """Return the slots of a rule, grouped by its key; those without a key are left out."""
        return self.grouped(rule).groups

    def grouped(self, rule: str) -> Grouped:
        """Return the groups with an index by node."""
        per = self.book.pers.get(rule)
        same = self._same(rule), per and per.text
        if same not in self._grouped:
            self._grouped[same] = group_slots(per, self.slots(rule), self.book.budgets[rule])
        self._fail(rule, self._grouped[same].failed)
        return self._grouped[same]

    def _fail(self, rule: str, problems: Mapping[str, CelProblem]) -> None:
        if problems:
            self.failed.setdefault(rule, {}).update(problems)

    def counted(self, rule: str) -> Mapping[Key | None, tuple[tuple[Candidate, Unit], ...]]:
        """Return what a limit counts in each group: installations of its feature, or of what includes it.

        Over instances, only installations with the name of an instance count.
        """
        return {
            key: tuple((seen, unit) for seen in slots for unit in self._units(rule, seen))
            for key, slots in self.groups(rule).items()
        }

    def _units(self, rule: str, seen: Candidate) -> Sequence[Unit]:
        feature = self.book.rules[rule].feature
        if feature is None or feature.name not in seen.features:
            return ()
        node_class = self.fleet.node_classes[seen.name]
        shape = self._rule_engine.shapes.of(seen.definition, node_class.overrides)
        found = self._rule_engine.shapes.units(shape, node_class.effects.installs, feature.name)
        return [unit for unit in found if seen.unit is None or unit.name == seen.unit.name]


def view_rules(fleet: Fleet) -> RuleView | None:
    """Return the view of a fleet's rules; None if there are none."""
    return None if fleet.rule_engine is None else RuleView(fleet, fleet.rule_engine)
