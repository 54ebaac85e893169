"""What is told of a rule: what it is about, what it asks for, and how much room that leaves."""

from collections.abc import Iterable, Iterator

from gitcfg.cel import plain_key
from gitcfg.cli.trails import as_text
from gitcfg.model.nodeset import IN_JSON, abridged
from gitcfg.model.rules import Count, Permit, Rule, RuleKind
from gitcfg.model.text import counted
from gitcfg.solve.fleet.slack import Group, Tight

Row = tuple[str, str]
"""A label, and what is said."""


def _describe_rule(one: Tight, *, whole: bool) -> Iterator[Row]:
    """All that is told below a rule's headline; `whole`: with its groups."""
    rule = one.rule
    if rule.permit is not None:
        yield from _describe_permit(rule.permit)
    yield from _describe_scope(one)
    if rule.count is not None:
        yield from _describe_count(one, rule.count)
    for room in one.rooms:
        yield room.param, f"{counted(room.size, 'value')}, {room.size - room.used} free: {room.values}"
    if one.failed:
        yield "cannot be asked", f"on {abridged(one.failed, IN_JSON)}"
    if whole and rule.per is not None:
        yield from ((f"  {_format_key(group)}", _format_members(rule, group)) for group in one.groups)


def _describe_permit(permit: Permit) -> Iterator[Row]:
    for what, refs in {"by": permit.by, **permit.things()}.items():
        if refs:
            yield what, ", ".join(ref.name for ref in refs)
    if not permit.inherit:
        yield "inherit", "no"


def _describe_scope(one: Tight) -> Iterator[Row]:
    """What a rule is about, and the invariant that shall hold there."""
    rule = one.rule
    if one.nodes:
        yield "for", f"{counted(len(one.nodes), 'node')}: {abridged(one.nodes, IN_JSON)}"
    if rule.over is not None:
        yield "instances", f"{one.slots} of {rule.over.name}"
    if rule.require is not None:
        yield "must hold", " ".join(rule.require.name.split())
    if rule.message:
        yield "else", rule.message
    if rule.per is not None:
        yield "groups", str(len(one.groups))


def _describe_count(one: Tight, count: Count) -> Iterator[Row]:
    each = " a group" if one.rule.per is not None else ""
    placing = one.rule.kind is RuleKind.INSTALL
    yield "wanted" if placing else "allowed", f"{count}{each}"
    yield "installed", _format_slots(one, (slot for group in one.groups for slot in group.placed))
    if placing:
        yield (
            "could take it",
            _format_slots(one, (slot for group in one.groups for slot in group.able), " more"),
        )
        if each and (short := sum(len(group.placed) < count.least for group in one.groups)):
            yield "too few in", counted(short, "group")
    elif each and count.most is not None:
        full = sum(len(group.placed) >= count.most for group in one.groups)
        yield "full", f"{full} of {counted(len(one.groups), 'group')}"


def _format_slots(one: Tight, slots: Iterable[str], more: str = "") -> str:
    """How many, and where, which groups tell if there are any."""
    found = tuple(slots)
    where = f": {abridged(dict.fromkeys(found), IN_JSON)}" if found and one.rule.per is None else ""
    return f"{len(found)}{more}{where}"


def _format_key(group: Group) -> str:
    return as_text(plain_key(group.key))


def _format_members(rule: Rule, group: Group) -> str:
    if rule.count is None:
        return abridged(group.slots, IN_JSON)
    there = abridged(dict.fromkeys(group.placed), IN_JSON) or "nowhere"
    if rule.kind is RuleKind.LIMIT:
        return f"{there}, of {abridged(group.slots, IN_JSON)}"
    return f"{there}; could be on {abridged(group.able, IN_JSON)}" if group.able else f"{there}; nowhere else"
