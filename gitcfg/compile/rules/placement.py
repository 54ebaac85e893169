"""The effects of rules on nodes: features, stratum by stratum, settings, and decisions of allocations."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cached_property

import msgspec

from gitcfg.cel import CelProblem
from gitcfg.compile.instances import Instance
from gitcfg.compile.layers import NOWHERE, Layers, fill_use
from gitcfg.compile.node_class import find_without
from gitcfg.compile.nodes import Attributes, NodeDefinition, RuleEffects, RuleInstall, Values
from gitcfg.compile.rules.dependencies import order_valued
from gitcfg.compile.rules.evaluate import Candidate, Unit, Units, filled_unit, first_by_name
from gitcfg.compile.rules.rulebook import Rulebook, Strata
from gitcfg.model import Binding, Decision, Op, Override, Ref, Use
from gitcfg.model.rules import Allocation, Rule, RuleKind


class Shape(msgspec.Struct, frozen=True, eq=False):
    """Nodes with the same lists, highest first: `above` is above what rules install, `below` is below it."""

    definition: NodeDefinition
    above: tuple[Use, ...]
    below: tuple[Use, ...]
    without: frozenset[str]


class Shapes:
    """Finds shapes, and caches what follows from each together with what rules install."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        self._shapes: dict[Hashable, Shape] = {}
        self._members: dict[int, tuple[NodeDefinition, Shape]] = {}
        self._features: dict[Hashable, frozenset[str]] = {}
        self._units: dict[Hashable, tuple[Unit, ...]] = {}

    def of(self, definition: NodeDefinition, overrides: tuple[Override, ...] = ()) -> Shape:
        """Return the shape of a node with this definition."""
        if overrides or definition.own is not None:
            return self._alike(definition, overrides)
        known = self._members.get(id(definition))  # shared by a set's members
        if known is None:
            known = self._members[id(definition)] = (definition, self._alike(definition, ()))
        return known[1]

    def _alike(self, definition: NodeDefinition, overrides: tuple[Override, ...]) -> Shape:
        groups = tuple([ref.name for ref in definition.groups])
        listed = tuple([id(use) for use, _ in definition.features])
        names = tuple([override.name for override in overrides])
        key = (groups, listed, tuple([ref.name for ref in definition.without]), definition.retired, names)
        if key not in self._shapes:
            self._shapes[key] = self._shape(definition, overrides)
        return self._shapes[key]

    def _shape(self, definition: NodeDefinition, overrides: tuple[Override, ...]) -> Shape:
        model = self._layers.model
        without = frozenset(ref.name for ref in find_without(definition, overrides))
        if definition.retired:
            return Shape(definition, (), (), without)
        above = [use for override in reversed(overrides) for use in override.features]
        above += [use for use, _ in definition.features]
        groups = [model.groups[ref.name] for ref in definition.groups if ref.name in model.groups]
        above += [use for group in groups for use in group.features]
        default = model.groups.get(model.settings.default_group)
        return Shape(definition, tuple(above), default.features if default else (), without)

    def features(self, shape: Shape, installs: tuple[RuleInstall, ...]) -> frozenset[str]:
        """Return the feature set of nodes of a shape with what rules install on them."""
        key = (id(shape), tuple([installed.sort for installed in installs]))
        if key not in self._features:
            layers = (self._layers.feature(use, shape.without) for use in self.uses(shape, installs))
            self._features[key] = NOWHERE.union(*(layer.features for layer in layers if layer is not None))
        return self._features[key]

    def units(self, shape: Shape, installs: tuple[RuleInstall, ...], feature: str) -> tuple[Unit, ...]:
        """Return the installations of a feature on such nodes, highest first."""
        key = (id(shape), tuple([installed.key for installed in installs]), feature)
        if key not in self._units:
            found = Units(self._layers, feature, shape.without).of(self.uses(shape, installs))
            self._units[key] = found
        return self._units[key]

    def uses(self, shape: Shape, installs: Iterable[RuleInstall]) -> list[Use]:
        """Return all entries that install features on such nodes, highest first."""
        ruled = [use for installed in reversed(tuple(installs)) for use in installed.uses]
        return [*shape.above, *ruled, *shape.below]


# Decisions of allocations, by node. They are only read here; `gitcfg solve` makes them.

_NO_PLACES: Mapping[str, Mapping[str, Ref]] = {}
_NO_ATTRIBUTES: Attributes = {}


