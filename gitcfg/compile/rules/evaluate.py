"""The expressions of rules: compiled once, and evaluated once for all nodes and instances alike to them."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, TypeVar

import msgspec

from gitcfg.cel import (
    NODE_VARIABLES,
    NODES_VARIABLES,
    SELF_VARIABLES,
    Budget,
    CelProblem,
    Condition,
    Key,
    KeyExpression,
    compile_condition,
    compile_key,
    find_fields,
    find_fields_of_each,
    find_members,
)
from gitcfg.cel.expression import Expression
from gitcfg.compile.instances import instance_of, known_attributes
from gitcfg.compile.layers import NOWHERE, Layers, find_decided
from gitcfg.compile.nodes import Attributes, NodeDefinition
from gitcfg.model import Binding, Ref, Use
from gitcfg.model.graph import Reach
from gitcfg.model.rules import Rule, RuleKind

E = TypeVar("E", bound=Expression)
Known = Mapping[str, str]
FEATURES = "node.features"
PARAMS = "node.params"
NODES = "nodes"

OF_VALUES = (RuleKind.DOMAIN, RuleKind.REQUIRE)
"""Kinds that judge what nodes got: what the others read of a node has to stand before it has values."""


class Unreadable(msgspec.Struct, frozen=True):
    """An expression of a rule that means nothing: `part` is the key under which it stands."""

    rule: str
    part: str
    at: Ref
    problem: CelProblem


class Where(msgspec.Struct, frozen=True):
    """The condition of a rule. `asked` are the features that it reads; None: it may read all."""

    condition: Condition
    asked: frozenset[str] | None


def list_variables(rule: Rule) -> Mapping[str, str]:
    """Return what the conditions and keys of a rule may read."""
    known = dict(NODE_VARIABLES)
    if rule.kind not in OF_VALUES:
        del known[PARAMS]
    return known if rule.over is None else {**known, **SELF_VARIABLES}


def read_where(rule: Rule) -> Where | Unreadable | None:
    """Return the condition that says where a rule counts; None where it counts everywhere."""
    condition = _read(rule, "where", rule.where, compile_condition, list_variables(rule))
    return Where(condition, find_features_named(condition)) if isinstance(condition, Condition) else condition


def read_per(rule: Rule) -> KeyExpression | Unreadable | None:
    """Return what a rule groups by."""
    return _read(rule, "per", rule.per, compile_key, list_variables(rule))


def read_unique(rule: Rule) -> KeyExpression | Unreadable | None:
    """Return what has to be equal for values to differ."""
    key = rule.unique.key if rule.unique is not None else None
    return _read(rule, "unique", key, compile_key, list_variables(rule))


def read_require(rule: Rule) -> Condition | Unreadable | None:
    """The invariant: of each node or instance, or, `per` a key or `over` instances, of groups of nodes."""
    known: Known = NODES_VARIABLES if rule.per is not None else list_variables(rule)
    if rule.over is not None:
        known = {**known, **NODES_VARIABLES}
    return _read(rule, "require", rule.require, compile_condition, known)


def _read(
    rule: Rule, part: str, at: Ref | None, compiled: Callable[[str, Known], E], known: Known
) -> E | Unreadable | None:
    if at is None:
        return None
    try:
        return compiled(at.name, known)
    except CelProblem as problem:
        return Unreadable(rule.name, part, at, strip_frames(problem))


def find_features_named(expression: Expression) -> frozenset[str] | None:
    """Return the features that an expression looks for; None: it may look at all of them."""
    return find_members(expression, FEATURES)


def find_params_read(expression: Expression) -> frozenset[str] | None:
    """The parameters whose values an expression looks at, be it of a group's nodes; None: it may be any."""
    own = find_fields(expression, PARAMS)
    each = find_fields_of_each(expression, "params") if NODES in expression.names else frozenset[str]()
    return None if own is None or each is None else own | each


def strip_frames(problem: CelProblem) -> CelProblem:
    """Return a problem without the frames that it came through, which hold what will hold it."""
    return CelProblem(*problem.args)


# The installations of a feature on a node: by itself or as what includes it, plain or as instances.


class Unit(msgspec.Struct, frozen=True):
    """One installation: the feature that is installed, its `as` ("" without one) and its attributes."""

    feature: str
    name: str
    attributes: Mapping[str, Binding]


