"""GC505, GC507, GC511: overrides that change nothing or end, and retired nodes."""

from collections.abc import Iterator

from gitcfg.cel import NODE_VARIABLES, CelProblem, compile_condition
from gitcfg.check.findings import of
from gitcfg.check.nodes import failing, stopped, unreadable
from gitcfg.check.references import missing
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.node_class import NodeClass
from gitcfg.compile.nodes import Roster
from gitcfg.compile.selection import Stopped
from gitcfg.compile.subset import has_effect
from gitcfg.model import Finding, Hold, Override, Severity
from gitcfg.model.delivery import ends_soon, is_over
from gitcfg.model.names import shown


def overrides(fleet: Fleet) -> Iterator[Finding]:
    """Yield what is wrong with each override."""
    unread = fleet.model.unread.get("overrides", frozenset())
    for name, override in fleet.model.overrides.items():
        if name in unread:
            continue
        kinds = [node_class for node_class in fleet.classes if override in node_class.overrides]
        yield from _condition(fleet, override)
        yield from _dated(fleet, override, kinds)
        yield from _idle(fleet, override, kinds)


def _nodes(kinds: list[NodeClass]) -> list[str]:
    return [name for node_class in kinds for name in node_class.names]


def _dated(fleet: Fleet, override: Override, kinds: list[NodeClass]) -> Iterator[Finding]:
    """Yield warnings only: the passing of a day must not reject a push about something else."""
    until, reason = override.until, f"Its reason: {override.reason}"
    if is_over(until, fleet.today):
        message = f"The override {override.name} is overdue: it ended on {until} and still applies."
        hint = f"`gitcfg override expire` removes it; or set a later end. {reason}"
    elif ends_soon(until, fleet.today):
        message = f"The override {override.name} ends soon, on {until}."
        hint = f"It applies until a commit removes it: run `gitcfg override expire` after that day. {reason}"
    else:
        return
    yield of("GC507", override.name, message, [override.until_at or override.origin], _nodes(kinds), hint)


def _idle(fleet: Fleet, override: Override, kinds: list[NodeClass]) -> Iterator[Finding]:
    selection = fleet.selections.get(override.name)
    if selection is not None and (selection.problem or selection.failed):
        return
    strange = sorted(name for name in set(override.members or ()) if name not in fleet)
    if strange:
        message = f"The override {override.name} names nodes that do not exist: {', '.join(strange)}."
        yield of("GC505", override.name, message, [override.place or override.origin])
    elif not any(has_effect(fleet, override, node_class) for node_class in kinds):
        message = f"The override {override.name} changes nothing."
        yield of("GC505", override.name, message, [override.origin], _nodes(kinds))


def _condition(fleet: Fleet, override: Override) -> Iterator[Finding]:
    if override.where is None:
        return
    selection = fleet.selections[override.name]
    if selection.problem is not None:
        yield unreadable(fleet.tree, override.where, selection.problem)
    yield from failing(fleet.tree, override.name, override.where, selection)


# Delivery: holds (GC505, GC507), conditions (GC102, GC408), keys and groups (GC201).


def delivery(fleet: Fleet, roster: Roster) -> Iterator[Finding]:
    """Yield what is wrong with delivery. `roster` has all nodes; the fleet may have only some."""
    for ref in fleet.model.settings.walk_in or ():
        if ref.name not in fleet.model.groups:
            yield missing("group", ref.name, ref.origin, fleet.model.groups)
    yield from _first(fleet)
    unread = fleet.model.unread.get("holds", frozenset())
    for name, hold in fleet.model.holds.items():
        if name not in unread:
            yield from _hold(fleet, roster, hold)
    yield from _keys(fleet, roster)


def _first(fleet: Fleet) -> Iterator[Finding]:
    """Yield a condition for the first nodes that cannot be read.

    A node on which it fails is simply not among the first, which is not an error.
    """
    release = fleet.model.settings.release
    if release is None or release.first is None:
        return
    try:
        compile_condition(release.first.name, NODE_VARIABLES)
    except CelProblem as problem:
        yield unreadable(fleet.tree, release.first, problem)


def _hold(fleet: Fleet, roster: Roster, hold: Hold) -> Iterator[Finding]:
    reason = f"Its reason: {hold.reason}"
    if is_over(hold.until, fleet.today):
        message = f"The hold {hold.name} ended on {hold.until} and has no effect any more."
        hint = f"`gitcfg hold expire` removes it; or set a later end. {reason}"
        yield of("GC507", hold.name, message, [hold.until_at or hold.origin], hint=hint)
        return
    if ends_soon(hold.until, fleet.today):
        message = f"The hold {hold.name} ends soon, on {hold.until}."
        hint = f"The server lifts it on the day after. {reason}"
        yield of("GC507", hold.name, message, [hold.until_at or hold.origin], hint=hint)
    strange = sorted(name for name in set(hold.members or ()) if name not in roster)
    if strange:
        message = f"The hold {hold.name} names nodes that do not exist: {', '.join(strange)}."
        yield of("GC505", hold.name, message, [hold.place or hold.origin])
    if hold.where is not None:
        try:
            selection = fleet.select(hold.where.name)
        except Stopped as found:
            named = found.named(f"The condition of {hold.name}", hold.name, hold.where)
            yield stopped(fleet.tree, named)
            return
        if selection.problem is not None:
            yield unreadable(fleet.tree, hold.where, selection.problem)
        yield from failing(fleet.tree, hold.name, hold.where, selection)


def _keys(fleet: Fleet, roster: Roster) -> Iterator[Finding]:
    """Yield keys of nodes that do not exist. With `walk_in`, an accepted node needs no definition."""
    if fleet.model.settings.walk_in is not None:
        return
    for name, key in fleet.model.keys.items():
        if name not in roster:
            message = f"The node {shown(name)} has a key but does not exist."
            yield of("GC201", name, message, [key.origin], grave=Severity.WARNING)


# GC511: a node is retired before it is deleted, so that what runs on it is stopped.


def retired(now: Roster, before: Roster) -> Iterator[Finding]:
    """Yield nodes that were deleted without being retired first."""
    for name in before.names():
        if name in now:
            continue
        merged = before.definition(name)
        definition = merged.own or (merged.nodeset.definition if merged.nodeset else None)
        if not merged.retired and definition is not None:
            message = f"The node {name} was deleted without being retired."
            hint = "Set `state: retired` first, and delete the node when it has reported that it is retired."
            yield of("GC511", name, message, [definition.origin], [name], hint)
