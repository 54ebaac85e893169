"""What is told of nodes, by the name of its column."""

from collections.abc import Callable, Mapping
from typing import Any

from gitcfg.inventory.places import Place


def _seen(name: str) -> Callable[[Place], Any]:
    return lambda place: getattr(place.seen, name, None)


COLUMNS: Mapping[str, Callable[[Place], Any]] = {
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


def value(place: Place, column: str) -> Any:
    """What a column says of a node; None: nothing."""
    return COLUMNS[column](place)
