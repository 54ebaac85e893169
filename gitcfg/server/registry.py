"""What all nodes have reported last, in memory: for releases, inventory and metrics."""

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from gitcfg.rollout.outcomes import Seen, compute_patience
from gitcfg.state.records import Checkin, NodeState

_OVERLAP = 5.0  # check-ins of other servers may be written a little after their time


class LastCheckin(msgspec.Struct, frozen=True, gc=False):
    """What a node has reported last."""

    key: str
    last: float
    present: float
    commit: str | None
    digest: str | None
    outcome: str | None
    failed_commit: str | None
    failed_at: float | None
    drifts: int
    interval: float = 0.0
    agentless: bool = False

    @property
    def stuck(self) -> bool:
        """Whether it is unknown what it runs, since even the rollback failed."""
        return self.outcome == "failed"

    def away(self, now: float) -> bool:
        """Return whether it has been silent for longer than its patience."""
        return not self.agentless and now - self.last > compute_patience(self.interval)


class NodeRegistry:
    """All nodes in memory, by name, with what they reported to any server; `forgotten` counts deletions."""

    def __init__(self) -> None:
        self.nodes: dict[str, LastCheckin] = {}
        self.forgotten = 0
        self._until = 0.0

    @property
    def unread(self) -> float:
        """The time since when the database may hold unread check-ins."""
        return max(0.0, self._until - _OVERLAP)

    def read(self, states: Iterable[NodeState]) -> None:
        """Take in states from the database."""
        for state in states:
            self._until = max(self._until, state.last)
            known = self.nodes.get(state.node)
            if known is None or known.last <= state.last:
                self.nodes[state.node] = _to_last_checkin(state)

    def update(self, checkin: Checkin) -> bool:
        """Take in a check-in; return whether it says anything else than the one before."""
        known = self.nodes.get(checkin.node)
        back = known is None or known.away(checkin.at)
        failed = checkin.result is not None and checkin.result.failed
        result = checkin.result
        new = LastCheckin(
            checkin.key,
            checkin.at,
            checkin.at if known is None or back else known.present,
            checkin.commit,
            checkin.digest,
            result.outcome if result is not None else known.outcome if known else None,
            result.commit if result is not None and failed else known.failed_commit if known else None,
            result.at if result is not None and failed else known.failed_at if known else None,
            len(checkin.drift),
            checkin.interval,
        )
        self.nodes[checkin.node] = new
        return known is None or back or failed or _news(known) != _news(new)

    def claim(self, name: str, key: str, now: float) -> None:
        """Take in a node that has come for the first time, and has reported nothing yet."""
        known = self.nodes.get(name)
        if known is None:
            self.nodes[name] = LastCheckin(key, now, now, None, None, None, None, None, 0)
        elif not known.key:  # it was deployed to before
            self.nodes[name] = replace(known, key=key)

    def observe(self, name: str, commit: str, digest: str | None) -> Seen | None:
        """Return a node as a release observes it that brings it a digest."""
        known = self.nodes.get(name)
        if known is None:
            return None
        same = known.commit == commit or (digest is not None and known.digest == digest)
        runs = same and not known.stuck
        failed = known.failed_at if known.failed_commit == commit else None
        return Seen(
            known.last, known.present, runs, failed, compute_patience(known.interval), not known.agentless
        )

    def forget(self, names: Iterable[str]) -> None:
        """Delete all that is known of nodes."""
        for name in names:
            self.forgotten += self.nodes.pop(name, None) is not None


def _news(known: LastCheckin) -> tuple[object, ...]:
    return known.commit, known.digest, known.outcome, known.drifts, known.key, known.agentless


def _to_last_checkin(state: NodeState) -> LastCheckin:
    return LastCheckin(
        state.key,
        state.last,
        state.present,
        state.commit,
        state.digest,
        state.result.outcome if state.result is not None else None,
        state.failed_commit,
        state.failed_at,
        len(state.drift),
        state.interval,
        state.agentless,
    )
