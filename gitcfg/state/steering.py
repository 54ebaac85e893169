"""What people do to releases: let a halted one go on, or take one back."""

from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.names import shown
from gitcfg.model.text import ABBREVIATED
from gitcfg.rollout import Progress, Status, aborted, resumed
from gitcfg.state.records import StoredRelease
from gitcfg.state.state import State

RELEASE = "release"
"""The kind of events that tell what became of a release."""
_TRIES = 5
_INSTEAD = {
    Status.RUNNING: "It goes on by itself; `gitcfg release status` says how far it has got.",
    Status.DONE: "It has reached everybody; `gitcfg undo` makes a commit that takes it back.",
    Status.OVERTAKEN: "A newer commit goes on from where it had got.",
    Status.ABORTED: "A new commit on top of it begins a release of its own.",
}


def resume(state: State, commit: str, now: float, who: str) -> StoredRelease:
    """A halted release goes on. GitcfgError: there is none, or it is not halted."""
    return _steer(state, commit, now, who, "resumed", (Status.HALTED,))


def abort(state: State, commit: str, now: float, who: str) -> StoredRelease:
    """Nodes get what was before a release. GitcfgError: there is none, or it has come to its end."""
    return _steer(state, commit, now, who, "aborted", (Status.RUNNING, Status.HALTED))


def _steer(
    state: State, commit: str, now: float, who: str, done: str, may: tuple[Status, ...]
) -> StoredRelease:
    for _ in range(_TRIES):
        found = find(state, commit)
        status = found.progress.status
        if status not in may:
            message = f"The release of {found.commit[:ABBREVIATED]} is {status}, so it cannot be {done}."
            raise GitcfgError(message, _INSTEAD.get(status, ""), code=REFUSED)
        progress = resumed(found.progress, now) if done == "resumed" else aborted(found.progress)
        if state.releases.advance(found, progress):
            state.events.next_sequence(now)
            tell(state, found, progress, now, done, who)
            return find(state, commit)
    raise GitcfgError(f"The release of {commit} changes all the time.", "Try again.", code=REFUSED)


def tell(
    state: State, release: StoredRelease, progress: Progress, now: float, what: str, who: str = ""
) -> None:
    """Keep as an event what became of a release."""
    data = {
        "commit": release.commit,
        "what": what,
        "status": str(progress.status.value),
        "stage": progress.stage + 1,
        "stages": len(release.plan.sizes),
        "nodes": len(release.plan.order),
        "why": progress.why,
        "by": who,
    }
    state.events.add(now, RELEASE, data)


def find(state: State, commit: str) -> StoredRelease:
    """The release of a commit, which may be abbreviated. GitcfgError: there is none."""
    known = state.releases.newest(100)
    found = next((one for one in known if len(commit) >= 4 and one.commit.startswith(commit)), None)
    if found is None:
        raise GitcfgError(f"There is no release of {shown(commit)}.", "`gitcfg release status` lists them.")
    return found
