"""The one word that says how a node stands, on the command line as on the server."""

from enum import StrEnum

import msgspec


class Standing(StrEnum):
    """Where a node stands; of several that are true, the first in this order.

    Gone: it came once, and git describes it no more. Pending: it came, and git has no key of it. Failed,
    refused and reverted are about the last installation, if it was of what it is to run by now; after the
    latter two it runs something else, or all is well. What it failed at before that is over.
    Away: it was silent for longer than its patience; who has no agent never is. Behind: it runs something
    else, for whatever reason, or nobody knows what, since even the way back failed.
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


COURSE = (
    *(Standing.GONE, Standing.PENDING, Standing.NEVER),
    *(Standing.FAILED, Standing.REFUSED, Standing.REVERTED, Standing.BEHIND, Standing.OK),
)
"""How a node stands towards the commit that it is to run; the other words can be true besides."""


class Stands(msgspec.Struct, frozen=True):
    """What decides. `runs`: it has said to run a commit; `behind`: it is to run something else.

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


def standing(node: Stands) -> Standing:
    """The one word for a node."""
    found = course(node)
    if found in (Standing.GONE, Standing.PENDING):
        return found
    if node.retired:
        return Standing.RETIRED
    if found not in (Standing.BEHIND, Standing.OK):
        return found
    besides = ((Standing.AWAY, node.away), (Standing.DRIFTED, node.drifted), (Standing.HELD, node.held))
    return next((word for word, holds in besides if holds), found)


def course(node: Stands) -> Standing:
    """How it stands towards the commit that it is to run, one of COURSE."""
    if not node.described:
        return Standing.GONE if node.runs else Standing.PENDING
    if not node.came:
        return Standing.NEVER
    if not node.accepted:
        return Standing.PENDING
    if node.outcome == Standing.FAILED:
        return (
            Standing.FAILED
        )  # the record says that the same is in force, and its daemons may have other files
    if not node.behind:
        return Standing.OK
    return _FAILED.get(node.outcome or "", Standing.BEHIND)


_FAILED = {word.value: word for word in (Standing.FAILED, Standing.REFUSED, Standing.REVERTED)}
