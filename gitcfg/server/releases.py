"""Begin a release when a commit is accepted, and advance it by what nodes report."""

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from gitcfg.rollout import Progress, Status, advanced, manned, planned
from gitcfg.rollout.outcomes import Look
from gitcfg.server import source
from gitcfg.server.guests import find_changed_walk_ins
from gitcfg.server.outline import Outline
from gitcfg.server.release_records import observe_nodes
from gitcfg.server.view import View
from gitcfg.state import State, StoredRelease
from gitcfg.state.steering import tell

if TYPE_CHECKING:
    from gitcfg.server.conductor import Controller


class NewRelease(msgspec.Struct, frozen=True):
    """A commit to release: its outline, and the view before it."""

    commit: str
    outline: Outline
    view: View
    known: tuple[StoredRelease, ...]
    now: float


async def begin_release(controller: "Controller", begun: NewRelease) -> bool:
    """Begin a release; False if another server was first, or it is under way."""
    back = await _leads_back(controller, begun)
    await (
        controller.read_checkins()
    )  # else nodes that have just told another server look as if they were away
    commit, now = begun.commit, begun.now
    guests = await find_changed_walk_ins(controller, commit, begun.outline, begun.view) if begun.known else ()
    release = make_release(begun, back, guests, _observe(controller, begun.view, commit, begun.outline))

    def keep(state: State) -> bool:
        if not state.releases.begin(release):
            return False
        state.events.next_sequence(now)
        state.events.add(now, "commit", {"commit": commit})
        tell(state, release, release.progress, now, "begun")
        return True

    return await controller.with_state(keep)


def make_release(begun: NewRelease, back: bool, guests: tuple[str, ...], seen: Look) -> StoredRelease:
    """Make a new release. The first one is done at once: no node runs anything that could be kept."""
    changed = [*_find_changed(begun), *guests] if begun.known else []
    plan = planned(begun.commit, changed, begun.outline.release, begun.outline.first, back)
    plan = manned(plan, 0, seen, begun.now)
    status = Status.RUNNING if changed else Status.DONE
    base = begun.known[-1].commit if begun.known else None
    progress = Progress(begun.commit, begun.now, status=status)
    return StoredRelease(begun.commit, base, begun.now, plan, progress, back)


def _find_changed(begun: NewRelease) -> list[str]:
    """Find the nodes that get something else by it than they would without it; new ones are not among them.

    Held ones have: when a hold ends while the release is halted, they do not get it either.
    """
    found = []
    for name, line in begun.outline.nodes.items():
        now = begun.view.line(name, begun.view.released(name))
        if now is not None and now.digest != line.digest:
            found.append(name)
    return found


async def _leads_back(controller: "Controller", begun: NewRelease) -> bool:
    """Return whether the commit leads back to what was released before."""
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
    """Advance the running release by what nodes have reported; return whether it changed."""
    release = next((one for one in controller.releases if one.progress.status is Status.RUNNING), None)
    view, now = controller.view, controller.clock()
    if release is None or view is None or release.commit not in view.outlines:
        return False
    seen = _observe(controller, view, release.commit, view.outlines[release.commit])
    before = release.plan, replace(release.progress, well=None)

    def keep(state: State) -> bool:
        plan, progress = advanced(release.plan, release.progress, seen, now)
        moved = (plan, replace(progress, well=None)) != before
        if progress == release.progress and not moved:
            return False
        if not state.releases.advance(release, progress, plan if plan != release.plan else None):
            return False
        if moved:
            state.events.next_sequence(now)
            tell(state, release, progress, now, "went on")
        return True

    return await controller.with_state(keep)


def _observe(controller: "Controller", view: View, commit: str, outline: Outline) -> Look:
    return observe_nodes(controller.registry, commit, outline.nodes, view.held)
