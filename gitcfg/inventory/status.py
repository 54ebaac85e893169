"""The status of a node: one word, on the command line as on the server."""

from enum import StrEnum

import msgspec


class NodeStatus(StrEnum):
    """The status of a node; of several that are true, the first in this order.

    Gone: it came once, and git describes it no more. Pending: it came, and git has no key of it. Failed,
    refused and reverted are about the last installation, if it was of what it is to run by now; after the
    latter two it runs something else, or all is well. What it failed at before that is over.
    Away: it was silent for longer than its patience; a node without an agent never is. Behind: it runs
    something else, for whatever reason, or what it runs is unknown, as even the rollback failed.
    """

    GONE = "gone"
    PENDING = "pending"
    RETIRED = "retired"
    NEVER = "never"
    FAILED = "failed"
    REFUSED = "refused"
    REVERTED = "reverted"
    AWAY = "away"
    DRIFTED = "drifted"
    HELD = "held"
    BEHIND = "behind"
    OK = "ok"


COMMIT_STATUSES = (
    *(NodeStatus.GONE, NodeStatus.PENDING, NodeStatus.NEVER),
    *(NodeStatus.FAILED, NodeStatus.REFUSED, NodeStatus.REVERTED, NodeStatus.BEHIND, NodeStatus.OK),
)
"""The statuses of a node towards the commit that it is to run; the others can be true besides."""


class StatusFacts(msgspec.Struct, frozen=True):
    """What decides a status. `runs`: it has reported a commit; `behind`: it is to run something else.

    `outcome` is that of its last installation; None also where that was not of what it is to run by now.
    """

    described: bool
    accepted: bool = False
    retired: bool = False
    held: bool = False
    came: bool = False
    runs: bool = False
    behind: bool = False
    outcome: str | None = None
    away: bool = False
    drifted: bool = False


def find_status(node: StatusFacts) -> NodeStatus:
    """Return the status of a node."""
    found = find_commit_status(node)
    if found in (NodeStatus.GONE, NodeStatus.PENDING):
        return found
    if node.retired:
        return NodeStatus.RETIRED
    if found not in (NodeStatus.BEHIND, NodeStatus.OK):
        return found
    besides = ((NodeStatus.AWAY, node.away), (NodeStatus.DRIFTED, node.drifted), (NodeStatus.HELD, node.held))
    return next((word for word, holds in besides if holds), found)


def find_commit_status(node: StatusFacts) -> NodeStatus:
    """Return its status towards the commit that it is to run, one of COMMIT_STATUSES."""
    if not node.described:
        return NodeStatus.GONE if node.runs else NodeStatus.PENDING
    if not node.came:
        return NodeStatus.NEVER
    if not node.accepted:
        return NodeStatus.PENDING
    if node.outcome == NodeStatus.FAILED:
        # Also where the record says that the same is in force: its daemons may have other files.
        return NodeStatus.FAILED
    if not node.behind:
        return NodeStatus.OK
    return _FAILED.get(node.outcome or "", NodeStatus.BEHIND)


_FAILED = {word.value: word for word in (NodeStatus.FAILED, NodeStatus.REFUSED, NodeStatus.REVERTED)}
