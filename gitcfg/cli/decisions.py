"""Decisions of `gitcfg solve`: printed, and as JSON."""

from collections.abc import Iterable, Iterator
from itertools import groupby

import msgspec
from rich.text import Text

from gitcfg.cli.records import Record
from gitcfg.cli.session import Session
from gitcfg.cli.trails import aligned, as_text, place_text
from gitcfg.edit.decision import Decision
from gitcfg.explain.trail import origin_record
from gitcfg.model import Origin
from gitcfg.model.text import safe
from gitcfg.nodeset import IN_JSON, abridged, fold
from gitcfg.solve.fleet import Cause, Change, ChangeKind

_SIGNS = {ChangeKind.ADD: ("+", "green"), ChangeKind.REMOVE: ("-", "red"), ChangeKind.CHANGE: ("~", "yellow")}


def decision_to_json(decision: Decision) -> Record:
    """Return a decision of `gitcfg.solve/1`."""
    return {
        "solved": decision.holds,
        "causes": [_cause_to_json(one) for one in decision.causes],
        "problem": decision.problem or None,
        "nodeset": fold(decision.nodes),
        "nodes": list(decision.nodes),
        "suggestion": _cause_to_json(decision.suggestion) if decision.suggestion is not None else None,
        "aside": list(decision.aside),
        "changes": [_change_to_json(one) for one in decision.changes],
    }


def _cause_to_json(cause: Cause) -> Record:
    return {
        "text": cause.text,
        "rule": cause.rule,
        "origins": [origin_record(origin) for origin in cause.origins],
    }


def _change_to_json(change: Change) -> Record:
    node, _, instance = change.slot.partition("/")
    return {
        "rule": change.rule,
        "change": change.kind.value,
        "slot": change.slot,
        "node": node,
        "instance": instance or None,
        "feature": None if change.param else change.what,
        "param": change.what if change.param else None,
        "old": change.old,
        "new": change.new,
    }


def print_decision(session: Session, decision: Decision) -> None:
    """Write a decision: its changes to stdout, the reasons why there is none to stderr."""
    console = session.console(stderr=not decision.holds)
    for line in _format_changes(decision) if decision.holds else _format_conflict(decision):
        console.print(line)
    for line in _format_notes(decision):
        session.console(stderr=True).print(line)


def _format_notes(decision: Decision) -> Iterator[Text]:
    """Yield what the changes alone do not show."""
    if decision.aside:
        named = safe(", ".join(decision.aside))
        yield Text(f"Skipped, because `gitcfg check` finds errors in them: {named}.", "yellow")
    elif decision.holds and not decision.changes:
        yield Text("Nothing is left to decide.")


def _format_changes(decision: Decision) -> Iterator[Text]:
    rule = None
    for one in _fold_changes(decision.changes):
        if one.change.rule != rule:
            rule = one.change.rule
            yield Text(safe(rule), "bold")
        yield _format_change(one)


class _FoldedChange(msgspec.Struct, frozen=True):
    """Changes of one rule that differ only in their slots; `to`: the new slots of what was in them."""

    change: Change
    slots: tuple[str, ...]
    to: tuple[str, ...] = ()


def _fold_changes(changes: Iterable[Change]) -> Iterator[_FoldedChange]:
    """Fold changes that are alike, rule by rule. A rule with as many new slots as removed ones moves them."""
    for _, group in groupby(changes, key=lambda change: change.rule):
        alike: dict[tuple[object, ...], list[Change]] = {}
        for change in group:
            alike.setdefault((change.param, change.what, change.kind, change.old, change.new), []).append(
                change
            )
        yield from _fold_moves(
            [_FoldedChange(found[0], tuple([one.slot for one in found])) for found in alike.values()]
        )


def _fold_moves(found: list[_FoldedChange]) -> Iterator[_FoldedChange]:
    added = [one for one in found if not one.change.param and one.change.kind is ChangeKind.ADD]
    removed = [one for one in found if not one.change.param and one.change.kind is ChangeKind.REMOVE]
    moves = len(added) == len(removed) == 1 and len(added[0].slots) == len(removed[0].slots)
    for one in found:
        if not moves or one.change.param:
            yield one
        elif one.change.kind is ChangeKind.REMOVE:
            yield _FoldedChange(one.change, one.slots, added[0].slots)


def _format_change(one: _FoldedChange) -> Text:
    change, slots = one.change, safe(abridged(one.slots, IN_JSON))
    sign, style = _SIGNS[change.kind]
    if one.to:
        return Text(f"  ~ {safe(change.what)} from {slots} to {safe(abridged(one.to, IN_JSON))}", "yellow")
    if not change.param:
        return Text(f"  {sign} {safe(change.what)} on {slots}", style)
    values = " -> ".join(as_text(value) for value in (change.old, change.new) if value is not None)
    return Text(f"  {sign} {safe(change.what)} = {values} on {slots}", style)


def _format_conflict(decision: Decision) -> Iterator[Text]:
    failed = safe(decision.problem)
    yield Text(f"Cannot evaluate a rule: {failed}" if failed else "These conditions conflict:", "bold red")
    causes = [(Text(f"  {safe(one.text)}"), _format_origins(one.origins)) for one in decision.causes]
    yield from aligned(causes, widest=80)
    if decision.nodes:
        yield Text(f"  nodes: {safe(abridged(decision.nodes, IN_JSON))}")
    if decision.suggestion is not None:
        yield Text(
            f"hint: Without this, the rest could be decided: {safe(decision.suggestion.text)}.", "cyan"
        )


def _format_origins(origins: tuple[Origin, ...]) -> Text:
    return Text(" ").join(place_text(origin) for origin in origins)
