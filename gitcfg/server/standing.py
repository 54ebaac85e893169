"""How each node stands: what git says of it, beside what it has said itself."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

import msgspec

from gitcfg.load.keys import fingerprint
from gitcfg.rollout.outcomes import AWAY
from gitcfg.server.roll import Last
from gitcfg.server.view import View
from gitcfg.state import NodeState, Result


class Standing(StrEnum):
    """Where a node stands."""

    CURRENT = "current"
    BEHIND = "behind"
    FAILED = "failed"
    NEVER = "never"
    PENDING = "pending"
    GONE = "gone"


def standing(view: View, name: str, last: Last | None) -> Standing:
    """Where a node stands that is known to git or has come."""
    line = view.line(name)
    if last is None or last.commit is None:
        return (
            Standing.NEVER if view.knows(name) and (last is None or name in view.keys) else Standing.PENDING
        )
    if line is None and view.outline.walk_in is None:
        return Standing.BEHIND if view.knows(name) else Standing.GONE
    wanted = view.offer(name).commit
    if last.commit == wanted or (line is not None and last.digest == line.digest):
        return Standing.CURRENT
    return Standing.FAILED if last.failed_commit == wanted else Standing.BEHIND


def names(view: View, roll: dict[str, Last]) -> Iterator[str]:
    """Every node that git knows or that came, in order of name."""
    yield from sorted(view.outline.nodes.keys() | roll.keys())


def node_record(
    view: View, name: str, last: Last | None, state: NodeState | None, now: float
) -> dict[str, Any]:
    """A node of `gitcfg.inventory/1`."""
    described, line, offer = view.outline.nodes.get(name), view.line(name), view.offer(name)
    record: dict[str, Any] = {
        "node": name,
        "standing": standing(view, name, last),
        "away": last is not None and now - last.last > AWAY,
        "retired": described is not None and described.retired,
        "groups": described.groups if described is not None else (),
        "wanted": {"commit": offer.commit, "digest": line.digest} if line is not None else None,
        "hold": offer.hold.name if offer.hold is not None else None,
    }
    return record | (_came(state) if state is not None else dict.fromkeys(_CAME))


_CAME = (
    *("first", "last", "present", "running", "result", "drift"),
    *("version", "clock_offset", "interval", "address", "key"),
)


def _came(state: NodeState) -> dict[str, Any]:
    """What is known of a node because it came."""
    return {
        "first": state.first,
        "last": state.last,
        "present": state.present,
        "running": {"commit": state.commit, "digest": state.digest, "since": state.since},
        "result": result_record(state.result) if state.result is not None else None,
        "drift": [said.get("path") for said in state.drift],
        "version": state.version,
        "clock_offset": state.clock_offset,
        "interval": state.interval,
        "address": state.address,
        "key": {"text": state.key, "fingerprint": fingerprint(state.key)},
    }


def result_record(result: Result) -> dict[str, Any]:
    """How an installation went."""
    found: dict[str, Any] = msgspec.to_builtins(result)
    return found
