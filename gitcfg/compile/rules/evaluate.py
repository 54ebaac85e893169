"""Expressions of rules: compiled once, and evaluated once for nodes and instances that are alike to them."""

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
"""Kinds that read final values. Expressions of other kinds are evaluated before there are values."""


class Unreadable(msgspec.Struct, frozen=True):
    """An expression of a rule that is not valid; `part` is its key in the rule."""

    rule: str
    part: str
    at: Ref
    problem: CelProblem


class Where(msgspec.Struct, frozen=True):
    """The condition of a rule. `asked` are the features that it reads; None: it may read all."""

    condition: Condition
    asked: frozenset[str] | None


def list_variables(rule: Rule) -> Mapping[str, str]:
    """Return the variables that the conditions and keys of a rule may read."""
    known = dict(NODE_VARIABLES)
    if rule.kind not in OF_VALUES:
        del known[PARAMS]
    return known if rule.over is None else {**known, **SELF_VARIABLES}


def read_where(rule: Rule) -> Where | Unreadable | None:
    """Return the condition of where a rule applies; None if it applies everywhere."""
    condition = _read(rule, "where", rule.where, compile_condition, list_variables(rule))
    return Where(condition, find_features_named(condition)) if isinstance(condition, Condition) else condition


def read_per(rule: Rule) -> KeyExpression | Unreadable | None:
    """Return the key by which a rule groups."""
    return _read(rule, "per", rule.per, compile_key, list_variables(rule))


def read_unique(rule: Rule) -> KeyExpression | Unreadable | None:
    """Return the key of the scope in which values must be unique."""
    key = rule.unique.key if rule.unique is not None else None
    return _read(rule, "unique", key, compile_key, list_variables(rule))


def read_require(rule: Rule) -> Condition | Unreadable | None:
    """Return the invariant: about each node or instance, or (with `per` or `over`) about groups of nodes."""
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
    """Return the features that an expression looks for; None: it may read all of them."""
    return find_members(expression, FEATURES)


def find_params_read(expression: Expression) -> frozenset[str] | None:
    """Return the parameters whose values an expression reads, also of a group's nodes; None: any may be."""
    own = find_fields(expression, PARAMS)
    each = find_fields_of_each(expression, "params") if NODES in expression.names else frozenset[str]()
    return None if own is None or each is None else own | each


def strip_frames(problem: CelProblem) -> CelProblem:
    """Return a problem without its traceback, whose frames would create reference cycles."""
    return CelProblem(*problem.args)


# The installations of a feature on a node: itself or a feature that includes it, plain or as instances.


class Unit(msgspec.Struct, frozen=True):
    """An installation: the feature that is installed, its `as` ("" without one) and its attributes."""

    feature: str
    name: str
    attributes: Mapping[str, Binding]


class Units:
    """Finds the installations of one feature, with the features that include it.

    A feature that includes it once, with no name of its own for the instance, is a special kind of it, and
    counts in its place. One that includes several, or names an instance, is replaced by these. What another
    installation of the same name includes does not count again.
    """

    def __init__(self, layers: Layers, target: str, without: frozenset[str]) -> None:
        self._layers = layers
        self._target = target
        self._without = without

    def of(self, uses: Iterable[Use]) -> tuple[Unit, ...]:
        """Return the installations from lists, in their order, highest first."""
        found: dict[tuple[str, str], Unit] = {}
        for use in uses:
            for feature, holder in self._within(use, None, NOWHERE):
                unit = _unit(feature, holder)
                found.setdefault((feature, unit.name), unit)
        return tuple(unit for unit in found.values() if not self._included(unit, found.values()))

    def _within(self, use: Use, holder: Use | None, above: frozenset[str]) -> list[tuple[str, Use | None]]:
        """Return the features that a list's entry installs, each with the entry that names its instance."""
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
        """Return whether another installation with the same name includes this one."""
        others = [other.feature for other in found if other.name == unit.name]
        leads = self._layers.reaches.leads
        return any(leads(other, unit.feature) and not leads(unit.feature, other) for other in others)


def _unit(feature: str, holder: Use | None) -> Unit:
    if holder is None:
        return Unit(feature, "", {})
    return Unit(feature, holder.instance or "", known_attributes(holder.attributes))


def filled_unit(unit: Unit, attributes: Attributes, reaches: Reach) -> Unit:
    """Return an instance with decided attributes, where its `with` does not set them."""
    found = find_decided(attributes, reaches, unit.feature, unit.name) if attributes else {}
    return msgspec.structs.replace(unit, attributes={**found, **unit.attributes}) if found else unit


def first_by_name(units: Iterable[Unit]) -> Iterator[Unit]:
    """Yield the highest installation of each name."""
    seen = set[str]()
    for unit in units:
        if unit.name not in seen:
            seen.add(unit.name)
            yield unit


# Nodes and instances that are alike to an expression: it is evaluated for one of them.

Mark = Callable[["Candidate"], Hashable]


class Alike(msgspec.Struct, frozen=True):
    """The first node or instance of each kind, and for each one the index of its kind."""

    firsts: Sequence["Candidate"]
    places: Sequence[int]


def group_alike(expression: Expression, nodes: Sequence["Candidate"]) -> Alike:
    """Return nodes and instances grouped by what an expression reads of them, in the order given."""
    if any(name.endswith(".name") for name in expression.names):  # names differ on all nodes
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
    """Return a function whose key is equal if the part of a variable that the expression reads is."""
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
    """Return a function whose key has values as text: 1, 1.0 and true are equal in Python, but not in CEL."""
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


# Conditions of rules, evaluated once for all nodes or instances that are alike to them.

_NO_UNIT = Unit("", "", {})


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """A node, or one of its instances, for expressions. `params` returns its values, if these may be read."""

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
        """The instance; an empty one for a node."""
        return self.unit or _NO_UNIT


class Answers(msgspec.Struct, frozen=True):
    """The nodes or instances for which a condition holds, and by slot why it failed for others."""

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
    """Return the values that an expression reads."""
    return {name: VALUES[_same(name)](seen) for name in expression.names}


def _same(name: str) -> str:
    """Return the variable of a node for one of another node."""
    return name.replace("other.", "node.", 1) if name.startswith("other.") else name


def ask_condition(where: Where | None, nodes: Sequence[Candidate], budget: Budget) -> Answers:
    """Return where a condition holds; without one, everywhere. `budget` is the rule's for all nodes.

    Raise CelStopped if the evaluation does not finish.
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
    """Return the key of each, None where it has none, and problems by row.

    Raise CelStopped if the evaluation does not finish.
    """
    same = group_alike(expression, nodes)
    keys, problems = expression.keys_each(_rows(expression, same.firsts), budget)
    failing = enumerate(same.places) if problems else ()
    return [keys[place] for place in same.places], {
        row: problems[place] for row, place in failing if place in problems
    }


def _rows(expression: Expression, nodes: Sequence[Candidate]) -> list[dict[str, Any]]:
    return [read_values(expression, seen) for seen in nodes]
