"""Results of decisions: allocations and their differences, or demands that contradict each other."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec
from msgspec.structs import replace

from gitcfg.compile.rules.slots import RuleView
from gitcfg.domain import Value
from gitcfg.model import Binding, Model, Op, Origin, Ref
from gitcfg.model.rules import Allocation, Count, Rule, RuleKind
from gitcfg.solve.problem import PlacementProblem, ValueProblem

_DIGITS = re.compile("([0-9]+)")


def natural(name: str) -> tuple[list[str | int], str]:
    """Return the sort key of a name in natural order."""
    parts = _DIGITS.split(name)
    return [int(part) if place % 2 else part for place, part in enumerate(parts)], name


class Cause(msgspec.Struct, frozen=True):
    """One demand, in words, and its places in files. `part`: which of a rule's demands it is, if not all."""

    text: str
    origins: tuple[Origin, ...]
    rule: str | None = None
    part: str = ""


class Causes:
    """Assigns a key to each cause, the same to equal ones."""

    def __init__(self) -> None:
        self._known: dict[str, Cause] = {}

    def key(self, cause: Cause) -> str:
        """Return the key of a cause."""
        key = "\n".join((cause.text, *map(str, cause.origins)))
        self._known.setdefault(key, cause)
        return key

    def rule(self, rule: Rule, demand: str, *origins: Origin, part: str = "") -> str:
        """Return the key of a rule's demand, one of those that it may have."""
        text = f"rule {rule.name}: {demand}"
        return self.key(Cause(text, origins or (rule.origin,), rule.name, part))

    def count(self, rule: Rule, feature: Ref, count: Count) -> str:
        """Return the key of the number that a rule demands or allows."""
        each = f" for each {rule.per.name}" if rule.per is not None else ""
        return self.rule(rule, f"{count} of {feature.name}{each}")

    def named(self, keys: Iterable[str]) -> tuple[Cause, ...]:
        """Return the causes of some keys."""
        return tuple(self._known[key] for key in keys)


# The result of decisions for a fleet: allocations, or contradictory demands, or neither.


class Solved(msgspec.Struct, frozen=True):
    """The allocations by rule, without rules that decide nothing.

    Rules in the second field have errors of their own: their allocations stay as they are.
    """

    allocations: Mapping[str, Allocation]
    aside: tuple[str, ...] = ()


class Unsolved(msgspec.Struct, frozen=True):
    """Demands that contradict each other, and would not if any one of them were left out.

    `nodes` are those concerned. Leaving out `suggestion` would make everything decidable.
    """

    causes: tuple[Cause, ...]
    nodes: tuple[str, ...]
    suggestion: Cause | None


class RuleFailure(Exception):
    """An expression of a rule failed, or its domain is invalid: what to decide is unknown."""

    def __init__(self, cause: Cause, problem: str, nodes: tuple[str, ...] = ()) -> None:
        super().__init__(problem)
        self.cause = cause
        self.nodes = nodes


# Rules whose demands are unknown: nothing is decided then.


def refuse_failed(ruled: RuleView, rules: Iterable[Rule]) -> None:
    """Raise RuleFailure if expressions of rules have failed; call this after the rules were evaluated.

    Raises:
        RuleFailure: An expression of one of them failed on some node.
    """
    for rule in rules:
        found = ruled.failed.get(rule.name)
        if found:
            nodes = sorted({slot.partition("/")[0] for slot in found})
            origin = rule.where.origin if rule.where is not None else rule.origin
            cause = Cause(f"rule {rule.name}", (origin,), rule.name)
            raise RuleFailure(cause, found[min(found)].message, tuple(nodes))


# Allocations as data, made from decisions.

Given = Mapping[str, Mapping[str, Value]]
"""Values by slot and parameter (or attribute)."""


def allocate_places(rule: str, slots: Sequence[str]) -> Allocation:
    """Return the places of a rule's feature."""
    origin = _origin(rule)
    return Allocation(rule, origin, install=tuple(Ref(slot, origin) for slot in sorted(slots, key=natural)))


def allocate_values(rule: str, values: Given) -> Allocation:
    """Return the values of a rule's domains."""
    origin = _origin(rule)
    return Allocation(
        rule,
        origin,
        values={
            slot: {
                name: Binding(Op.SET, values[slot][name], None, origin, origin)
                for name in sorted(values[slot])
            }
            for slot in sorted(values, key=natural)
        },
    )


def _origin(rule: str) -> Origin:
    return Origin(f"allocations/{rule}.yaml")


# Differences of allocations, slot by slot: additions, removals, changes.

_NOTHING: Mapping[str, Any] = {}
Allocations = Mapping[str, Allocation]


class ChangeKind(StrEnum):
    """What happens to a slot."""

    ADD = "add"
    REMOVE = "remove"
    CHANGE = "change"


