"""Lets a rendered ref follow another ref: a commit for each commit there."""

from collections.abc import Generator, Iterator

from gitcfg.git.history import History
from gitcfg.git.refs import Refs
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.output.plan import Scope
from gitcfg.published.outcome import PublishOutcome, PublishRequest
from gitcfg.published.publisher import Publisher

_TRIES = 100


def follow_ref(publisher: Publisher, ref: str) -> Iterator[PublishOutcome]:
    """Publish what a ref's commits say, as they come after what was published last, the tip's in the end.

    Several may do it at once: who comes late finds less to do, or nothing.
    """
    for _ in range(_TRIES):
        moved = yield from _follow_once(publisher, ref)
        if not moved:
            return
    raise GitcfgError(
        f"{publisher.ref} moves all the time.", "The next push goes on from there.", code=REFUSED
    )


def _follow_once(publisher: Publisher, ref: str) -> Generator[PublishOutcome, None, bool]:
    """True if somebody else was faster."""
    tip, goal = publisher.tip(), Refs(publisher.repository).tip(ref)
    if goal is None:
        return False
    last = publisher.last(tip)
    known = last.source if last is not None and last.whole else None
    for commit in list_commits(History(publisher.repository), goal, known):
        fleet = publisher.fleet(commit)
        if fleet is None:
            continue
        with fleet:
            errors = tuple(found for found in fleet.findings if found.is_error)
            outcome = publisher.after(tip, fleet, PublishRequest(tuple(fleet), Scope.ALL, errors))
        if outcome is None:
            return True
        yield outcome
        if outcome.commit is not None:
            tip = publisher.tip()
            if tip is None or tip.commit != outcome.commit:
                return True
    return False


def list_commits(history: History, goal: str, known: str | None) -> tuple[str, ...]:
    """The commits from a known one to another, by first parents, the oldest first.

    Where the known one is not among these, as after a rewind, only the last.
    """
    if known is None or not history.has(known) or not history.includes(goal, known):
        return (goal,)
    found: list[str] = []
    commit = goal
    while commit != known:
        found.append(commit)
        parents = history.parents(commit)
        if not parents:
            return (goal,)
        commit = parents[0]
    return tuple(reversed(found)) or (goal,)
