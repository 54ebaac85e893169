"""Releases: begun when a commit is accepted, advanced by reports of nodes, and shown as JSON."""

from collections import defaultdict
from collections.abc import Container, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from gitcfg.inventory.nodes import find_unchanged_walk_ins
from gitcfg.nodeset import fold
from gitcfg.rollout import (
    FindPresence,
    Outcome,
    Presence,
    Progress,
    Status,
    advance,
    count_outcomes,
    fill_stage,
    judge_node,
    plan_rollout,
)
from gitcfg.server import fleets as source
from gitcfg.server.fleets import FleetCache
from gitcfg.server.status import NodeRegistry
from gitcfg.server.view import Outline, OutlineNode, View
from gitcfg.state.records import StoredRelease
from gitcfg.state.state import State

if TYPE_CHECKING:
    from gitcfg.server.controller import Controller

ACTIVE = (Status.RUNNING, Status.HALTED)
"""The statuses of a release that is not over."""
_BAD = (Outcome.FAILED, Outcome.MISSING)


def release_record(release: StoredRelease, seen: FindPresence, now: float) -> dict[str, Any]:
    """Return a release as JSON; `counts` are of those nodes that were offered it.

    `counts` is None once it is over, because what nodes run later is not its result.
    """
    progress, plan = release.progress, release.plan
    offered = plan.offered(progress.stage)
    going = progress.status in ACTIVE
    found = count_outcomes(progress, offered, seen, now) if going else None
    return {
        "commit": release.commit,
        "base": release.base,
        "created": release.created,
        "status": progress.status.value,
        "back": release.back,
        "stage": progress.stage + 1,
        "stages": list(plan.sizes),
        "nodes": len(plan.order),
        "offered": len(offered),
        "settle": plan.settle,
        "max_failures": plan.max_failures,
        "since": progress.since,
        "well": progress.well,
        "why": progress.why,
        "counts": msgspec.to_builtins(found),
    }


def release_record_with_nodes(release: StoredRelease, seen: FindPresence, now: float) -> dict[str, Any]:
    """Return a release of `gitcfg.releases/1`: also the nodes that failed, and those of the present stage."""
    progress, plan = release.progress, release.plan
    going = progress.status in ACTIVE
    offered = plan.offered(progress.stage) if going else ()
    failed = [name for name in offered if judge_node(progress, seen(name), now) in _BAD]
    return {
        **release_record(release, seen, now),
        "failed": fold(failed),
        "present": fold(plan.joining(progress.stage) if going else ()),
    }


def observe_nodes(
    registry: NodeRegistry, commit: str, lines: Mapping[str, OutlineNode], held: Container[str]
) -> FindPresence:
    """Return a function that returns a node's presence for a release.

    It returns None for held nodes, because they do not get the release.
    """

    def seen(name: str) -> Presence | None:
        line = lines.get(name)
        return (
            None
            if name in held
            else registry.observe(name, commit, line.digest if line is not None else None)
        )

    return seen


class NewRelease(msgspec.Struct, frozen=True):
    """A commit to release: its outline, and the view before it."""

    commit: str
    outline: Outline
    view: View
    known: tuple[StoredRelease, ...]
    now: float


async def begin_release(controller: "Controller", begun: NewRelease) -> bool:
    """Begin a release; return False if another server was first, or it is under way."""
    back = await _leads_back(controller, begun)
    await controller.read_checkins()  # otherwise nodes that reported to another server look away
    commit, now = begun.commit, begun.now
    guests = await find_changed_walk_ins(controller, commit, begun.outline, begun.view) if begun.known else ()
    release = make_release(begun, back, guests, _observe(controller, begun.view, commit, begun.outline))

    def keep(state: State) -> bool:
        if not state.releases.begin(release):
            return False
        state.events.next_sequence(now)
        state.events.add(now, "commit", {"commit": commit})
        state.releases.record(release, release.progress, now, "begun")
        return True

    return await controller.with_state(keep)


