"""The status of each node: what git says of it, beside what it has reported."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from gitcfg.inventory.status import StatusFacts, find_status
from gitcfg.load.keys import fingerprint
from gitcfg.server.registry import LastCheckin
from gitcfg.server.view import View
from gitcfg.state.records import NodeState, Result

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
        # Who is only deployed to has no key: there is nothing to accept.
        accepted=git.accepted or (last.agentless and not last.key),
        came=True,
        runs=last.commit is not None,
        behind=_is_behind(view, name, last),
        outcome=last.outcome if _is_current_failure(view, name, last.failed_commit) else None,
        away=last.away(now),
        drifted=last.drifts > 0,
    )


def _is_behind(view: View, name: str, last: LastCheckin) -> bool:
    """Return whether a node runs something else than it is to run, or something unknown."""
    if last.stuck:
        return True
    if last.commit == view.offer(name).commit:
        return False
    line = view.line(name)
    return line is None or last.digest != line.digest


def _is_current_failure(view: View, name: str, failed: str | None) -> bool:
    """Return whether the commit that a node failed at is what it is to run; else the failure is over."""
    current = view.offer(name).commit
    if failed is None or failed == current:
        return failed is not None
    old, new = view.outlines.get(failed), view.outlines.get(current)
    if old is None or new is None:
        return False
    before, after = old.nodes.get(name), new.nodes.get(name)
    if before is None or after is None:  # who walks in has no line
        return old.tree == new.tree
    return before.digest == after.digest


def list_names(view: View, registry: dict[str, LastCheckin]) -> Iterator[str]:
    """List all nodes that git knows or that came, in order of name."""
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
    """Return the key that a node came with last, if git has another one."""
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
    """Return the keys under which a node was requested and that git does not have, oldest first."""
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
    """Return the fields of a node that has come."""
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
    """Return how an installation went."""
    found: dict[str, Any] = msgspec.to_builtins(result)
    return found