class Decided:
    """Allocations by the nodes of their slots. Decisions that no rule leaves open are ignored."""

    def __init__(self, rules: Iterable[Rule], allocations: Mapping[str, Allocation]) -> None:
        self._rules: dict[str, dict[str, None]] = {}
        self._places: dict[str, dict[str, dict[str, Ref]]] = {}
        self._values: dict[str, Values] = {}
        self._attributes: dict[str, dict[str, dict[str, Mapping[str, Binding]]]] = {}
        for rule in rules:
            found = allocations.get(rule.name)
            if found is None:
                continue
            if rule.kind is RuleKind.INSTALL and rule.count is not None:
                self._add_places(rule, found)
            elif rule.kind is RuleKind.DOMAIN:
                self._add_values(rule, found)

    def _add_places(self, rule: Rule, found: Allocation) -> None:
        places = self._places[rule.name] = {}
        for ref in found.install:
            node, _, name = ref.name.partition("/")
            if node and (rule.over is not None or not name):  # walk-in nodes have no name yet
                places.setdefault(node, {})[name] = ref
                self._rules.setdefault(node, {})[rule.name] = None

    def _add_values(self, rule: Rule, found: Allocation) -> None:
        for slot, given in found.values.items():
            node, _, name = slot.partition("/")
            values = {
                key: _left_open(rule, key, binding) for key, binding in given.items() if key in rule.domains
            }
            if not node or not values or (name and rule.over is None):
                continue
            self._rules.setdefault(node, {})[rule.name] = None
            if rule.over is None:
                self._values[node] = (*self._values.get(node, ()), (rule.name, _defaults(values)))
            else:
                instances = self._attributes.setdefault(node, {}).setdefault(rule.over.name, {})
                instances[name] = {**instances.get(name, {}), **values}

    def rules(self, node: str) -> tuple[str, ...]:
        """Return the rules with decisions about a node."""
        return tuple(self._rules.get(node, ()))

    def places(self, rule: str) -> Mapping[str, Mapping[str, Ref]]:
        """Return, by node, the instances ("": the node itself) on which a rule's feature is placed."""
        return self._places.get(rule, _NO_PLACES)

    def values(self, node: str) -> Values:
        """Return the decided values of a node by rule, lowest first."""
        return self._values.get(node, ())

    def attributes(self, node: str) -> Attributes:
        """Return the decided attributes of instances on a node."""
        return self._attributes.get(node, _NO_ATTRIBUTES)


def _left_open(rule: Rule, name: str, binding: Binding) -> Binding:
    """Return a value with the decision: the rule that leaves it open, and the places."""
    decision = Decision(rule.name, name, rule.domains[name].origin, binding.origin)
    return msgspec.structs.replace(binding, decided=(decision,))


def _defaults(values: Mapping[str, Binding]) -> dict[str, Binding]:
    """Return values as defaults, so that values set by hand override them."""
    return {param: msgspec.structs.replace(bound, op=Op.DEFAULT) for param, bound in values.items()}


# What rules install: stratum by stratum, for many nodes at once.


class Progress:
    """A node with what rules install on it so far."""

    def __init__(self, name: str, definition: NodeDefinition, shape: Shape) -> None:
        self.name = name
        self.definition = definition
        self.shape = shape
        self.installed: tuple[RuleInstall, ...] = ()

    def add(self, installed: RuleInstall) -> None:
        """Add an installation; they are in the order of the rules' names."""
        self.installed = tuple(sorted((*self.installed, installed), key=lambda each: each.rule))


