"""The rows of the table of nodes: the states that they are filtered by, and their sort keys."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec


class Row(msgspec.Struct, frozen=True, gc=False):
    """A node in the table. `status` is one word; the flags are true beside it.

    `deployed`: no agent of it checks in, and what it runs is known by deploys over SSH.
    """

    name: str
    status: str
    groups: tuple[str, ...] = ()
    running: str | None = None
    wanted: str | None = None
    last: float | None = None
    outcome: str | None = None
    drifts: int = 0
    away: bool = False
    retired: bool = False
    hold: str | None = None
    deployed: bool = False

    def has(self, state: str) -> bool:
        """Return whether the node is in a state: a status, or drifted, away, retired, held, deployed."""
        if self.status == state:
            return True
        holds = NODE_FLAGS.get(state)
        return holds is not None and holds(self)


NODE_FLAGS: Mapping[str, Callable[[Row], bool]] = {
    "drifted": lambda row: row.drifts > 0,
    "away": lambda row: row.away,
    "held": lambda row: row.hold is not None,
    "retired": lambda row: row.retired,
    "deployed": lambda row: row.deployed,
}
"""Sorts of nodes that go across the statuses."""
_BAD_FIRST = ("failed", "refused", "reverted", "pending", "behind", "gone", "never", "ok")
_RANK = {name: rank for rank, name in enumerate(_BAD_FIRST)}
SORTS: Mapping[str, Callable[[Row], Any]] = {
    "name": lambda row: row.name,
    "state": lambda row: _RANK.get(row.status, len(_RANK)),
    "commit": lambda row: row.running or "",
    "result": lambda row: row.outcome or "",
    "checkin": lambda row: -(row.last or 0.0),
}
"""What the table can be sorted by. Check-ins: the latest first."""
