"""What all nodes have said last, in memory: what releases, inventory and metrics go by."""

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from gitcfg.rollout import Seen, patience
from gitcfg.state import Checkin, NodeState

_OVERLAP = 5.0  # check-ins of other servers may be written a little after their time


class Last(msgspec.Struct, frozen=True, gc=False):
    """What a node has said last."""

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
        """Does nobody know what it runs, since even the way back failed?"""
        return self.outcome == "failed"

    def away(self, now: float) -> bool:
        """Has it been silent for longer than it should be?"""
        return not self.agentless and now - self.last > patience(self.interval)


class Roll:
    """By name. The database is read for what other servers have been told; `forgotten` counts who was."""

    def __init__(self) -> None:
        self.nodes: dict[str, Last] = {}
        self.forgotten = 0
        self._until = 0.0

    @property
    def unread(self) -> float:
        """What came since then may be new."""
        return max(0.0, self._until - _OVERLAP)

    def read(self, states: Iterable[NodeState]) -> None:
        """Take in what the database says."""
        for state in states:
            self._until = max(self._until, state.last)
            known = self.nodes.get(state.node)
            if known is None or known.last <= state.last:
                self.nodes[state.node] = _last(state)

    def told(self, said: Checkin) -> bool:
        """Take in a check-in; does it say anything else than the one before?"""
        known = self.nodes.get(said.node)
        back = known is None or known.away(said.at)
        failed = said.result is not None and said.result.failed
        result = said.result
        new = Last(
            said.key,
            said.at,
            said.at if known is None or back else known.present,
            said.commit,
            said.digest,
            result.outcome if result is not None else known.outcome if known else None,
            result.commit if result is not None and failed else known.failed_commit if known else None,
            result.at if result is not None and failed else known.failed_at if known else None,
            len(said.drift),
            said.interval,
        )
        self.nodes[said.node] = new
        return known is None or back or failed or _what(known) != _what(new)

    def claimed(self, name: str, key: str, now: float) -> None:
        """Take in a node that has come for the first time, and has said nothing yet."""
        known = self.nodes.get(name)
        if known is None:
            self.nodes[name] = Last(key, now, now, None, None, None, None, None, 0)
        elif not known.key:  # it was deployed to before
            self.nodes[name] = replace(known, key=key)

    def seen(self, name: str, commit: str, digest: str | None) -> Seen | None:
        """A node as a release sees it that brings it a digest."""
        known = self.nodes.get(name)
        if known is None:
            return None
        same = known.commit == commit or (digest is not None and known.digest == digest)
        runs = same and not known.stuck
        failed = known.failed_at if known.failed_commit == commit else None
        return Seen(known.last, known.present, runs, failed, patience(known.interval), not known.agentless)

    def forget(self, names: Iterable[str]) -> None:
        """Know nothing of nodes any more."""
        for name in names:
            self.forgotten += self.nodes.pop(name, None) is not None


def _what(known: Last) -> tuple[object, ...]:
    return known.commit, known.digest, known.outcome, known.drifts, known.key, known.agentless


def _last(state: NodeState) -> Last:
    return Last(
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
