"""Conditions of rules, asked of many nodes or instances: once for all that look alike to them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from gitcfg.cel import Budget, CelProblem, Key, KeyExpression
from gitcfg.cel.expression import Expression
from gitcfg.compile.nodes import Said
from gitcfg.compile.ruled.alike import alike
from gitcfg.compile.ruled.reading import Where
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


def values(expression: Expression, seen: Seen) -> dict[str, Any]:
    """What an expression wants to know."""
    return {name: VALUES[_same(name)](seen) for name in expression.names}


def _same(name: str) -> str:
    """Another node is asked as a node is."""
    return name.replace("other.", "node.", 1) if name.startswith("other.") else name


def asked(where: Where | None, nodes: Sequence[Seen], budget: Budget) -> Answers:
    """Where a condition holds; without one, everywhere. `budget` is the rule's for all nodes.

    CelStopped: nobody knows.
    """
    if where is None or not nodes:
        return Answers(tuple(nodes))
    same = alike(where.condition, nodes)
    holds, problems = where.condition.holds_each(_rows(where.condition, same.firsts), budget)
    pairs = list(zip(nodes, same.places, strict=True))
    holding = tuple([seen for seen, place in pairs if holds[place]])
    failed = {seen.slot: problems[place] for seen, place in pairs if place in problems} if problems else {}
    return Answers(holding, failed)


def keyed(
    expression: KeyExpression, nodes: Sequence[Seen], budget: Budget
) -> tuple[list[Key | None], Mapping[int, CelProblem]]:
    """The key of each, None where it has none, and why not by row. CelStopped: nobody knows."""
    same = alike(expression, nodes)
    keys, problems = expression.keys_each(_rows(expression, same.firsts), budget)
    failing = enumerate(same.places) if problems else ()
    return [keys[place] for place in same.places], {
        row: problems[place] for row, place in failing if place in problems
    }


def _rows(expression: Expression, nodes: Sequence[Seen]) -> list[dict[str, Any]]:
    return [values(expression, seen) for seen in nodes]
