"""What is told of nodes, by the name of its column."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from gitcfg.inventory.places import Place

if TYPE_CHECKING:  # what git alone says is told without a database's library
    from gitcfg.state import NodeState


def _seen(name: str) -> Callable[[Place], Any]:
    return lambda place: getattr(place.seen, name, None)


def _via(seen: "NodeState | None") -> str | None:
    """By which way what a node runs came to be known."""
    if seen is None:
        return None
    return "agent" if seen.via is None else "deploy"


COLUMNS: Mapping[str, Callable[[Place], Any]] = {
    "name": lambda place: place.name,
    "state": lambda place: place.state.value if place.state is not None else None,
    "commit": _seen("commit"),
    "since": _seen("since"),
    "checkin": lambda place: place.seen.last if place.seen is not None and not place.seen.agentless else None,
    "via": lambda place: _via(place.seen),
    "who": _seen("via"),
    "deployed": _seen("deployed"),
    "groups": lambda place: list(place.git.groups),
    "labels": lambda place: list(place.git.labels),
    "hold": lambda place: place.git.hold,
    "overdue": lambda place: {name: str(day) for name, day in place.git.overdue.items()},
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
TIMES = ("since", "checkin", "first", "deployed")
"""The columns that are times."""


def value(place: Place, column: str) -> Any:
    """What a column says of a node; None: nothing."""
    return COLUMNS[column](place)
