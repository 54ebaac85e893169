"""The status of nodes: their last reports, kept in memory, combined with their definitions in git."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from gitcfg.inventory.nodes import StatusFacts, find_status
from gitcfg.load.keys import fingerprint
from gitcfg.rollout import Presence, compute_patience
from gitcfg.server.view import View
from gitcfg.state.records import Checkin, NodeState, Result

_OVERLAP = 5.0  # check-ins of other servers may be written a little after their time


class LastCheckin(msgspec.Struct, frozen=True, gc=False):
    """The last report of a node."""

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
        """Whether the node's configuration is unknown because even the rollback failed."""
        return self.outcome == "failed"

    def away(self, now: float) -> bool:
        """Return whether the node has been silent for longer than its limit."""
        return not self.agentless and now - self.last > compute_patience(self.interval)


class NodeRegistry:
    """All nodes in memory, by name, with their reports to any server; `forgotten` counts deletions."""

    def __init__(self) -> None:
        self.nodes: dict[str, LastCheckin] = {}
        self.forgotten = 0
        self._until = 0.0

    @property
    def unread(self) -> float:
        """The time after which the database may have unread check-ins."""
        return max(0.0, self._until - _OVERLAP)

    def read(self, states: Iterable[NodeState]) -> None:
        """Add states from the database."""
        for state in states:
            self._until = max(self._until, state.last)
            known = self.nodes.get(state.node)
            if known is None or known.last <= state.last:
                self.nodes[state.node] = _to_last_checkin(state)

    def update(self, checkin: Checkin) -> bool:
        """Add a check-in; return whether it differs from the one before."""
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
        """Add a node that came for the first time, and has reported nothing yet."""
        known = self.nodes.get(name)
        if known is None:
            self.nodes[name] = LastCheckin(key, now, now, None, None, None, None, None, 0)
        elif not known.key:  # it was deployed to before
            self.nodes[name] = replace(known, key=key)

    def observe(self, name: str, commit: str, digest: str | None) -> Presence | None:
        """Return the presence of a node for a release that gives it a digest."""
        known = self.nodes.get(name)
        if known is None:
            return None
        same = known.commit == commit or (digest is not None and known.digest == digest)
        runs = same and not known.stuck
        failed = known.failed_at if known.failed_commit == commit else None
        return Presence(
            known.last, known.present, runs, failed, compute_patience(known.interval), not known.agentless
        )

    def forget(self, names: Iterable[str]) -> None:
        """Delete nodes."""
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


# The status of each node.

_CHECKIN_FIELDS = (
    *("first", "last", "present", "running", "result", "failed", "drift"),
    *("version", "clock_offset", "interval", "address", "via", "deployed", "key"),
)


def collect_facts(view: View, name: str, last: LastCheckin | None, now: float) -> StatusFacts:
    """Collect the facts that decide a node's status."""
    known, described = view.knows(name), view.outline.nodes.get(name)
    git = StatusFacts(
        known or view.outline.walk_in is not None,
        accepted=name in view.keys or not known,
        retired=described is not None and described.retired,
        held=view.offer(name).hold is not None,
    )
    if last is None:
        return git
    return replace(
        git,
        # A node without an agent has no key, so there is nothing to accept.
        accepted=git.accepted or (last.agentless and not last.key),
        came=True,
        runs=last.commit is not None,
        behind=_is_behind(view, name, last),
        outcome=last.outcome if _is_current_failure(view, name, last.failed_commit) else None,
        away=last.away(now),
        drifted=last.drifts > 0,
    )


def _is_behind(view: View, name: str, last: LastCheckin) -> bool:
    """Return whether a node's configuration differs from the wanted one, or is unknown."""
    if last.stuck:
        return True
    if last.commit == view.offer(name).commit:
        return False
    line = view.line(name)
    return line is None or last.digest != line.digest


def _is_current_failure(view: View, name: str, failed: str | None) -> bool:
    """Return whether the commit that a node failed at is still wanted; otherwise the failure is over."""
    current = view.offer(name).commit
    if failed is None or failed == current:
        return failed is not None
    old, new = view.outlines.get(failed), view.outlines.get(current)
    if old is None or new is None:
        return False
    before, after = old.nodes.get(name), new.nodes.get(name)
    if before is None or after is None:  # a walk-in node has no line
        return old.tree == new.tree
    return before.digest == after.digest


def list_names(view: View, registry: dict[str, LastCheckin]) -> Iterator[str]:
    """Yield all nodes that git or this server knows, in order of name."""
    yield from sorted(view.outline.nodes.keys() | registry.keys())


def node_record(
    view: View, name: str, last: LastCheckin | None, state: NodeState | None, now: float
) -> dict[str, Any]:
    """Return a node of `gitcfg.nodes/1`."""
    described, line, offer = view.outline.nodes.get(name), view.line(name), view.offer(name)
    record: dict[str, Any] = {
        "node": name,
        "state": find_status(collect_facts(view, name, last, now)).value,
        "away": last is not None and last.away(now),
        "retired": described is not None and described.retired,
        "groups": described.groups if described is not None else (),
        "wanted": {"commit": offer.commit, "digest": line.digest} if line is not None else None,
        "hold": offer.hold.name if offer.hold is not None else None,
    }
    record["other"] = other_record(state, view.keys.get(name))
    record["claims"] = claim_records(state, view.keys.get(name))
    return record | (_checkin_fields(state) if state is not None else dict.fromkeys(_CHECKIN_FIELDS))


def other_record(state: NodeState | None, known: str | None) -> dict[str, Any] | None:
    """Return the key that a node used last, if git has another one."""
    other = state.other if state is not None else None
    if other is None or known is None or other.key == known:
        return None
    return {
        "text": other.key,
        "fingerprint": fingerprint(other.key),
        "at": other.at,
        "address": other.address,
    }


def claim_records(state: NodeState | None, known: str | None) -> list[dict[str, Any]]:
    """Return the keys that a node presented and that git does not have, oldest first."""
    return [
        {
            "text": one.key,
            "fingerprint": fingerprint(one.key),
            "first": one.first,
            "at": one.at,
            "address": one.address,
        }
        for one in (state.claims if state is not None else ())
        if one.key != known
    ]


def _checkin_fields(state: NodeState) -> dict[str, Any]:
    """Return the fields of a node that has reported."""
    return {
        "first": state.first,
        "last": state.last,
        "present": state.present,
        "running": {"commit": state.commit, "digest": state.digest, "since": state.since},
        "result": result_record(state.result) if state.result is not None else None,
        "failed": state.failed_commit,
        "drift": [entry.get("path") for entry in state.drift],
        "version": state.version,
        "clock_offset": state.clock_offset,
        "interval": state.interval,
        "address": state.address,
        "via": state.via,
        "deployed": state.deployed,
        "key": {"text": state.key, "fingerprint": fingerprint(state.key)} if state.key else None,
    }


def result_record(result: Result) -> dict[str, Any]:
    """Return the result of an installation."""
    found: dict[str, Any] = msgspec.to_builtins(result)
    return found
