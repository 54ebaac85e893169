"""The room that rules leave: where they count, and how much is left of what they count or allocate."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from gitcfg.compile.rules.evaluate import Candidate
from gitcfg.compile.rules.slots import RuleView
from gitcfg.domain import DomainProblem, Values, parse
from gitcfg.model.rules import Rule, RuleKind
from gitcfg.solve.fleet.answers import Causes, natural
from gitcfg.solve.fleet.placement import Baseline, PlacementProblemBuilder, Spots

_OF_CHANGES = (RuleKind.FORBID, RuleKind.ALLOW)


class Group(msgspec.Struct, frozen=True):
    """The slots of a rule that have a key in common; those with its feature, and those that could have it.

    `placed` names a slot once for each installation that is counted there.
    """

    key: Any
    slots: tuple[str, ...]
    placed: tuple[str, ...] = ()
    able: tuple[str, ...] = ()


class DomainSlack(msgspec.Struct, frozen=True):
    """A domain of a rule: how many values it has, and how many of them are in use."""

    param: str
    values: str
    size: int
    used: int


class RuleSlack(msgspec.Struct, frozen=True):
    """One rule. `in_force`: whether it is about anything; `failed`: nodes on which it cannot be evaluated."""

    rule: Rule
    nodes: tuple[str, ...]
    slots: int
    groups: tuple[Group, ...] = ()
    rooms: tuple[DomainSlack, ...] = ()
    failed: tuple[str, ...] = ()

    @property
    def in_force(self) -> bool:
        """Whether the rule is about anything. Rules about changes always are."""
        return self.rule.kind in _OF_CHANGES or self.slots > 0


def measure_slack(ruled: RuleView, rule: Rule) -> RuleSlack:
    """Return the slack of a rule."""
    wrong = {found.rule for found in ruled.book.unreadable}
    if rule.kind in _OF_CHANGES or rule.name in wrong:
        return RuleSlack(rule, (), 0)
    slots = ruled.slots(rule.name)
    groups = []
    if rule.per is not None or rule.count is not None:
        counted = (_count_installed if rule.kind is RuleKind.INSTALL else _count_limited)(ruled, rule)
        for key, members in ruled.groups(rule.name).items():
            groups.append(Group(key, _names({each.slot for each in members}), *counted.get(key, ((), ()))))
    failed = {slot.partition("/")[0] for slot in ruled.failed.get(rule.name, ())}
    rooms = tuple(_rooms(ruled, rule, slots))
    nodes = _names({candidate.name for candidate in slots})
    return RuleSlack(rule, nodes, len(slots), tuple(groups), rooms, _names(failed))


def _count_installed(ruled: RuleView, rule: Rule) -> Mapping[Any, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return by key where a feature is, and where else it could be without regard to limits."""
    level = ruled.book.order.get(rule.name)
    if level is None or rule.feature is None or rule.feature.name not in ruled.fleet.model.features:
        return {}
    spots = Spots(Baseline(ruled.fleet, ruled.book, level), ruled)
    spots.add((rule,), choose=True)
    problem = PlacementProblemBuilder(spots, ruled, Causes()).problem((rule,), (), ())
    away = {fixed.spot[1] for fixed in problem.fixed if not fixed.placed}
    return {
        key: (
            _names({place.candidate.slot for place in places if place.had is not None}),
            _names({place.candidate.slot for place in places if place.had is None} - away),
        )
        for key, places in spots.places[rule.name].items()
    }


def _count_limited(ruled: RuleView, rule: Rule) -> Mapping[Any, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return by key where a limit counts something. It has no other places, as it places nothing."""
    if rule.kind is not RuleKind.LIMIT:
        return {}
    return {
        key: (tuple(sorted((candidate.slot for candidate, _ in found), key=natural)), ())
        for key, found in ruled.counted(rule.name).items()
    }


def _rooms(ruled: RuleView, rule: Rule, slots: Sequence[Candidate]) -> Iterator[DomainSlack]:
    for param, domain in rule.domains.items():
        kind = ruled.fleet.declarations.declared_kind(param) if rule.over is None else None
        try:
            values = parse(domain.items, kind)
        except DomainProblem:
            continue
        used = {_value(values, candidate, param) for candidate in slots} - {None}
        yield DomainSlack(param, values.describe(), values.size, sum(value in values for value in used))


def _value(values: Values, candidate: Candidate, param: str) -> Any:
    """Return the value in its normal form; None: it has none, or one outside the domain."""
    if candidate.unit is None:
        value = candidate.params().get(param)
    else:
        bound = candidate.unit.attributes.get(param)
        value = None if bound is None else bound.given
    try:
        return None if value is None else values.normal(value)
    except DomainProblem:
        return None


def _names(found: set[str]) -> tuple[str, ...]:
    return tuple(sorted(found, key=natural))
