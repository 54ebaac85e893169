"""Why a rule that installs a feature on nodes does not install it on one."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

import msgspec

from gitcfg.cel import fields_asked, members_asked
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.ruled.asking import VALUES, Seen
from gitcfg.compile.ruled.view import Ruled, ruled
from gitcfg.model import Ref
from gitcfg.model.rules import Rule, RuleKind


class Reason(StrEnum):
    """What keeps a rule from installing its feature on a node."""

    WHERE = "where"  # its condition does not hold
    FAILED = "failed"  # that cannot be said
    OVER = "over"  # the node has none of the instances that it goes over
    PLACED = "placed"  # it was decided to install it on others
    OPEN = "open"  # nothing is decided yet
    IDLE = "idle"  # it installs nothing anywhere: it is not understood, or waits for itself


class Sight(msgspec.Struct, frozen=True):
    """What a condition saw of a node, or of these instances on it: terms of it with their values."""

    instances: tuple[str, ...]
    terms: Mapping[str, Any]


class Passing(msgspec.Struct, frozen=True):
    """A rule that passes a node by: `feature` is what it installs, `at` the part of it that is the reason.

    `problem` says why its condition cannot be evaluated. `slots` are those that were decided, of the same
    groups where it is about groups.
    """

    rule: str
    feature: str
    reason: Reason
    at: Ref
    saw: tuple[Sight, ...] = ()
    problem: str = ""
    slots: tuple[str, ...] = ()


def passing(fleet: Fleet, node: str, feature: str) -> tuple[Passing, ...]:
    """The rules that would install a feature on a node that has it from nowhere, and why they do not."""
    view = ruled(fleet)
    if view is None:
        return ()
    rules = (rule for rule in view.book.rules.values() if rule.kind is RuleKind.INSTALL)
    found = (
        _passing(fleet, view, rule, rule.feature, node)
        for rule in rules
        if rule.feature is not None and feature in fleet.layers.expanded((rule.feature.name,))
    )
    return tuple(found)


def _passing(fleet: Fleet, view: Ruled, rule: Rule, feature: Ref, node: str) -> Passing:
    if rule.name not in view.book.order:
        return Passing(rule.name, feature.name, Reason.IDLE, feature)
    slots, answers = view.on(rule.name, node)
    if not slots and rule.over is not None:
        return Passing(rule.name, feature.name, Reason.OVER, rule.over)
    if answers.holding:
        placed = _placed(fleet, view, rule, answers.holding)
        reason = Reason.PLACED if placed else Reason.OPEN
        return Passing(rule.name, feature.name, reason, feature, slots=placed)
    where = rule.where or feature
    for problem in answers.failed.values():
        return Passing(rule.name, feature.name, Reason.FAILED, where, problem=problem.message)
    return Passing(rule.name, feature.name, Reason.WHERE, where, tuple(_saw(view, rule.name, slots)))


def _placed(fleet: Fleet, view: Ruled, rule: Rule, here: tuple[Seen, ...]) -> tuple[str, ...]:
    """Where it was decided to install a feature that might go here as well."""
    decided = fleet.model.allocations.get(rule.name)
    slots = tuple(ref.name for ref in decided.install) if decided is not None else ()
    if rule.per is None:
        return slots
    decided_for = frozenset(slots)
    nodes = dict.fromkeys(slot.partition("/")[0] for slot in slots)
    holding = (seen for node in nodes if node in fleet for seen in view.on(rule.name, node)[1].holding)
    there = view.together(rule.name, tuple(seen for seen in holding if seen.slot in decided_for))
    return tuple(seen.slot for key in view.together(rule.name, here) for seen in there.get(key, ()))


def _saw(view: Ruled, rule: str, slots: tuple[Seen, ...]) -> Iterator[Sight]:
    """What the condition of a rule saw, once for all that look alike to it."""
    found: list[tuple[dict[str, Any], list[str]]] = []
    for seen in slots:
        terms = dict(_terms(view, rule, seen))
        names = next((names for known, names in found if known == terms), None)
        if names is None:
            found.append((terms, names := []))
        names += [seen.unit.name] if seen.unit is not None else []
    for terms, names in found:
        yield Sight(tuple(names), terms)


def _terms(view: Ruled, rule: str, seen: Seen) -> Iterator[tuple[str, Any]]:
    """What of a node its condition asks for: of a list or map no more than that, where it is plain."""
    condition = view.book.wheres[rule].condition
    for name in sorted(condition.names):
        value = VALUES[name](seen)
        if isinstance(value, list):
            asked = members_asked(condition, name)
        else:
            asked = fields_asked(condition, name) if isinstance(value, dict) else None
        if asked is None:
            yield name, value
        for item in sorted(asked or ()):
            if isinstance(value, dict) and item in value:
                yield f"{name}.{item}" if item.isidentifier() else f"{name}[{_quoted(item)}]", value[item]
            else:
                yield f"{_quoted(item)} in {name}", item in value


def _quoted(text: str) -> str:
    return msgspec.json.encode(text).decode()
