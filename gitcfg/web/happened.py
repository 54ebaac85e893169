"""Recent events; those of one type that follow each other are grouped."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec

from gitcfg.model.nodeset import fold

if TYPE_CHECKING:
    from gitcfg.state import Event

_GROUPED_BY = ("commit", "outcome", "what", "status", "stage", "by")


class EventGroup(msgspec.Struct, frozen=True):
    """Events that are alike: the time and data of the last, and all their nodes, folded."""

    at: float
    kind: str
    nodes: str
    count: int
    data: Mapping[str, Any]


def group_events(events: "Iterable[Event]", most: int) -> tuple[EventGroup, ...]:
    """Group events that follow each other and are alike; return the newest groups first, at most `most`."""
    together = [list(alike) for _, alike in groupby(events, key=_key)]
    return tuple(_merge_events(alike) for alike in reversed(together[-most:]))


def _key(event: "Event") -> tuple[object, ...]:
    data = event.data
    return event.kind, *(str(data.get(name)) for name in _GROUPED_BY), bool(data.get("drifts"))


def _merge_events(alike: "list[Event]") -> EventGroup:
    last, nodes = alike[-1], {event.node for event in alike if event.node}
    return EventGroup(last.at, last.kind, fold(nodes), len(nodes), last.data)
