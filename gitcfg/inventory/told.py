"""What nodes have said, as a server tells it over HTTP (`gitcfg.nodes/1`)."""

from collections.abc import Mapping
from typing import Any

import msgspec

from gitcfg.state.records import Claim, NodeState, OtherKey, Result


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
    """What git says of a node is not read: the repository that is here says it."""

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


def node_states(record: Mapping[str, Any]) -> list[NodeState]:
    """The nodes that came, in order of name. ValueError: it is no such record."""
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
