"""Releases: begun when a commit is accepted, and let go on by what nodes report."""

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from gitcfg.rollout import Progress, Status, advanced, manned, planned
from gitcfg.rollout.outcomes import Look
from gitcfg.server import source
from gitcfg.server.guests import changed_guests
from gitcfg.server.outline import Outline
from gitcfg.server.release_records import look
from gitcfg.server.view import View
from gitcfg.state import State, StoredRelease
from gitcfg.state.steering import tell

if TYPE_CHECKING:
    from gitcfg.server.conductor import Conductor


class Begun(msgspec.Struct, frozen=True):
    """A commit that is to be released: what it says, and how everything stood before."""

    commit: str
    outline: Outline
    view: View
    known: tuple[StoredRelease, ...]
    now: float


async def begin(conductor: "Conductor", begun: Begun) -> bool:
    """Begin a release; False: another server was first, or it is under way."""
    back = await _back(conductor, begun)
    await conductor.read_checkins()  # else nodes that have just told another server look as if they were away
    commit, now = begun.commit, begun.now
    guests = await changed_guests(conductor, commit, begun.outline, begun.view) if begun.known else ()
    release = begun_release(begun, back, guests, _look(conductor, begun.view, commit, begun.outline))

    def keep(state: State) -> bool:
        if not state.releases.begin(release):
            return False
        state.events.next_sequence(now)
        state.events.add(now, "commit", {"commit": commit})
        tell(state, release, release.progress, now, "begun")
        return True

    return await conductor.ask(keep)


def begun_release(begun: Begun, back: bool, guests: tuple[str, ...], seen: Look) -> StoredRelease:
    """A release as it begins. The first one is there at once: no node runs anything that could be kept."""
    changed = [*_changed(begun), *guests] if begun.known else []
    plan = planned(begun.commit, changed, begun.outline.release, begun.outline.first, back)
    plan = manned(plan, 0, seen, begun.now)
    status = Status.RUNNING if changed else Status.DONE
    base = begun.known[-1].commit if begun.known else None
    progress = Progress(begun.commit, begun.now, status=status)
    return StoredRelease(begun.commit, base, begun.now, plan, progress, back)


def _changed(begun: Begun) -> list[str]:
    """The nodes that it brings something else than they had without it; new ones have no part.

    Held ones have: when a hold ends while the release is halted, they do not get it either.
    """
    found = []
    for name, line in begun.outline.nodes.items():
        now = begun.view.line(name, begun.view.released(name))
        if now is not None and now.digest != line.digest:
            found.append(name)
    return found


async def _back(conductor: "Conductor", begun: Begun) -> bool:
    """Does it lead back to what was released before?"""
    others = [one.commit for one in begun.known if one.commit != begun.commit]
    outlines = begun.view.outlines
    if any(commit in outlines and outlines[commit].tree == begun.outline.tree for commit in others):
        return True
    if not others:
        return False
    newest, commit = others[0], begun.commit
    if newest not in outlines:
        return False
    return await conductor.bench.do(
        lambda fleets: source.came_before(fleets.source.repository, commit, newest)
    )


async def advance(conductor: "Conductor") -> bool:
    """Let the release on its way go on by what nodes have said; is anything else than before?"""
    release = next((one for one in conductor.releases if one.progress.status is Status.RUNNING), None)
    view, now = conductor.view, conductor.clock()
    if release is None or view is None or release.commit not in view.outlines:
        return False
    seen = _look(conductor, view, release.commit, view.outlines[release.commit])
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

    return await conductor.ask(keep)


def _look(conductor: "Conductor", view: View, commit: str, outline: Outline) -> Look:
    return look(conductor.roll, commit, outline.nodes, view.held)
