"""What is known of nodes by the names of columns, and the inventory as JSON."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from gitcfg.inventory.nodes import InventoryNode
from gitcfg.load.keys import fingerprint
from gitcfg.state.records import Claim, NodeState, OtherKey, Result

TIMES = ("since", "checkin", "first", "deployed")
"""The columns that are times."""


def _seen(name: str) -> Callable[[InventoryNode], Any]:
    return lambda place: getattr(place.seen, name, None)


def _via(seen: "NodeState | None") -> str | None:
    """Return by which way what a node runs is known."""
    if seen is None:
        return None
    return "agent" if seen.via is None else "deploy"


COLUMNS: Mapping[str, Callable[[InventoryNode], Any]] = {
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
"""The columns of the inventory by name. Times are seconds since the epoch."""


def get_value(place: InventoryNode, column: str) -> Any:
    """Return the value of a column for a node; None: there is none."""
    return COLUMNS[column](place)


def inventory_to_json(tip: str | None, now: float, places: Iterable[InventoryNode]) -> dict[str, Any]:
    """Return `gitcfg.inventory/1`. Times are seconds since the epoch; `age` counts from the last check-in."""
    return {
        "schema": "gitcfg.inventory/1",
        "tip": tip,
        "time": now,
        "nodes": [_node(one, now) for one in places],
    }


def _node(place: InventoryNode, now: float) -> dict[str, Any]:
    record = {name: get_value(place, name) for name in COLUMNS}
    record["key"] = fingerprint(record["key"]) if record["key"] else None
    record["age"] = None if record["checkin"] is None else max(0.0, now - record["checkin"])
    return record


class _Running(msgspec.Struct, frozen=True):
    commit: str | None = None
    digest: str | None = None
    since: float | None = None


class _Key(msgspec.Struct, frozen=True):
    text: str


class _Other(msgspec.Struct, frozen=True):
    text: str
    at: float
    address: str


class _Claim(msgspec.Struct, frozen=True):
    text: str
    first: float
    at: float
    address: str


class _Node(msgspec.Struct, frozen=True):
    """A node of `gitcfg.nodes/1`. What git says of it is not read: the repository that is here says it."""

    node: str
    first: float | None
    last: float | None
    present: float | None
    running: _Running | None
    result: Result | None
    failed: str | None
    drift: tuple[str, ...] | None
    version: str | None
    clock_offset: float | None
    interval: float | None
    address: str | None
    key: _Key | None
    facts: dict[str, Any] | None = None
    other: _Other | None = None
    via: str | None = None
    deployed: float | None = None
    claims: tuple[_Claim, ...] = ()


class _Nodes(msgspec.Struct, frozen=True):
    nodes: tuple[_Node, ...]


def parse_node_states(record: Mapping[str, Any]) -> list[NodeState]:
    """Return the nodes that came, in order of name. Raise ValueError if it is no such record."""
    try:
        found = msgspec.convert(record, _Nodes, strict=True)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None
    return [_state(one) for one in found.nodes if one.last is not None]


def _state(one: _Node) -> NodeState:
    running, last = one.running or _Running(), one.last or 0.0
    return NodeState(
        one.node,
        one.first or last,
        last,
        one.present or last,
        one.key.text if one.key is not None else "",
        running.commit,
        running.digest,
        running.since,
        one.result,
        one.failed,
        drift=tuple({"path": path} for path in one.drift or ()),
        facts=one.facts or {},
        version=one.version or "",
        clock_offset=one.clock_offset or 0.0,
        interval=one.interval or 0.0,
        address=one.address or "",
        other=OtherKey(one.other.text, one.other.at, one.other.address) if one.other is not None else None,
        via=one.via,
        deployed=one.deployed,
        claims=tuple(Claim(each.text, each.first, each.at, each.address) for each in one.claims),
    )