class Installing:
    """Finds what rules install. Conditions see no overrides, and only features of earlier strata.

    Rules that count their places install where an allocation decided. `failed` are, by rule and slot,
    conditions that could not be evaluated: the rule installs nothing there.
    """

    def __init__(self, book: Rulebook, shapes: Shapes, decided: Decided) -> None:
        self._book = book
        self._shapes = shapes
        self._decided = decided
        self._known: dict[str, tuple[RuleInstall, ...]] = {}
        self.failed: dict[str, dict[str, CelProblem]] = {}

    def of(self, name: str) -> tuple[RuleInstall, ...]:
        """Return what rules install on a node for which `look` was called, in order of the rules' names."""
        return self._known[name]

    def look(self, nodes: Mapping[str, NodeDefinition]) -> None:
        """Find what rules install on these nodes, if it is not known yet.

        Raise Stopped if a condition does not finish.
        """
        going = {
            name: Progress(name, definition, self._shapes.of(definition))
            for name, definition in nodes.items()
            if name not in self._known and not definition.retired
        }
        for names in self._book.strata.layers:
            rules = [self._book.rules[name] for name in names]
            found = [(one, new) for rule in rules for one, new in self._found(rule, going)]
            for one, new in found:
                one.add(new)
        self._known.update(dict.fromkeys(nodes.keys() - self._known.keys(), ()))
        self._known.update((name, one.installed) for name, one in going.items())

    def _found(self, rule: Rule, going: Mapping[str, Progress]) -> Iterator[tuple[Progress, RuleInstall]]:
        if rule.feature is None:
            return
        if rule.count is not None:
            yield from self._placed(rule, rule.feature, going)
            return
        seen = [each for one in going.values() for each in self._candidates(rule, one)]
        answers = self._book.evaluate(rule, seen)
        if answers.failed:
            self.failed.setdefault(rule.name, {}).update(answers.failed)
        for name, holding in _by_node(answers.holding).items():
            yield going[name], _installed(rule, rule.feature, holding)

    def _placed(
        self, rule: Rule, feature: Ref, going: Mapping[str, Progress]
    ) -> Iterator[tuple[Progress, RuleInstall]]:
        """Yield decided installations of a feature. Decisions about missing instances are ignored."""
        places = self._decided.places(rule.name)
        for one in [going[name] for name in going.keys() & places.keys()]:
            here = places[one.name]
            found = [seen for seen in self._candidates(rule, one) if seen.self_.name in here]
            uses = [_use(seen, Ref(feature.name, here[seen.self_.name].origin)) for seen in found]
            if uses:
                decided = [Decision(rule.name, feature.name, feature.origin, use.origin) for use in uses]
                yield one, RuleInstall(rule.name, tuple(uses), one.name, tuple(decided))

    def _candidates(self, rule: Rule, one: Progress) -> Iterator[Candidate]:
        """Yield what the condition of a rule is evaluated for: a node, or the instances on it."""
        features = self._shapes.features(one.shape, one.installed)
        if rule.over is None:
            yield Candidate(one.name, one.definition, features)
        elif rule.over.name in features:
            for unit in first_by_name(self._shapes.units(one.shape, one.installed, rule.over.name)):
                yield Candidate(one.name, one.definition, features, unit)


def _by_node(holding: Iterable[Candidate]) -> dict[str, list[Candidate]]:
    found: dict[str, list[Candidate]] = {}
    for seen in holding:
        found.setdefault(seen.name, []).append(seen)
    return found


def _installed(rule: Rule, feature: Ref, holding: list[Candidate]) -> RuleInstall:
    """Return a rule's feature, plain or as each instance for which its condition holds."""
    return RuleInstall(rule.name, tuple([_use(seen, feature) for seen in holding]))


def _use(seen: Candidate, feature: Ref) -> Use:
    """Return the entry that installs a feature on a node, or with the name of an instance."""
    if seen.unit is None:
        return Use(feature.name, feature.origin)
    return Use(feature.name, feature.origin, seen.unit.name or None, seen.unit.attributes)


# The effects of rules on each node: first what they install, then, with all features known, what they set.

Being = tuple[NodeDefinition, tuple[Override, ...]]
"""A node's definition, and the overrides that apply to it."""


