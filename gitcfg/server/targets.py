"""What a node is to run now (`gitcfg.target/1`)."""

from datetime import UTC, datetime
from typing import Any

import msgspec

from gitcfg.server.http import Problem
from gitcfg.server.service import Service
from gitcfg.server.signatures import AnswerSubject

SCHEMA = "gitcfg.target/1"
_MOST = 50_000


class Target(msgspec.Struct, frozen=True):
    """The commit for a node, and the digest of all that it gets there.

    `again`: what it failed at was forgiven, so that it need not wait with the next try.
    """

    node: str
    commit: str
    digest: str
    sequence: int
    date: str
    rollback: bool
    again: bool
    hold: dict[str, Any] | None
    schema: str = SCHEMA

    @property
    def about(self) -> AnswerSubject:
        """What the answer's signed headers say."""
        return AnswerSubject(self.node, self.commit, self.digest, self.sequence, self.rollback)


async def find_target(service: Service, name: str) -> Target:
    """Find what a node is to run. Raise Problem if git does not know it, or no longer."""
    view = service.view
    offer, line = view.offer(name), view.line(name)
    if line is not None:
        digest: str | None = line.digest
    elif view.knows(name):
        # It is new in a commit that was aborted, or held at one from before its time.
        raise Problem("unavailable", "The commit for this node does not know it.", {"Retry-After": "60"})
    else:
        digest = await _find_walk_in_digest(service, name, offer.commit)
    if digest is None:
        raise _explain_nothing(service, name)
    hold = offer.hold
    hold_record = None
    if hold is not None:
        hold_record = {"name": hold.name, "reason": hold.reason, "until": hold.until.isoformat()}
    date = datetime.fromtimestamp(service.clock(), UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    again = _is_forgiven(service, name, offer.commit)
    return Target(name, offer.commit, digest, view.sequence, date, offer.back, again, hold_record)


def _is_forgiven(service: Service, name: str, commit: str) -> bool:
    """Return whether a node has failed at a commit, and its release was resumed since."""
    known = service.controller.registry.nodes.get(name)
    if known is None or known.failed_commit != commit or known.failed_at is None:
        return False
    rollouts = (one.progress for one in service.view.rollouts if one.progress.commit == commit)
    return any(known.failed_at < progress.forgiven for progress in rollouts)


def _explain_nothing(service: Service, name: str) -> Problem:
    """Return the problem of a node that is not described and gets nothing."""
    known = service.controller.registry.nodes.get(name)
    if known is not None and known.commit is not None:
        return Problem("gone")
    if name in service.view.keys:
        return Problem("pending", "git has a key of this node, and does not describe it.")
    if service.view.outline.walk_in is not None:
        return Problem("unavailable", "The commit for this node lets nobody walk in.", {"Retry-After": "60"})
    return Problem("not-found")


async def _find_walk_in_digest(service: Service, name: str, commit: str) -> str | None:
    """Return the digest of a walk-in node; None if it gets nothing."""
    outline = service.view.outlines.get(commit)
    if outline is None or outline.walk_in is None:
        return None
    key = (outline.tree, name)
    if key not in service.walk_ins:
        found = await service.packages.run(lambda fleets: fleets.digest(commit, name))
        if found is None:
            return None
        service.walk_ins[key] = found
        while len(service.walk_ins) > _MOST:
            service.walk_ins.popitem(last=False)
    return service.walk_ins[key]
