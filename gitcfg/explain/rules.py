"""Why rules do not install a feature, or set a parameter, on a node."""

from collections.abc import Container, Iterator, Mapping
from enum import StrEnum
from typing import Any

import msgspec

from gitcfg.cel import find_fields, find_members
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.rules.evaluate import VALUES, Candidate
from gitcfg.compile.rules.slots import RuleView, view_rules
from gitcfg.explain.trail import Record, origin_record
from gitcfg.model import Origin, Ref
from gitcfg.model.rules import Rule, RuleKind
from gitcfg.nodeset import fold


class Reason(StrEnum):
    """The reason that a rule does not install its feature on a node, or set its parameters there."""

    WHERE = "where"  # its condition is false
    FAILED = "failed"  # its condition cannot be evaluated
    OVER = "over"  # the node has none of the instances that it is over
    PLACED = "placed"  # it was decided to install it in other slots
    OPEN = "open"  # there is no decision yet
    IDLE = "idle"  # it has no effect anywhere: it is not understood, or waits for itself


class Sight(msgspec.Struct, frozen=True):
    """The values of the terms of a condition on a node, or on these instances on it."""

    instances: tuple[str, ...]
    terms: Mapping[str, Any]


class Passing(msgspec.Struct, frozen=True):
    """A rule without effect on a node.

    `feature` is the one that it installs, `at` the part that is the reason.

    A rule that sets parameters, or leaves their values open, has no feature. `problem` is the reason why its
    condition cannot be evaluated. `slots` are those that were decided; for a rule with `per`, in the same
    group.
    """

    rule: str
    feature: str
    reason: Reason
    at: Ref
    saw: tuple[Sight, ...] = ()
    problem: str = ""
    slots: tuple[str, ...] = ()


def explain_passing(fleet: Fleet, node: str, feature: str) -> tuple[Passing, ...]:
    """Return the rules that could install a feature on a node that lacks it, and why they do not."""
    view = view_rules(fleet)
    if view is None:
        return ()
    rules = (rule for rule in view.book.rules.values() if rule.kind is RuleKind.INSTALL)
    found = (
        _explain_rule(fleet, view, rule, rule.feature, node, view.book.order)
        for rule in rules
        if rule.feature is not None and feature in fleet.layers.expanded((rule.feature.name,))
    )
    return tuple(found)


def explain_setting(fleet: Fleet, node: str, rule: Rule, param: Origin) -> Passing | None:
    """Return why a rule does not set a parameter on a node, or leaves no value open there.

    `param` is the place of the parameter in the rule. None: the rule does apply to the node.
    """
    view = view_rules(fleet)
    if view is None:
        return None
    running = {found.name for found in view.book.of_kind(rule.kind)}
    found = _explain_rule(fleet, view, rule, Ref("", param), node, running)
    return None if found.reason is Reason.OPEN and rule.kind is RuleKind.SET else found


def _explain_rule(
    fleet: Fleet, view: RuleView, rule: Rule, what: Ref, node: str, running: Container[str]
) -> Passing:
    """Return why a rule has no effect on a node.

    `what` is the feature that it installs; `running` are the rules of its kind that have an effect.
    """
    if rule.name not in running:
        return Passing(rule.name, what.name, Reason.IDLE, what)
    slots, answers = view.on(rule.name, node)
    if not slots and rule.over is not None:
        return Passing(rule.name, what.name, Reason.OVER, rule.over)
    if answers.holding:
        placed = _find_other_places(fleet, view, rule, answers.holding)
        reason = Reason.PLACED if placed else Reason.OPEN
        return Passing(rule.name, what.name, reason, what, slots=placed)
    where = rule.where or what
    for problem in answers.failed.values():
        return Passing(rule.name, what.name, Reason.FAILED, where, problem=problem.message)
    return Passing(rule.name, what.name, Reason.WHERE, where, tuple(_find_sights(view, rule.name, slots)))


def _find_other_places(
    fleet: Fleet, view: RuleView, rule: Rule, here: tuple[Candidate, ...]
) -> tuple[str, ...]:
    """Return the slots that were chosen for a feature that could be here as well."""
    decided = fleet.model.allocations.get(rule.name)
    slots = tuple(ref.name for ref in decided.install) if decided is not None else ()
    if rule.per is None:
        return slots
    decided_for = frozenset(slots)
    nodes = dict.fromkeys(slot.partition("/")[0] for slot in slots)
    holding = (seen for node in nodes if node in fleet for seen in view.on(rule.name, node)[1].holding)
    there = view.together(rule.name, tuple(seen for seen in holding if seen.slot in decided_for))
    return tuple(seen.slot for key in view.together(rule.name, here) for seen in there.get(key, ()))


def _find_sights(view: RuleView, rule: str, slots: tuple[Candidate, ...]) -> Iterator[Sight]:
    """Yield the values that the condition of a rule read, once for all slots with the same values."""
    found: list[tuple[dict[str, Any], list[str]]] = []
    for seen in slots:
        terms = dict(_find_terms(view, rule, seen))
        names = next((names for known, names in found if known == terms), None)
        if names is None:
            found.append((terms, names := []))
        names += [seen.unit.name] if seen.unit is not None else []
    for terms, names in found:
        yield Sight(tuple(names), terms)


def _find_terms(view: RuleView, rule: str, seen: Candidate) -> Iterator[tuple[str, Any]]:
    """Yield the terms of a condition with their values; for a list or map only the part that it reads."""
    condition = view.book.wheres[rule].condition
    for name in sorted(condition.names):
        value = VALUES[name](seen)
        if isinstance(value, list):
            asked = find_members(condition, name)
        else:
            asked = find_fields(condition, name) if isinstance(value, dict) else None
        if asked is None:
            yield name, value
        for item in sorted(asked or ()):
            if isinstance(value, dict) and item in value:
                yield f"{name}.{item}" if item.isidentifier() else f"{name}[{_quoted(item)}]", value[item]
            else:
                yield f"{_quoted(item)} in {name}", item in value


def _quoted(text: str) -> str:
    return msgspec.json.encode(text).decode()


def passing_record(found: Passing) -> Record:
    """Return the record of a rule without effect on a node."""
    record: Record = {
        "rule": found.rule,
        **({"feature": found.feature} if found.feature else {}),
        "reason": str(found.reason),
        "origin": origin_record(found.at.origin),
    }
    if found.reason in (Reason.WHERE, Reason.FAILED):
        record["where"] = found.at.name
    if found.saw:
        record["saw"] = [{"instances": list(saw.instances), "terms": saw.terms} for saw in found.saw]
    if found.problem:
        record["problem"] = found.problem
    if found.slots:
        record["placed"] = {"slots": fold(found.slots), "count": len(found.slots)}
    return record