class Units:
    """Finds the installations of one feature, with what else includes it.

    What includes it and nothing else of its kind counts itself (a special kind of it); what includes
    several, or an instance that it names, stands for those. What another one includes counts once.
    """

    def __init__(self, layers: Layers, target: str, without: frozenset[str]) -> None:
        self._layers = layers
        self._target = target
        self._without = without

    def of(self, uses: Iterable[Use]) -> tuple[Unit, ...]:
        """Return those that lists install, whose order, highest first, is kept."""
        found: dict[tuple[str, str], Unit] = {}
        for use in uses:
            for feature, holder in self._within(use, None, NOWHERE):
                unit = _unit(feature, holder)
                found.setdefault((feature, unit.name), unit)
        return tuple(unit for unit in found.values() if not self._included(unit, found.values()))

    def _within(self, use: Use, holder: Use | None, above: frozenset[str]) -> list[tuple[str, Use | None]]:
        """The features that an entry of a list installs, each with the entry that names its instance."""
        layer = self._layers.feature(use, self._without, above)
        if layer is None or self._target not in layer.features:
            return []
        holder = holder if instance_of(use) is None else use
        if use.feature == self._target:
            return [(use.feature, holder)]
        above = above | {use.feature}
        below = self._layers.as_used(use).include
        inner = [found for other in below for found in self._within(other, holder, above)]
        special = all(other is holder for _, other in inner) and len({name for name, _ in inner}) == 1
        return [(use.feature, holder)] if special else inner

    def _included(self, unit: Unit, found: Iterable[Unit]) -> bool:
        """Return whether another installation under the same name includes this one."""
        others = [other.feature for other in found if other.name == unit.name]
        leads = self._layers.reaches.leads
        return any(leads(other, unit.feature) and not leads(unit.feature, other) for other in others)


def _unit(feature: str, holder: Use | None) -> Unit:
    if holder is None:
        return Unit(feature, "", {})
    return Unit(feature, holder.instance or "", known_attributes(holder.attributes))


def filled_unit(unit: Unit, attributes: Attributes, reaches: Reach) -> Unit:
    """Return an instance with what was decided for it where its `with` does not say it."""
    found = find_decided(attributes, reaches, unit.feature, unit.name) if attributes else {}
    return msgspec.structs.replace(unit, attributes={**found, **unit.attributes}) if found else unit


def first_by_name(units: Iterable[Unit]) -> Iterator[Unit]:
    """Yield the highest installation under each name."""
    seen = set[str]()
    for unit in units:
        if unit.name not in seen:
            seen.add(unit.name)
            yield unit


# Nodes and instances that look alike to an expression: it is asked of one of them for all.

Mark = Callable[["Candidate"], Hashable]


class Alike(msgspec.Struct, frozen=True):
    """The first of each sort, and for each node or instance which of these it looks like."""

    firsts: Sequence["Candidate"]
    places: Sequence[int]


def group_alike(expression: Expression, nodes: Sequence["Candidate"]) -> Alike:
    """Return those that give an expression the same to look at, in the order given."""
    if any(name.endswith(".name") for name in expression.names):  # each has its own
        return Alike(nodes, range(len(nodes)))
    marks = [_marking(expression, name) for name in sorted(expression.names)]
    known: dict[Hashable, int] = {}
    firsts: list[Candidate] = []
    places: list[int] = []
    for seen in nodes:
        place = known.setdefault(tuple([mark(seen) for mark in marks]), len(firsts))
        if place == len(firsts):
            firsts.append(seen)
        places.append(place)
    return Alike(firsts, places)


def _marking(expression: Expression, name: str) -> Mark:
    """Return a key that is equal where a variable of an expression has the same value."""
    part = name.partition(".")[2]
    if part == "features":
        return _features(find_members(expression, name))
    if part in _MAPS:
        return _within(part, find_fields(expression, name))
    return _WHOLE[part]


def _features(asked: frozenset[str] | None) -> Mark:
    if asked is None:
        return lambda seen: seen.features
    return lambda seen: seen.features & asked


def _within(part: str, asked: frozenset[str] | None) -> Mark:
    """Return values as text: in Python 1, 1.0 and true are equal, in CEL they are not."""
    of, value = _MAPS[part]
    if asked is None:
        return lambda seen: tuple([(key, repr(value(unit))) for key, unit in of(seen).items()])
    keys = sorted(asked)

    def mark(seen: "Candidate") -> Hashable:
        found = of(seen)
        return tuple([repr(value(found[key])) if key in found else None for key in keys])

    return mark


