"""What is known of nodes by the names of columns: the inventory as JSON, and conditions that select nodes."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from gitcfg.cel import NODE_VARIABLES, CelProblem, CelStopped, compile_condition
from gitcfg.check.base import sentence
from gitcfg.compile.nodes import define_node
from gitcfg.compile.selection import NodeView
from gitcfg.inventory.nodes import InventoryNode
from gitcfg.library import Fleet
from gitcfg.load.keys import fingerprint
from gitcfg.model import GitcfgError
from gitcfg.state.records import Claim, NodeState, OtherKey, Result

TIMES = ("since", "checkin", "first", "deployed")
"""The columns that are times."""


def _seen(name: str) -> Callable[[InventoryNode], Any]:
    return lambda place: getattr(place.seen, name, None)


def _via(seen: NodeState | None) -> str | None:
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


# Conditions on what nodes have reported, too: `age(node.checkin) > duration("2h")`.

SEEN_VARIABLES: Mapping[str, str] = {
    "node.state": "string",
    "node.checkin": "timestamp",
    "node.since": "timestamp",
    "node.commit": "string",
    "node.outcome": "string",
    "node.via": "string",
    "node.drifted": "bool",
    "node.version": "string",
    "node.seen": "map",
}
"""What a condition may use besides, of what nodes have reported. One that never came was seen in 1970."""
_LAST = datetime(9999, 1, 1, tzinfo=UTC).timestamp()


def select_nodes(
    places: tuple[InventoryNode, ...], fleet: Fleet, where: str, now: float | None
) -> tuple[InventoryNode, ...]:
    """Return the nodes for which a condition holds; `now` None: what nodes have reported is not known.

    Raise GitcfgError if it cannot be read, or fails on a node.
    """
    variables = {**NODE_VARIABLES, **(SEEN_VARIABLES if now is not None else {})}
    try:
        condition = compile_condition(where, variables, None if now is None else _time(now))
        rows = [_make_row(fleet, place, condition.names) for place in places]
        holds, problems = condition.holds_each(rows)
    except CelStopped as problem:
        raise GitcfgError(f"--where fails: {problem.message}.", _hint(problem, now)) from None
    except CelProblem as problem:
        raise GitcfgError(f"--where cannot be read: {problem.message}.", _hint(problem, now)) from None
    for row, failed in problems.items():
        raise GitcfgError(f"--where fails on {places[row].name}: {failed.message}.", _hint(failed, now))
    return tuple(place for place, held in zip(places, holds, strict=True) if held)


def _make_row(fleet: Fleet, place: InventoryNode, names: Iterable[str]) -> dict[str, Any]:
    described = {name for name in names if name in NODE_VARIABLES}
    view = _view(fleet, place) if described else None
    row = {name: view.ask[name]() for name in described if view is not None}
    return row | {
        name: _find_reported(place, name.removeprefix("node.")) for name in names if name not in described
    }


def _view(fleet: Fleet, place: InventoryNode) -> NodeView:
    name = place.name
    if name not in fleet:
        view = NodeView(name, define_node(None, None), tuple)
        return _with_groups(view, place.git.groups)
    return NodeView(
        name,
        fleet.roster.definition(name),
        lambda: fleet.compiled[name].features,
        lambda: fleet.compiled[name].params,
    )


def _with_groups(view: NodeView, groups: tuple[str, ...]) -> NodeView:
    view.ask = {**view.ask, "node.groups": lambda: list(groups)}
    return view


def _find_reported(place: InventoryNode, name: str) -> Any:
    if name in ("checkin", "since"):
        return _time(get_value(place, name) or 0.0)
    if name == "drifted":
        return bool(get_value(place, name))
    if name == "seen":
        return get_value(place, "facts") or {}
    return get_value(place, name) or ""


def _time(seconds: float) -> datetime:
    """Return a time that CEL can hold: what a node reports may be anything."""
    return datetime.fromtimestamp(min(max(seconds, 0.0), _LAST), UTC)


def _hint(problem: CelProblem, now: float | None) -> str:
    if now is None and any(name in problem.message for name in (*SEEN_VARIABLES, "'age'")):
        return "What nodes have said is in the server's database: --database URL."
    return sentence(problem.hint)
