"""One node's features, parameters and trails: every operation one after another."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.reference.layers import layers, said
from tests.reference.operations import IMPLIED, Unbound, apply, operation, resets
from tests.reference.repository import Document, Repository
from tests.reference.values import Misfit
from tests.reference.yaml12 import Raw


class Step(NamedTuple):
    """One step of a trail; `result` is None and `bound` False where the parameter is not bound."""

    op: str
    result: Any
    bound: bool
    path: tuple[str, ...]
    overridden: bool


class Answer(NamedTuple):
    """What a node gets.

    `doubtful` parameters have a binding that does not fit their type, and what comes of it the contract
    does not say; `wrong` are those of them that the files alone show to be so, without a node's facts.
    """

    features: tuple[str, ...]
    params: dict[str, Any]
    trails: dict[str, list[Step]]
    doubtful: frozenset[str]
    wrong: frozenset[str]
    missing_facts: frozenset[str]


Said = tuple[Raw, tuple[str, ...]]


def evaluate(repository: Repository, node: str) -> Answer:
    """Everything about one node."""
    every = list(layers(repository, node))
    facts = said(repository, node).facts
    bindings: dict[str, list[Said]] = {}
    for layer in every:
        for name, raw in layer.params.items():
            bindings.setdefault(name, []).append((_resolved(repository, raw), layer.path))
    declared = {name: _declaration(repository, name) for name in bindings}
    acting = {name: steps[_last_reset(steps, declared[name]) :] for name, steps in bindings.items()}
    values = {name: _trail(steps, declared[name], facts) for name, steps in acting.items()}
    trails = {
        name: _trail(steps, declared[name], facts)
        for name, steps in bindings.items()
        if all(_fits(step, declared[name], facts) for step in steps)
    }
    doubtful = frozenset(name for name, trail in values.items() if trail is None)
    return Answer(
        tuple(sorted({layer.feature for layer in every if layer.feature is not None})),
        {name: trail[-1].result for name, trail in values.items() if trail and trail[-1].bound},
        {name: trail for name, trail in trails.items() if trail},
        doubtful,
        frozenset(name for name in doubtful if not _facts(acting[name])),
        frozenset(name for name, steps in acting.items() if any(key not in facts for key in _facts(steps))),
    )


def _resolved(repository: Repository, raw: Raw) -> Raw:
    """A binding that has, in place of a secret's name, what that stands for on nodes."""
    name, operand = operation(raw)
    if name != "secret":
        return raw
    said = repository.secrets.get(operand)
    value = Unbound.BARE if said is None else {"$secret": operand, "version": said["version"].value}
    return {"$secret": value}


def _declaration(repository: Repository, name: str) -> Document:
    """The declaration; of a parameter without one, the type that all operations on it imply."""
    declared = repository.declared(name)
    if declared is not None:
        return declared
    said = (
        operation(body["params"][name])[0] for body in repository.bodies if name in body.get("params", {})
    )
    implied = {IMPLIED[op] for op in said if op in IMPLIED}
    return {"type": implied.pop()} if len(implied) == 1 else {}


def _trail(steps: list[Said], declared: Document, facts: Document) -> list[Step] | None:
    """Step after step; None: one of them does not fit."""
    try:
        return list(_told(steps, declared, facts))
    except Misfit:
        return None


def _fits(step: Said, declared: Document, facts: Document) -> bool:
    """Does a step fit by itself, even if it does not act?"""
    return _trail([step], declared, facts) is not None


def _told(steps: list[Said], declared: Document, facts: Document) -> Iterator[Step]:
    last = _last_reset(steps, declared)
    below: Any = Unbound.NOTHING
    for place, (raw, path) in enumerate(steps):
        name, operand = operation(raw)
        idle = name == "default" and not isinstance(below, Unbound)
        below = apply(name, operand, below, declared, facts)
        bound = below is not Unbound.NOTHING
        result = None if isinstance(below, Unbound) else below
        yield Step(name, result, bound, path, place < last or idle)


def _last_reset(steps: list[Said], declared: Document) -> int:
    places = [place for place, (raw, _) in enumerate(steps) if resets(operation(raw)[0], declared)]
    return max(places, default=0)


def _facts(steps: list[Said]) -> list[Raw]:
    """The facts that these ask for."""
    return [operand for name, operand in (operation(raw) for raw, _ in steps) if name == "fact"]