def make_release(begun: NewRelease, back: bool, guests: tuple[str, ...], seen: FindPresence) -> StoredRelease:
    """Make a new release. The first one is done at once, because no node runs another commit yet."""
    changed = [*_find_changed(begun), *guests] if begun.known else []
    plan = plan_rollout(begun.commit, changed, begun.outline.release, begun.outline.first, back)
    plan = fill_stage(plan, 0, seen, begun.now)
    status = Status.RUNNING if changed else Status.DONE
    base = begun.known[-1].commit if begun.known else None
    progress = Progress(begun.commit, begun.now, status=status)
    return StoredRelease(begun.commit, base, begun.now, plan, progress, back)


def _find_changed(begun: NewRelease) -> list[str]:
    """Find the nodes whose configuration the commit changes, without new ones.

    Held nodes are included: if a hold ends while the release is halted, they do not get it either.
    """
    found = []
    for name, line in begun.outline.nodes.items():
        now = begun.view.line(name, begun.view.released(name))
        if now is not None and now.digest != line.digest:
            found.append(name)
    return found


async def find_changed_walk_ins(
    controller: "Controller", commit: str, outline: Outline, view: View
) -> tuple[str, ...]:
    """Find walk-in nodes whose configuration a commit changes.

    If names make no difference, one node represents all that are offered the same commit now.
    """
    if outline.walk_in is None:
        return ()
    alike: Mapping[str, list[str]] = defaultdict(list)
    for name, last in sorted(controller.registry.nodes.items()):
        # A node without a commit has no configuration to keep, and may never report a result.
        if last.commit is not None and name not in outline.nodes and not view.knows(name):
            alike[view.released(name).commit].append(name)
    found: list[str] = []
    for before, names in alike.items():
        same = await controller.worker.run(partial(_find_unchanged, before, commit, names))
        found += [name for name in names if name not in same]
    return tuple(found)


def _find_unchanged(before: str, commit: str, names: list[str], fleets: FleetCache) -> frozenset[str]:
    old, new = fleets.at(before), fleets.at(commit)
    if old.model.settings.walk_in is None and new.model.settings.walk_in is None:
        return frozenset(names)
    return find_unchanged_walk_ins(old, new, names, fleets.source.today)


async def _leads_back(controller: "Controller", begun: NewRelease) -> bool:
    """Return whether the commit is a rollback: to the content of an earlier release, or to an ancestor."""
    others = [one.commit for one in begun.known if one.commit != begun.commit]
    outlines = begun.view.outlines
    if any(commit in outlines and outlines[commit].tree == begun.outline.tree for commit in others):
        return True
    if not others:
        return False
    newest, commit = others[0], begun.commit
    if newest not in outlines:
        return False
    return await controller.worker.run(
        lambda fleets: source.is_ancestor(fleets.source.repository, commit, newest)
    )


async def advance_release(controller: "Controller") -> bool:
    """Advance the running release by the reports of nodes; return whether it changed."""
    release = next((one for one in controller.releases if one.progress.status is Status.RUNNING), None)
    view, now = controller.view, controller.clock()
    if release is None or view is None or release.commit not in view.outlines:
        return False
    seen = _observe(controller, view, release.commit, view.outlines[release.commit])
    before = release.plan, replace(release.progress, well=None)

    def keep(state: State) -> bool:
        plan, progress = advance(release.plan, release.progress, seen, now)
        moved = (plan, replace(progress, well=None)) != before
        if progress == release.progress and not moved:
            return False
        if not state.releases.advance(release, progress, plan if plan != release.plan else None):
            return False
        if moved:
            state.events.next_sequence(now)
            state.releases.record(release, progress, now, "went on")
        return True

    return await controller.with_state(keep)


def _observe(controller: "Controller", view: View, commit: str, outline: Outline) -> FindPresence:
    return observe_nodes(controller.registry, commit, outline.nodes, view.held)
