"""Answers to deciding: allocations and how they differ, or demands that cannot hold together."""

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
    """Return what names are sorted by."""
    parts = _DIGITS.split(name)
    return [int(part) if place % 2 else part for place, part in enumerate(parts)], name


class Cause(msgspec.Struct, frozen=True):
    """One demand, in words, and where it is written. `part`: which of a rule's demands it is, if not all."""

    text: str
    origins: tuple[Origin, ...]
    rule: str | None = None
    part: str = ""


class Causes:
    """Gives each cause a key, the same for equal ones."""

    def __init__(self) -> None:
        self._known: dict[str, Cause] = {}

    def key(self, cause: Cause) -> str:
        """Return the key of a cause."""
        key = "\n".join((cause.text, *map(str, cause.origins)))
        self._known.setdefault(key, cause)
        return key

    def rule(self, rule: Rule, demand: str, *origins: Origin, part: str = "") -> str:
        """Return the key of what a rule demands, one of the demands that it may have."""
        text = f"rule {rule.name}: {demand}"
        return self.key(Cause(text, origins or (rule.origin,), rule.name, part))

    def count(self, rule: Rule, feature: Ref, count: Count) -> str:
        """Return the key of how many a rule demands or allows."""
        each = f" for each {rule.per.name}" if rule.per is not None else ""
        return self.rule(rule, f"{count} of {feature.name}{each}")

    def named(self, keys: Iterable[str]) -> tuple[Cause, ...]:
        """Return the causes of some keys."""
        return tuple(self._known[key] for key in keys)


# What comes of deciding for a fleet: allocations, or demands that cannot hold together, or neither.


class Solved(msgspec.Struct, frozen=True):
    """What is decided, by rule; of a rule that decides nothing there is none.

    `aside` are rules that are wrong themselves: what is allocated for them stays.
    """

    allocations: Mapping[str, Allocation]
    aside: tuple[str, ...] = ()


class Unsolved(msgspec.Struct, frozen=True):
    """These cannot hold together, and could if any single one were left out.

    `nodes` are those concerned. Leaving `suggestion` out would let everything be decided.
    """

    causes: tuple[Cause, ...]
    nodes: tuple[str, ...]
    suggestion: Cause | None


class RuleFailure(Exception):
    """An expression of a rule failed, or its domain means nothing: it is not known what to decide."""

    def __init__(self, cause: Cause, problem: str, nodes: tuple[str, ...] = ()) -> None:
        super().__init__(problem)
        self.cause = cause
        self.nodes = nodes


# Rules of which it is not known what they ask: nothing is decided then.


def refuse_failed(ruled: RuleView, rules: Iterable[Rule]) -> None:
    """After they were asked.

    Raises:
        RuleFailure: An expression of one of them failed somewhere.
    """
    for rule in rules:
        found = ruled.failed.get(rule.name)
        if found:
            nodes = sorted({slot.partition("/")[0] for slot in found})
            origin = rule.where.origin if rule.where is not None else rule.origin
            cause = Cause(f"rule {rule.name}", (origin,), rule.name)
            raise RuleFailure(cause, found[min(found)].message, tuple(nodes))


# Allocations as data, made of what was decided.

Given = Mapping[str, Mapping[str, Value]]
"""Values by slot and parameter (or attribute)."""


def allocate_places(rule: str, slots: Sequence[str]) -> Allocation:
    """Return where a rule's feature goes."""
    origin = _origin(rule)
    return Allocation(rule, origin, install=tuple(Ref(slot, origin) for slot in sorted(slots, key=natural)))


def allocate_values(rule: str, values: Given) -> Allocation:
    """Return who gets which values of a rule's domains."""
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


# Differences of allocations: what comes, goes and changes, slot by slot.

_NOTHING: Mapping[str, Any] = {}
Allocations = Mapping[str, Allocation]


class ChangeKind(StrEnum):
    """What becomes of a slot."""

    ADD = "add"
    REMOVE = "remove"
    CHANGE = "change"


class Change(msgspec.Struct, frozen=True):
    """One slot of one rule: a feature that comes or goes (`param` is empty), or a value that is other."""

    rule: str
    kind: ChangeKind
    slot: str
    what: str
    param: bool = False
    old: int | str | None = None
    new: int | str | None = None


def difference(rules: Mapping[str, Rule], old: Allocations, new: Allocations) -> Iterator[Change]:
    """Rule by rule, slots in natural order; of rules that are gone as well."""
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


# Demands of a fleet that cannot hold together, with their nodes, and what lifting one would change.


def nodes_of_placement(problem: PlacementProblem, causes: Collection[str]) -> tuple[str, ...]:
    """Return those of the groups that lack places or have too many by hand; else those of all groups."""
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
    """Return those that have a value by hand in this, else all whose values are in question."""
    by_hand = [want.slot for want in problem.wants if want.by_hand and want.by_hand.cause in causes]
    within = (want.slot for want in problem.wants if any(one.cause in causes for one in want.within))
    return _nodes(by_hand or within)


def _nodes(slots: Iterable[str]) -> tuple[str, ...]:
    """Slots of values go on with what they are about, behind a line's end."""
    return tuple(sorted({slot.partition("\n")[0].partition("/")[0] for slot in slots}, key=natural))


# Which single rule would let everything be decided, if what it demands were lifted.


def suggest_rule(model: Model, found: Unsolved, solvable: Callable[[Model], bool]) -> Cause | None:
    """One of the rules that cannot hold together: no other would do. None: that one alone is not enough.

    What was found for a part of the problem (`suggestion`) is tried first: it nearly always is right. What a
    rule installs wherever it counts is of that rule.
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
    # Without one of its demands the others of a rule may still be too much.
    partial = {cause.rule for cause in found.causes if cause.part}
    for rule in [rule for name, rule in model.rules.items() if name in partial]:
        rest = {name: other for name, other in model.rules.items() if name != rule.name}
        if solvable(replace(model, rules=rest)):
            return Cause(f"rule {rule.name}", (rule.origin,), rule.name)
    return None


def _without(model: Model, name: str, cause: Cause) -> Model:
    """Return a repository in which a rule does not demand this."""
    rules = dict(model.rules)
    rule = rules.pop(name)
    domains = {param: domain for param, domain in rule.domains.items() if domain.origin not in cause.origins}
    if rule.unique is not None and cause.part:
        rules[name] = replace(rule, unique=None)
    elif domains:
        rules[name] = replace(rule, domains=domains)
    return replace(model, rules=rules)
