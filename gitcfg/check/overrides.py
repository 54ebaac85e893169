"""GC505, GC507: overrides that change nothing, are overdue or end soon; and their conditions."""

from collections.abc import Iterator

from gitcfg.check.conditions import failing, unreadable
from gitcfg.check.fold import of
from gitcfg.compile.classes import NodeClass
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.origins import matters
from gitcfg.model import Finding, Override
from gitcfg.model.delivery import ends_soon, is_over


def overrides(fleet: Fleet) -> Iterator[Finding]:
    """What is wrong with each override."""
    unread = fleet.model.unread.get("overrides", frozenset())
    for name, override in fleet.model.overrides.items():
        if name in unread:
            continue
        kinds = [kind for kind in fleet.classes if override in kind.overrides]
        yield from _condition(fleet, override)
        yield from _dated(fleet, override, kinds)
        yield from _idle(fleet, override, kinds)


def _nodes(kinds: list[NodeClass]) -> list[str]:
    return [name for kind in kinds for name in kind.names]


def _dated(fleet: Fleet, override: Override, kinds: list[NodeClass]) -> Iterator[Finding]:
    """Never an error: a day that passes must not refuse what somebody else pushes."""
    until, reason = override.until, f"Its reason: {override.reason}"
    if is_over(until, fleet.today):
        message = f"The override {override.name} is overdue: it ended on {until} and still applies."
        hint = f"`gitcfg override expire` takes it away; or give it a later end. {reason}"
    elif ends_soon(until, fleet.today):
        message = f"The override {override.name} ends soon, on {until}."
        hint = (
            f"It applies until a commit takes it away: `gitcfg override expire` does after that day. {reason}"
        )
    else:
        return
    yield of("GC507", override.name, message, [override.until_at or override.origin], _nodes(kinds), hint)


def _idle(fleet: Fleet, override: Override, kinds: list[NodeClass]) -> Iterator[Finding]:
    selection = fleet.selections.get(override.name)
    if selection is not None and (selection.problem or selection.failed):
        return
    strange = sorted(name for name in set(override.members or ()) if name not in fleet)
    if strange:
        message = f"The override {override.name} names nodes that are not there: {', '.join(strange)}."
        yield of("GC505", override.name, message, [override.place or override.origin])
    elif not any(matters(fleet, override, kind) for kind in kinds):
        message = f"The override {override.name} changes nothing."
        yield of("GC505", override.name, message, [override.origin], _nodes(kinds))


def _condition(fleet: Fleet, override: Override) -> Iterator[Finding]:
    if override.where is None:
        return
    selection = fleet.selections[override.name]
    if selection.problem is not None:
        yield unreadable(fleet.tree, override.where, selection.problem)
    yield from failing(fleet.tree, override.name, override.where, selection)
