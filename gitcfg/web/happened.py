"""What has happened lately: events of one kind that came one after the other are told as one."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec

from gitcfg.model.nodeset import fold

if TYPE_CHECKING:
    from gitcfg.state import Event

_ALIKE = ("commit", "outcome", "what", "status", "stage", "by")


class Happening(msgspec.Struct, frozen=True):
    """Events that are alike: when the last of them was and what it says, and all their nodes, folded."""

    at: float
    kind: str
    nodes: str
    count: int
    data: Mapping[str, Any]


def happened(events: "Iterable[Event]", most: int) -> tuple[Happening, ...]:
    """The newest first, at most so many."""
    together = [list(alike) for _, alike in groupby(events, key=_key)]
    return tuple(_told(alike) for alike in reversed(together[-most:]))


def _key(event: "Event") -> tuple[object, ...]:
    data = event.data
    return event.kind, *(str(data.get(name)) for name in _ALIKE), bool(data.get("drifts"))


def _told(alike: "list[Event]") -> Happening:
    last, nodes = alike[-1], {event.node for event in alike if event.node}
    return Happening(last.at, last.kind, fold(nodes), len(nodes), last.data)
