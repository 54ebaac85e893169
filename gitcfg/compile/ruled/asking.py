"""Conditions of rules, asked of many nodes or instances: once for all that look alike to them."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import msgspec

from gitcfg.cel import Budget, CelProblem, Condition
from gitcfg.cel.expression import Expression
from gitcfg.compile.nodes import Said
from gitcfg.compile.ruled.reading import FEATURES, Where, bare
from gitcfg.compile.ruled.units import Unit

_NO_UNIT = Unit("", "", {})


class Seen(msgspec.Struct, frozen=True, gc=False):
    """What expressions may see: a node, or one of its instances. `params` gives its values, where it may."""

    name: str
    said: Said
    features: frozenset[str]
    unit: Unit | None = None
    params: Callable[[], Mapping[str, Any]] = dict

    @property
    def slot(self) -> str:
        """The node, or the node and the instance, as allocations write it."""
        return slot(self.name, self.unit)

    @property
    def self_(self) -> Unit:
        """The instance; of a node none."""
        return self.unit or _NO_UNIT


class Answers(msgspec.Struct, frozen=True):
    """Those for which a condition holds, and by slot why it cannot be said for others."""

    holding: tuple[Seen, ...]
    failed: Mapping[str, CelProblem] = {}


def slot(node: str, unit: Unit | None) -> str:
    """A node, or an instance on it, as allocations write it."""
    return f"{node}/{unit.name}" if unit is not None and unit.name else node


VALUES: Mapping[str, Callable[[Seen], Any]] = {
    "node.name": lambda seen: seen.name,
    "node.groups": lambda seen: [ref.name for ref in seen.said.groups],
    "node.features": lambda seen: sorted(seen.features),
    "node.labels": lambda seen: list(seen.said.labels),
    "node.facts": lambda seen: seen.said.fact_values(),
    "node.params": lambda seen: dict(seen.params()),
    "self.as": lambda seen: seen.self_.name,
    "self.feature": lambda seen: seen.self_.feature,
    "self.with": lambda seen: {name: given.given for name, given in seen.self_.attributes.items()},
}

_ALIKE: Mapping[str, Callable[[Seen], Hashable]] = {
    "node.groups": lambda seen: tuple([ref.name for ref in seen.said.groups]),
    "node.features": lambda seen: seen.features,
    "node.labels": lambda seen: seen.said.labels,
    "self.as": lambda seen: seen.self_.name,
    "self.feature": lambda seen: seen.self_.feature,
}
"""What many nodes have in common; of names and facts each has its own."""


def values(expression: Expression, seen: Seen) -> dict[str, Any]:
    """What an expression wants to know."""
    return {name: VALUES[_same(name)](seen) for name in expression.names}


def _same(name: str) -> str:
    """Another node is asked as a node is."""
    return name.replace("other.", "node.", 1) if name.startswith("other.") else name


def asked(where: Where | None, nodes: Sequence[Seen], budget: Budget) -> Answers:
    """Where a condition holds; without one, everywhere. `budget` is the rule's for all nodes."""
    if where is None or not nodes:
        return Answers(tuple(nodes))
    names = where.condition.names
    if not all(_same(name) in _ALIKE for name in names):
        return _each(where.condition, nodes, budget)
    alike: dict[Hashable, list[Seen]] = {}
    for seen in nodes:
        alike.setdefault(_mark(where, seen), []).append(seen)
    found = _each(where.condition, [some[0] for some in alike.values()], budget)
    same = {some[0].slot: some for some in alike.values()}
    holding = {id(seen) for first in found.holding for seen in same[first.slot]}
    failed = {seen.slot: problem for first, problem in found.failed.items() for seen in same[first]}
    return Answers(tuple(seen for seen in nodes if id(seen) in holding), failed)


def _mark(where: Where, seen: Seen) -> Hashable:
    """Equal for what gives a condition the same values to look at."""
    found = [_ALIKE[_same(name)](seen) for name in sorted(where.condition.names - {FEATURES})]
    if FEATURES in where.condition.names:
        found.append(seen.features if where.asked is None else seen.features & where.asked)
    return tuple(found)


def _each(condition: Condition, nodes: Sequence[Seen], budget: Budget) -> Answers:
    rows = [values(condition, seen) for seen in nodes]
    try:
        holds, problems = condition.holds_each(rows, budget)
    except CelProblem as problem:  # it was stopped: nothing can be said
        return Answers((), dict.fromkeys([seen.slot for seen in nodes], bare(problem)))
    holding = tuple(seen for seen, held in zip(nodes, holds, strict=True) if held)
    return Answers(holding, {nodes[row].slot: problem for row, problem in problems.items()})
