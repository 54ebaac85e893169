"""Nodes by columns of the inventory: as JSON, and for conditions that select nodes."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from gitcfg.cel import NODE_VARIABLES, CelProblem, CelStopped, compile_condition
from gitcfg.check.findings import sentence
from gitcfg.compile.nodes import define_node
from gitcfg.compile.selection import NodeView
from gitcfg.inventory.nodes import InventoryNode
from gitcfg.library import Fleet
from gitcfg.load.keys import fingerprint
from gitcfg.model import GitcfgError
from gitcfg.state.records import Claim, NodeState, OtherKey, Result

TIMES = ("since", "checkin", "first", "deployed")
"""The columns that are times."""


def _reported(name: str) -> Callable[[InventoryNode], Any]:
    return lambda node: getattr(node.seen, name, None)


def _find_reporter(node: InventoryNode) -> str | None:
    if node.seen is None:
        return None
    return "agent" if node.seen.via is None else "deploy"


COLUMNS: Mapping[str, Callable[[InventoryNode], Any]] = {
    "name": lambda node: node.name,
    "state": lambda node: node.state.value if node.state is not None else None,
    "commit": _reported("commit"),
    "since": _reported("since"),
    "checkin": lambda node: node.seen.last if node.seen is not None and not node.seen.agentless else None,
    "via": _find_reporter,
    "who": _reported("via"),
    "deployed": _reported("deployed"),
    "groups": lambda node: list(node.git.groups),
    "labels": lambda node: list(node.git.labels),
    "hold": lambda node: node.git.hold,
    "overdue": lambda node: {name: str(day) for name, day in node.git.overdue.items()},
    "outcome": lambda node: node.seen.result.outcome if node.seen and node.seen.result else None,
    "failed": _reported("failed_commit"),
    "drifted": lambda node: len(node.seen.drift) if node.seen is not None else None,
    "facts": lambda node: dict(node.seen.facts) if node.seen is not None else None,
    "digest": _reported("digest"),
    "first": _reported("first"),
    "version": _reported("version"),
    "address": _reported("address"),
    "interval": _reported("interval"),
    "clock_offset": _reported("clock_offset"),
    "key": _reported("key"),
}
"""The columns of the inventory by name. Times are seconds since the epoch."""


def get_value(node: InventoryNode, column: str) -> Any:
    """Return the value of a column for a node; None: there is none."""
    return COLUMNS[column](node)


def inventory_to_json(tip: str | None, now: float, nodes: Iterable[InventoryNode]) -> dict[str, Any]:
    """Return `gitcfg.inventory/1`. Times are seconds since the epoch; `age` counts from the last check-in."""
    return {
        "schema": "gitcfg.inventory/1",
        "tip": tip,
        "time": now,
        "nodes": [_node_to_json(node, now) for node in nodes],
    }


def _node_to_json(node: InventoryNode, now: float) -> dict[str, Any]:
    record = {name: get_value(node, name) for name in COLUMNS}
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
    """A node of `gitcfg.nodes/1`. Its definition is not read: it comes from the local repository."""

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
    """Return the nodes that checked in, in order of name. Raise ValueError if the record is invalid."""
    try:
        found = msgspec.convert(record, _Nodes, strict=True)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None
    return [_make_state(one) for one in found.nodes if one.last is not None]


def _make_state(one: _Node) -> NodeState:
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


# Conditions that may also use reports of nodes: `age(node.checkin) > duration("2h")`.

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
"""Variables of conditions for reports of nodes. A node that never checked in was seen in 1970."""
_LAST = datetime(9999, 1, 1, tzinfo=UTC).timestamp()


def select_nodes(
    nodes: tuple[InventoryNode, ...], fleet: Fleet, where: str, now: float | None
) -> tuple[InventoryNode, ...]:
    """Return the nodes for which a condition holds; `now` None: there are no reports of nodes.

    Raise GitcfgError if it cannot be parsed, or fails on a node.
    """
    variables = {**NODE_VARIABLES, **(SEEN_VARIABLES if now is not None else {})}
    try:
        condition = compile_condition(where, variables, None if now is None else _time(now))
        rows = [_make_row(fleet, node, condition.names) for node in nodes]
        holds, problems = condition.holds_each(rows)
    except CelStopped as problem:
        raise GitcfgError(f"--where fails: {problem.message}.", _hint(problem, now)) from None
    except CelProblem as problem:
        raise GitcfgError(f"Cannot parse --where: {problem.message}.", _hint(problem, now)) from None
    for row, failed in problems.items():
        raise GitcfgError(f"--where fails on {nodes[row].name}: {failed.message}.", _hint(failed, now))
    return tuple(node for node, held in zip(nodes, holds, strict=True) if held)


def _make_row(fleet: Fleet, node: InventoryNode, names: Iterable[str]) -> dict[str, Any]:
    described = {name for name in names if name in NODE_VARIABLES}
    row: dict[str, Any] = {}
    if described:
        view = _make_view(fleet, node)
        row = {name: view.ask[name]() for name in described}
    reported = (name for name in names if name not in described)
    return row | {name: _find_reported(node, name.removeprefix("node.")) for name in reported}


def _make_view(fleet: Fleet, node: InventoryNode) -> NodeView:
    name = node.name
    if name not in fleet:
        view = NodeView(name, define_node(None, None), tuple)
        view.ask = {**view.ask, "node.groups": lambda: list(node.git.groups)}
        return view
    return NodeView(
        name,
        fleet.roster.definition(name),
        lambda: fleet.compiled[name].features,
        lambda: fleet.compiled[name].params,
    )


def _find_reported(node: InventoryNode, name: str) -> Any:
    if name == "seen":
        return get_value(node, "facts") or {}
    value = get_value(node, name)
    if name in ("checkin", "since"):
        return _time(value or 0.0)
    return bool(value) if name == "drifted" else value or ""


def _time(seconds: float) -> datetime:
    """Return a time within the range of CEL: a node may report any number."""
    return datetime.fromtimestamp(min(max(seconds, 0.0), _LAST), UTC)


def _hint(problem: CelProblem, now: float | None) -> str:
    if now is None and any(name in problem.message for name in (*SEEN_VARIABLES, "'age'")):
        return "Use `--database URL`: the reports of nodes are in the server's database."
    return sentence(problem.hint)
