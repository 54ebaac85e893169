"""Values of every kind are given: within their domain, no two the same, none of those set by hand moved."""

import json
from random import Random
from typing import Any

import pytest

from gitcfg.check.run import check
from gitcfg.compile.fleet import compile_tree
from gitcfg.domain import parse
from gitcfg.edit.decision import put_allocations
from gitcfg.edit.draft import Draft
from gitcfg.git.tree import DictTree
from gitcfg.load.repository import load
from gitcfg.solve.fleet import Solved, Unsolved, decide, difference
from tests.compile.fleets import TODAY
from tests.seeds import many

KINDS: dict[str, tuple[str | None, list[int | str]]] = {
    "integers": ("integer", [80, "1000-1004", "!1002"]),
    "ports": ("integer", ["65530-65535", 22]),
    "text": ("string", ["red", "green", "blue", "Blue", "01", "black"]),
    "IPv4": (None, ["10.0.0.0/29", "!10.0.0.0", "!10.0.0.7"]),
    "IPv6": ("string", ["2001:db8::fe-2001:db8::103"]),
    "networks": (None, ["10.0.0.0/26 in /29", "!10.0.0.8/29"]),
    "dates": ("string", ["2026-02-26 - 2026-03-03"]),
}


def tree(kind: str, nodes: int, by_hand: dict[str, Any], previous: dict[str, Any]) -> DictTree:
    of_type, items = KINDS[kind]
    typed = {"type": of_type} if of_type else {}
    found: dict[str, Any] = {
        "parameters/p.yaml": {"parameters": {"p": {"description": "P.", **typed}}},
        "rules/r.yaml": {"rules": {"r": {"domain": {"p": items}, "unique": "fleet"}}},
    }
    for number in range(nodes):
        name = f"n{number}"
        found[f"nodes/{name}.yaml"] = {"params": {"p": by_hand[name]}} if name in by_hand else {}
    if previous:
        found["allocations/r.yaml"] = {"values": {name: {"p": value} for name, value in previous.items()}}
    return DictTree({"gitcfg.yaml": "format: 1\n"} | {path: json.dumps(said) for path, said in found.items()})


def drawn(rng: Random, nodes: int, values: list[Any]) -> dict[str, Any]:
    """Values for some nodes, seldom two the same, seldom one that may not be."""
    names = rng.sample([f"n{number}" for number in range(nodes)], rng.randrange(min(nodes, 4)))
    chosen = rng.sample(values, len(names)) if rng.random() < 0.8 else rng.choices(values, k=len(names))
    return dict(zip(names, chosen, strict=True))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", many(0, 10))
def test_values_of_every_kind_are_given(kind: str, seed: int) -> None:
    rng = Random(f"{kind} {seed}")
    of_type, items = KINDS[kind]
    values = list(parse(items, of_type))
    nodes = rng.randrange(1, len(values) + 2)
    by_hand, previous = drawn(rng, nodes, values), drawn(rng, nodes + 1, [*values, items[0]])
    draft = Draft(tree(kind, nodes, by_hand, previous))
    found = decide(draft.model, draft.tree, TODAY)
    if len(set(by_hand.values())) < len(by_hand) or nodes > len(values):
        assert isinstance(found, Unsolved)
        assert found.suggestion is not None
        assert found.suggestion.rule == "r"
        return
    assert isinstance(found, Solved)
    put_allocations(draft, draft.model.allocations, found.allocations)
    fleet = compile_tree(draft.tree, TODAY)
    assert [finding for finding in check(fleet) if finding.is_error] == []
    given = {name: fleet[name].params["p"] for name in fleet.names}
    assert set(given.values()) <= set(values)
    assert len(set(given.values())) == nodes
    assert by_hand.items() <= given.items()
    kept = {value for name, value in previous.items() if name in given.keys() - by_hand} & set(values)
    kept -= set(by_hand.values())
    assert sum(given.get(name) == value for name, value in previous.items() if name not in by_hand) == len(
        kept
    )
    again = decide(load(draft.tree), draft.tree, TODAY)
    assert isinstance(again, Solved)
    assert list(difference({}, found.allocations, again.allocations)) == []
