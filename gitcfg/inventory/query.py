"""Select nodes by conditions on what they have reported, too: `age(node.checkin) > duration("2h")`."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from gitcfg.cel import NODE_VARIABLES, CelProblem, CelStopped, compile_condition
from gitcfg.check.base import sentence
from gitcfg.compile.nodes import define_node
from gitcfg.compile.selection import NodeView
from gitcfg.inventory.nodes import InventoryNode
from gitcfg.inventory.records import get_value
from gitcfg.library import Fleet
from gitcfg.model import GitcfgError

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
