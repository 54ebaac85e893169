"""Who gets a commit when: holds (GC505, GC507), conditions (GC102, GC408), keys and groups (GC201)."""

from collections.abc import Iterator

from gitcfg.cel import NODE_VARIABLES, CelProblem, compile_condition
from gitcfg.check.conditions import failing, stopped, unreadable
from gitcfg.check.fold import of
from gitcfg.check.references import missing
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.nodes import Roster
from gitcfg.compile.stopped import Stopped
from gitcfg.model import Finding, Hold, Severity
from gitcfg.model.delivery import ends_soon, is_over
from gitcfg.model.names import shown


def delivery(fleet: Fleet, roster: Roster) -> Iterator[Finding]:
    """What is wrong with how commits get to nodes. `roster` are all nodes; the fleet may have only some."""
    yield from _walk_in(fleet)
    yield from _first(fleet)
    unread = fleet.model.unread.get("holds", frozenset())
    for name, hold in fleet.model.holds.items():
        if name not in unread:
            yield from _hold(fleet, roster, hold)
    yield from _keys(fleet, roster)


def _walk_in(fleet: Fleet) -> Iterator[Finding]:
    for ref in fleet.model.settings.walk_in or ():
        if ref.name not in fleet.model.groups:
            yield missing("group", ref.name, ref.origin, fleet.model.groups)


def _first(fleet: Fleet) -> Iterator[Finding]:
    """Where a node's condition fails, that node is not among the first: then nothing is wrong."""
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
        message = f"The hold {hold.name} ended on {hold.until} and holds nothing any more."
        hint = f"`gitcfg hold expire` takes it away; or give it a later end. {reason}"
        yield of("GC507", hold.name, message, [hold.until_at or hold.origin], hint=hint)
        return
    if ends_soon(hold.until, fleet.today):
        message = f"The hold {hold.name} ends soon, on {hold.until}."
        hint = f"A server lets its nodes go on the day after. {reason}"
        yield of("GC507", hold.name, message, [hold.until_at or hold.origin], hint=hint)
    strange = sorted(name for name in set(hold.members or ()) if name not in roster)
    if strange:
        message = f"The hold {hold.name} names nodes that are not there: {', '.join(strange)}."
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
    """With `walk_in` an accepted node need not be described."""
    if fleet.model.settings.walk_in is not None:
        return
    for name, key in fleet.model.keys.items():
        if name not in roster:
            message = f"There is a key of the node {shown(name)}, which is not there."
            yield of("GC201", name, message, [key.origin], grave=Severity.WARNING)