class RuleEngine:
    """Finds the effects of rules on nodes, one by one or (faster) many at once."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        self.book = Rulebook(layers.model.rules, layers.inclusion)
        self.shapes = Shapes(layers)
        leaving = self.book.of_kind(RuleKind.INSTALL, RuleKind.DOMAIN)
        self.decided = Decided(leaving, layers.model.allocations)
        self.installing = Installing(self.book, self.shapes, self.decided)
        self.failed: dict[str, dict[str, CelProblem]] = self.installing.failed
        self._effects: dict[str, RuleEffects] = {}

    @cached_property
    def valued(self) -> Strata:
        """The order of the rules that leave values open."""
        return order_valued(self._layers, self.book)

    def installs(self, nodes: Mapping[str, NodeDefinition]) -> Mapping[str, tuple[RuleInstall, ...]]:
        """Return what rules install on nodes, in the order of the rules' names."""
        self.installing.look(nodes)
        return {name: self.installing.of(name) for name in nodes}

    def effects(self, nodes: Mapping[str, Being]) -> Mapping[str, RuleEffects]:
        """Return all effects of rules on nodes. Raise Stopped if a condition does not finish."""
        new = {name: node for name, node in nodes.items() if name not in self._effects}
        if new:
            self._find_effects(new)
        return {name: self._effects[name] for name in nodes}

    def one(self, name: str, node: Being) -> RuleEffects:
        """Return all effects of rules on one node."""
        if name not in self._effects:
            self._find_effects({name: node})
        return self._effects[name]

    def _find_effects(self, nodes: Mapping[str, Being]) -> None:
        installs = self.installs({name: definition for name, (definition, _) in nodes.items()})
        sets = self._sets(nodes, installs)
        for name, node in nodes.items():
            effects = RuleEffects(installs[name], tuple(sets.get(name, ())), decided=self.decided.rules(name))
            self._effects[name] = self._with_decided(name, node, effects)

    def _sets(
        self, nodes: Mapping[str, Being], installs: Mapping[str, tuple[RuleInstall, ...]]
    ) -> Mapping[str, list[str]]:
        """Return the rules that set something on nodes, in order of name."""
        rules, found = self.book.of_kind(RuleKind.SET), defaultdict[str, list[str]](list)
        seen = [
            self._candidate(name, node, installs[name])
            for name, node in nodes.items()
            if rules and not node[0].retired
        ]
        for rule in rules:
            for name in self._setting(rule, seen):
                found[name].append(rule.name)
        return found

    def _with_decided(self, name: str, node: Being, effects: RuleEffects) -> RuleEffects:
        """Return effects with the values and attributes that were decided for a node."""
        values, attributes = self.decided.values(name), self.decided.attributes(name)
        if node[0].retired or not (values or attributes):
            return effects
        if attributes:
            shape = self.shapes.of(*node)
            installs = tuple(self._filled(each, shape, effects, name) for each in effects.installs)
            effects = msgspec.structs.replace(effects, installs=installs)
        return msgspec.structs.replace(effects, values=values, attributes=attributes, node=name)

    def _filled(self, installed: RuleInstall, shape: Shape, effects: RuleEffects, node: str) -> RuleInstall:
        """Return an installation over instances with the attributes that were decided for these."""
        over = self.book.rules[installed.rule].over
        if over is None:
            return installed
        attributes, reaches = self.decided.attributes(node), self.book.inclusion.reaches
        units = {
            unit.name: unit for unit in first_by_name(self.shapes.units(shape, effects.installs, over.name))
        }
        uses = []
        for use in installed.uses:
            unit = units.get(use.instance or "")
            found = filled_unit(unit, attributes, reaches).attributes if unit else {}
            uses.append(msgspec.structs.replace(use, attributes={**found, **use.attributes}))
        return msgspec.structs.replace(installed, uses=tuple(uses), node=node)

    def _setting(self, rule: Rule, seen: list[Candidate]) -> Iterable[str]:
        answers = self.book.evaluate(rule, seen)
        if answers.failed:
            self.failed.setdefault(rule.name, {}).update(answers.failed)
        return [node.name for node in answers.holding]

    def _candidate(self, name: str, node: Being, installs: tuple[RuleInstall, ...]) -> Candidate:
        """Return the node for conditions that are evaluated once all features are known."""
        shape = self.shapes.of(*node)
        return Candidate(name, node[0], self.shapes.features(shape, installs))


# The instances on nodes that lack an attribute which some rule may give.


class Lacking:
    """Searches lists for instances that lack an attribute, in the same way as layers are built."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        self._features = {feature for feature, _ in layers.lacking}

    def of(
        self, uses: Iterable[Use], without: frozenset[str], attributes: Attributes
    ) -> Iterator[tuple[str, Instance]]:
        """Yield features with instances that lack something, for nodes with these entries and attributes."""
        for use in uses:
            yield from self._within(use, without, attributes, NOWHERE)

    def _within(
        self, use: Use, without: frozenset[str], attributes: Attributes, above: frozenset[str]
    ) -> Iterator[tuple[str, Instance]]:
        feature = self._layers.model.features.get(use.feature)
        if feature is None or use.feature in without or use.feature in above or not self._near(use.feature):
            return
        use = fill_use(use, attributes, self._layers.reaches) if attributes else use
        instance = self._layers.instance_of(use)
        if instance is not None:
            if (use.feature, instance.key) in self._layers.lacking:
                yield use.feature, instance
            feature = self._layers.instance(feature, instance)
        for inner in feature.include:
            yield from self._within(inner, without, attributes, above | {use.feature})

    def _near(self, feature: str) -> bool:
        leads = self._layers.reaches.leads
        return feature in self._features or any(leads(feature, other) for other in self._features)
