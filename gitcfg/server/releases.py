"""Releases: begun when a commit is accepted, and let go on by what nodes report."""

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from gitcfg.rollout import Progress, Seen, Status, advanced, planned
from gitcfg.server import source
from gitcfg.server.outline import Outline
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
    release = begun_release(begun, back)
    commit, now = begun.commit, begun.now

    def keep(state: State) -> bool:
        if not state.releases.begin(release):
            return False
        state.events.next_sequence(now)
        state.events.add(now, "commit", {"commit": commit})
        tell(state, release, release.progress, now, "begun")
        return True

    kept = await conductor.ask(keep)
    if kept:
        said = {"commit": commit, "nodes": len(release.plan.order), "stages": list(release.plan.sizes)}
        conductor.log.info("release begun", extra={"said": said})
    return kept


def begun_release(begun: Begun, back: bool) -> StoredRelease:
    """A release as it begins. The first one is there at once: no node runs anything that could be kept."""
    changed = _changed(begun) if begun.known else []
    plan = planned(begun.commit, changed, begun.outline.release, begun.outline.first, back)
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
    view, roll, now = conductor.view, conductor.roll, conductor.clock()
    if release is None or view is None or release.commit not in view.outlines:
        return False
    lines = view.outlines[release.commit].nodes

    def seen(name: str) -> Seen | None:
        line = lines.get(name)
        digest = line.digest if line is not None else None
        return None if name in view.held else roll.seen(name, release.commit, digest)

    def keep(state: State) -> bool:
        progress = advanced(release.plan, release.progress, seen, now)
        if progress == release.progress or not state.releases.advance(release, progress):
            return False
        if replace(progress, well=None) != replace(release.progress, well=None):
            state.events.next_sequence(now)
            tell(state, release, progress, now, "went on")
        return True

    return await conductor.ask(keep)