class Change(msgspec.Struct, frozen=True):
    """One slot of one rule: an added or removed feature (`param` is empty), or a different value."""

    rule: str
    kind: ChangeKind
    slot: str
    what: str
    param: bool = False
    old: int | str | None = None
    new: int | str | None = None


def difference(rules: Mapping[str, Rule], old: Allocations, new: Allocations) -> Iterator[Change]:
    """Yield the changes rule by rule, with slots in natural order; also those of rules that are removed."""
    for name in sorted(old.keys() | new.keys()):
        rule, before, after = rules.get(name), old.get(name), new.get(name)
        feature = rule.feature.name if rule is not None and rule.feature is not None else ""
        had = {ref.name for ref in before.install} if before else set[str]()
        has = {ref.name for ref in after.install} if after else set[str]()
        for slot in sorted(had ^ has, key=natural):
            yield Change(name, ChangeKind.REMOVE if slot in had else ChangeKind.ADD, slot, feature)
        values = before.values if before else _NOTHING, after.values if after else _NOTHING
        yield from _value_changes(name, *values)


def _value_changes(rule: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    for slot in sorted(before.keys() | after.keys(), key=natural):
        had, has = before.get(slot, _NOTHING), after.get(slot, _NOTHING)
        for param in sorted(had.keys() | has.keys()):
            old, new = (side[param].given if param in side else None for side in (had, has))
            if old != new:
                changed = ChangeKind.REMOVE if new is None else ChangeKind.CHANGE
                kind = ChangeKind.ADD if old is None else changed
                yield Change(rule, kind, slot, param, param=True, old=old, new=new)


# Contradictory demands of a fleet with their nodes, and what leaving out one of them would change.


def nodes_of_placement(problem: PlacementProblem, causes: Collection[str]) -> tuple[str, ...]:
    """Return the nodes of groups that lack places or have too many by hand; by default of all groups."""
    bounds = [bound for bound in problem.bounds if bound.cause in causes]
    away = {fixed.spot for fixed in problem.fixed if not fixed.placed and fixed.cause in causes}
    there = {fixed.spot for fixed in problem.fixed if fixed.placed and fixed.cause in causes}
    violated = [
        bound
        for bound in bounds
        if sum(spot not in away for spot in bound.members) < bound.least
        or (bound.most is not None and sum(spot in there for spot in bound.members) > bound.most)
    ]
    members = [spot for bound in violated or bounds for spot in bound.members]
    return _nodes(slot for _, slot in members or away | there)


def nodes_of_values(problem: ValueProblem, causes: Collection[str]) -> tuple[str, ...]:
    """Return the nodes with contradictory values by hand; by default all whose values are to be decided."""
    by_hand = [want.slot for want in problem.wants if want.by_hand and want.by_hand.cause in causes]
    within = (want.slot for want in problem.wants if any(one.cause in causes for one in want.within))
    return _nodes(by_hand or within)


def _nodes(slots: Iterable[str]) -> tuple[str, ...]:
    """Return the nodes of slots. In slots of values, the attribute follows after a line end."""
    return tuple(sorted({slot.partition("\n")[0].partition("/")[0] for slot in slots}, key=natural))


# The single rule whose demands must be dropped to make everything decidable.


def suggest_rule(model: Model, found: Unsolved, solvable: Callable[[Model], bool]) -> Cause | None:
    """Return the one of the contradictory demands without which there is a solution; None: there is none.

    The suggestion for a part of the problem (`suggestion`) is tried first: it is nearly always right. A
    feature that a rule installs without a choice counts as that rule's.
    """
    places = {
        rule.feature.origin: rule.name
        for rule in model.rules.values()
        if rule.kind is RuleKind.INSTALL and rule.feature is not None
    }
    of_rules = [
        (cause, cause.rule or next((places[at] for at in cause.origins if at in places), ""))
        for cause in found.causes
    ]
    for cause, name in sorted(of_rules, key=lambda pair: pair[0] != found.suggestion):
        if name in model.rules and solvable(_without(model, name, cause)):
            return cause
    # Without one of its demands, the others of a rule may still be contradictory.
    partial = {cause.rule for cause in found.causes if cause.part}
    for rule in [rule for name, rule in model.rules.items() if name in partial]:
        rest = {name: other for name, other in model.rules.items() if name != rule.name}
        if solvable(replace(model, rules=rest)):
            return Cause(f"rule {rule.name}", (rule.origin,), rule.name)
    return None


def _without(model: Model, name: str, cause: Cause) -> Model:
    """Return a repository in which a rule does not have this demand."""
    rules = dict(model.rules)
    rule = rules.pop(name)
    domains = {param: domain for param, domain in rule.domains.items() if domain.origin not in cause.origins}
    if rule.unique is not None and cause.part:
        rules[name] = replace(rule, unique=None)
    elif domains:
        rules[name] = replace(rule, domains=domains)
    return replace(model, rules=rules)