_WHOLE: Mapping[str, Mark] = {
    "groups": lambda seen: tuple([ref.name for ref in seen.definition.groups]),
    "labels": lambda seen: seen.definition.labels,
    "params": lambda seen: seen.params,  # one object for each class
    "as": lambda seen: seen.self_.name,
    "feature": lambda seen: seen.self_.feature,
}
_MAPS: Mapping[str, tuple[Callable[["Candidate"], Mapping[str, Any]], Callable[[Any], Any]]] = {
    "facts": (lambda seen: seen.definition.facts, attrgetter("value")),
    "with": (lambda seen: seen.self_.attributes, attrgetter("given")),
}


# Conditions of rules, asked of many nodes or instances: once for all that look alike to them.

_NO_UNIT = Unit("", "", {})


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """What expressions may see: a node, or one of its instances. `params` gives its values, where it may."""

    name: str
    definition: NodeDefinition
    features: frozenset[str]
    unit: Unit | None = None
    params: Callable[[], Mapping[str, Any]] = dict

    @property
    def slot(self) -> str:
        """The node, or the node and the instance, as allocations write it."""
        return slot_name(self.name, self.unit)

    @property
    def self_(self) -> Unit:
        """The instance; of a node none."""
        return self.unit or _NO_UNIT


class Answers(msgspec.Struct, frozen=True):
    """Those for which a condition holds, and by slot why it cannot be said for others."""

    holding: tuple[Candidate, ...]
    failed: Mapping[str, CelProblem] = {}


def slot_name(node: str, unit: Unit | None) -> str:
    """Return a node, or an instance on it, as allocations write it."""
    return f"{node}/{unit.name}" if unit is not None and unit.name else node


VALUES: Mapping[str, Callable[[Candidate], Any]] = {
    "node.name": lambda seen: seen.name,
    "node.groups": lambda seen: [ref.name for ref in seen.definition.groups],
    "node.features": lambda seen: sorted(seen.features),
    "node.labels": lambda seen: list(seen.definition.labels),
    "node.facts": lambda seen: seen.definition.fact_values(),
    "node.params": lambda seen: dict(seen.params()),
    "self.as": lambda seen: seen.self_.name,
    "self.feature": lambda seen: seen.self_.feature,
    "self.with": lambda seen: {name: given.given for name, given in seen.self_.attributes.items()},
}


def read_values(expression: Expression, seen: Candidate) -> dict[str, Any]:
    """Return what an expression wants to know."""
    return {name: VALUES[_same(name)](seen) for name in expression.names}


def _same(name: str) -> str:
    """Read another node as a node."""
    return name.replace("other.", "node.", 1) if name.startswith("other.") else name


def ask_condition(where: Where | None, nodes: Sequence[Candidate], budget: Budget) -> Answers:
    """Return where a condition holds; without one, everywhere. `budget` is the rule's for all nodes.

    CelStopped: nobody knows.
    """
    if where is None or not nodes:
        return Answers(tuple(nodes))
    same = group_alike(where.condition, nodes)
    holds, problems = where.condition.holds_each(_rows(where.condition, same.firsts), budget)
    pairs = list(zip(nodes, same.places, strict=True))
    holding = tuple([seen for seen, place in pairs if holds[place]])
    failed = {seen.slot: problems[place] for seen, place in pairs if place in problems} if problems else {}
    return Answers(holding, failed)


def ask_keys(
    expression: KeyExpression, nodes: Sequence[Candidate], budget: Budget
) -> tuple[list[Key | None], Mapping[int, CelProblem]]:
    """Return the key of each, None where it has none, and why by row. Raise CelStopped if it was stopped."""
    same = group_alike(expression, nodes)
    keys, problems = expression.keys_each(_rows(expression, same.firsts), budget)
    failing = enumerate(same.places) if problems else ()
    return [keys[place] for place in same.places], {
        row: problems[place] for row, place in failing if place in problems
    }


def _rows(expression: Expression, nodes: Sequence[Candidate]) -> list[dict[str, Any]]:
    return [read_values(expression, seen) for seen in nodes]
