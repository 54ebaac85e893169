"""How each node stands: what git says of it, joined with what it has said itself."""

from collections.abc import Mapping, Set
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:  # what git alone says is told without a database's library
    from gitcfg.state import NodeState


class Standing(StrEnum):
    """Where a node stands; of several that are true, the first in this order.

    Gone: it came once, and git describes it no more. Pending: it came, and git has no key of it. Failed and
    reverted are about the last installation, while it does not run what the tip means. Behind: so it is.
    """

    GONE = "gone"
    PENDING = "pending"
    RETIRED = "retired"
    NEVER = "never"
    FAILED = "failed"
    REVERTED = "reverted"
    DRIFTED = "drifted"
    HELD = "held"
    BEHIND = "behind"
    OK = "ok"


class Described(msgspec.Struct, frozen=True):
    """What git says of a node. `accepted`: it has its key; `hold` is the hold that keeps it at a commit."""

    groups: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    retired: bool = False
    accepted: bool = False
    hold: str | None = None


class Place(msgspec.Struct, frozen=True):
    """A node: what git says, None if it does not know it, and what it said itself, None if it never came.

    `state` is None where nobody has asked a server's database.
    """

    name: str
    described: Described | None
    seen: "NodeState | None"
    state: Standing | None

    @property
    def git(self) -> Described:
        """What git says; of a node that it does not know, nothing."""
        return self.described or Described()


class Tip(msgspec.Struct, frozen=True):
    """The commit that nodes shall run: those that run something else, and the groups of who walks in."""

    behind: Set[str] = frozenset()
    walk_in: tuple[str, ...] | None = None


def joined(
    described: Mapping[str, Described], seen: "Mapping[str, NodeState] | None", tip: Tip
) -> tuple[Place, ...]:
    """All nodes that git describes or that ever came, in order of name; `seen` None: git alone is asked."""
    names = sorted({*described, *(seen or ())})
    return tuple(_place(name, described.get(name), seen, tip) for name in names)


def _place(name: str, described: Described | None, seen: "Mapping[str, NodeState] | None", tip: Tip) -> Place:
    if seen is None:
        return Place(name, described, None, _by_git(described or Described()))
    said = seen.get(name)
    if described is None and tip.walk_in is not None:
        described = Described(groups=tip.walk_in, accepted=True)
    return Place(name, described, said, _standing(described, said, name in tip.behind))


def _by_git(described: Described) -> Standing | None:
    if described.retired:
        return Standing.RETIRED
    return Standing.HELD if described.hold is not None else None


def _standing(described: Described | None, said: "NodeState | None", behind: bool) -> Standing:
    if described is None:
        return Standing.GONE if said is not None and said.commit is not None else Standing.PENDING
    if said is not None and not described.accepted:
        return Standing.PENDING
    if described.retired:
        return Standing.RETIRED
    if said is None:
        return Standing.NEVER
    return _running(described, said, behind)


def _running(described: Described, said: "NodeState", behind: bool) -> Standing:
    if behind and said.result is not None and said.result.failed:
        return Standing.REVERTED if said.result.outcome == "reverted" else Standing.FAILED
    if said.drift:
        return Standing.DRIFTED
    if described.hold is not None:
        return Standing.HELD
    return Standing.BEHIND if behind else Standing.OK


def counted(places: tuple[Place, ...]) -> dict[Standing, int]:
    """How many nodes stand where, in the order of the standings; none that there is nobody in."""
    counts = dict.fromkeys(Standing, 0)
    for place in places:
        if place.state is not None:
            counts[place.state] += 1
    return {state: number for state, number in counts.items() if number}


def value(place: Place, column: str) -> Any:
    """What a column says of a node; None: nothing."""
    return COLUMNS[column](place)


def _seen(name: str) -> Any:
    return lambda place: getattr(place.seen, name, None)


COLUMNS: Mapping[str, Any] = {
    "name": lambda place: place.name,
    "state": lambda place: place.state.value if place.state is not None else None,
    "commit": _seen("commit"),
    "since": _seen("since"),
    "checkin": _seen("last"),
    "groups": lambda place: list(place.git.groups),
    "labels": lambda place: list(place.git.labels),
    "hold": lambda place: place.git.hold,
    "outcome": lambda place: place.seen.result.outcome if place.seen and place.seen.result else None,
    "failed": _seen("failed_commit"),
    "drifted": lambda place: len(place.seen.drift) if place.seen is not None else None,
    "facts": lambda place: dict(place.seen.facts) if place.seen is not None else None,
    "digest": _seen("digest"),
    "first": _seen("first"),
    "version": _seen("version"),
    "address": _seen("address"),
    "interval": _seen("interval"),
    "clock_offset": _seen("clock_offset"),
    "key": _seen("key"),
}
"""What is told of nodes, by the name of its column. Times are seconds since the epoch."""
TIMES = ("since", "checkin", "first")
"""The columns that are times."""
