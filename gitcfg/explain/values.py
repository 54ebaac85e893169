"""The values of a parameter, with their nodes and sources: equal ones are one entry."""

from collections.abc import Collection, Hashable, Iterable
from typing import Any

import msgspec

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.node_class import NodeClass
from gitcfg.compile.operations import NOTHING, TrailStep
from gitcfg.explain.trail import Record, nodes_record, origin_record, sources_record
from gitcfg.model import GitcfgError
from gitcfg.model.names import did_you_mean, shown
from gitcfg.nodeset import abridged


class NodesWithValue(msgspec.Struct, frozen=True):
    """A value with its nodes, in order of name, and the steps that have an effect on it, lowest first.

    A bare parameter is None; an unbound one has no steps. The last step is the same on all nodes; `trails` is
    the number of different trails that lead to it, and `steps` are those of the first node. For decisions
    about rules, which are on a separate line for each node, they are also those of the first node.
    """

    value: Any
    steps: tuple[TrailStep, ...]
    nodes: tuple[str, ...]
    trails: int = 1

    @property
    def step(self) -> TrailStep | None:
        """The step that decides the value; None if the parameter is not bound."""
        return self.steps[-1] if self.steps else None

    @property
    def bound(self) -> bool:
        """Whether the parameter is bound, with or without a value."""
        return bool(self.steps)


def find_values(
    fleet: Fleet, param: str, chosen: Collection[str] | None = None
) -> tuple[NodesWithValue, ...]:
    """Return the values on the chosen nodes, by default all: most nodes first, unbound last.

    Raise GitcfgError if nothing declares or binds the parameter.
    """
    require_parameter(fleet, param)
    found: dict[Any, list[NodesWithValue]] = {}
    for kind in fleet.classes:
        nodes = tuple(kind.names if chosen is None else (name for name in kind.names if name in chosen))
        if nodes:
            value, steps = find_counting_steps(kind, param)
            place = _place_key(steps[-1]) if steps else None
            found.setdefault((_value_key(value), place), []).append(NodesWithValue(value, steps, nodes))
    return tuple(sorted(map(_merge, found.values()), key=_order))


def _merge(alike: list[NodesWithValue]) -> NodesWithValue:
    """Return the nodes of several classes that have the same value from the same place as one entry."""
    first = min(alike, key=lambda one: one.nodes[0])
    nodes = tuple(sorted(name for one in alike for name in one.nodes))
    trails = {tuple(map(_place_key, one.steps)) for one in alike}
    return msgspec.structs.replace(first, nodes=nodes, trails=len(trails))


def find_counting_steps(kind: NodeClass, param: str) -> tuple[Any, tuple[TrailStep, ...]]:
    """Return a parameter's value on a class's nodes with the steps that affect it; no steps if unbound."""
    value = find_value(kind, param)
    if value is NOTHING:
        return None, ()
    return value, tuple(step for step in kind.trail(param) if not step.overridden)


def find_value(kind: NodeClass, param: str) -> Any:
    """Return a parameter's value on a class's nodes, NOTHING if unbound, without computing the others."""
    cell = kind.stack.cells.get(param)
    return NOTHING if cell is None else kind.value(param, cell)


def _value_key(value: Any) -> bytes:
    """Return a key that is equal for values that render alike as JSON."""
    return msgspec.json.encode(value, order="deterministic")


def _place_key(step: TrailStep) -> Hashable:
    """Return a key that is equal for steps at the same place that collect from the same nodes.

    For decisions about a rule the same file is enough.
    """
    own = any(decision.origin == step.origin for decision in step.decided)
    asked = tuple((decision.rule, decision.name) for decision in step.decided)
    return step.origin.file if own else step.origin, step.path, asked, step.nodes


def _order(held: NodesWithValue) -> tuple[Any, ...]:
    place = (held.step.origin, held.step.path) if held.step else ()
    return not held.bound, -len(held.nodes), _value_key(held.value), place


def require_parameter(fleet: Fleet, param: str) -> None:
    """Raise GitcfgError if nothing declares or binds the parameter, or if it is a family."""
    declared = fleet.declarations.find(param)
    family = declared is not None and declared.pattern and declared.name == param
    if not family and (declared is not None or any(param in kind.stack.cells for kind in fleet.classes)):
        return
    everything = frozenset(name for name, _ in fleet.model.bindings())
    everything = everything.union(*(kind.stack.cells for kind in fleet.classes))
    if not family and param in everything:
        return
    bound = set(filter(str.isprintable, everything))
    if not family:
        hint = did_you_mean(param, fleet.model.parameters.keys() | bound)
        raise GitcfgError(f"There is no parameter {shown(param)}.", hint)
    members = [name for name in bound if "${" not in name and fleet.declarations.find(name) is declared]
    hint = f"Name one of them: {abridged(members)}." if members else "No node binds any of them."
    raise GitcfgError(f"{param} is a family of parameters.", hint)


def values_record(
    commit: str | None, param: str, held: Iterable[NodesWithValue], folded: bool = False
) -> Record:
    """Return `gitcfg.values/1`."""
    return {
        "schema": "gitcfg.values/1",
        "commit": commit,
        "param": param,
        "values": [_value_record(one, folded) for one in held],
    }


def _value_record(held: NodesWithValue, folded: bool) -> Record:
    step = held.step
    return {
        "bound": held.bound,
        "value": held.value,
        "op": str(step.op.value) if step else None,
        "path": list(step.path) if step else [],
        "origin": origin_record(step.origin) if step else None,
        "steps": len(held.steps),
        "first": _layer_record(held.steps[0]) if step else None,
        "last": _layer_record(step) if step else None,
        **({"trails": held.trails} if held.trails > 1 else {}),
        **(sources_record(step) if step else {}),
        **nodes_record(held.nodes, folded),
    }


def _layer_record(step: TrailStep) -> Record:
    return {"op": str(step.op.value), "path": list(step.path), "origin": origin_record(step.origin)}
