"""What is collected by indexes and classes is what each node finds that goes through all others itself."""

import json
from random import Random
from typing import Any

import pytest

from gitcfg.compile.fleet import Fleet, compile_tree
from gitcfg.git.tree import DictTree
from tests.compile.rules.fleets import TODAY
from tests.seeds import TIMES

WHERE = '"x" in other.labels && other.name != "n3"'


def collects(rng: Random) -> dict[str, Any]:
    """Something to collect."""
    found: dict[str, Any] = {"param": rng.choice(["v", "name"]), "feature": rng.choice("fg")}
    found["same"] = rng.sample(["rack", "room"], rng.randrange(3))
    if rng.random() < 0.5:
        found["where"] = WHERE
    return found


def node(rng: Random) -> dict[str, Any]:
    """A node that may have what others collect, and may collect."""
    facts = {fact: rng.choice(["1", "2"]) for fact in ("rack", "room") if rng.random() < 0.8}
    return {
        "groups": rng.sample(["g0", "g1", "g2"], rng.randrange(3)),
        "features": rng.choice([[], ["f"], ["g"]]),
        "labels": rng.choice([[], ["x"]]),
        "facts": facts,
        "params": {"v": rng.randrange(9)} if rng.random() < 0.6 else {},
    }


def expected(nodes: dict[str, Any], collect: dict[str, Any], name: str) -> list[str]:
    """What a node collects, asked of every other."""
    found = []
    for other, said in sorted(nodes.items()):
        has = {"g"} if collect["feature"] == "g" else {"f", "g"}
        facts = [(nodes[name]["facts"].get(key), said["facts"].get(key)) for key in collect["same"]]
        if not has & set(said["features"]) or any(mine is None or mine != its for mine, its in facts):
            continue
        if "where" in collect and ("x" not in said["labels"] or other == "n3"):
            continue
        if collect["param"] == "name" or "v" in said["params"]:
            found.append(other if collect["param"] == "name" else said["params"]["v"])
    return found


@pytest.mark.parametrize("seed", range(15 * TIMES))
def test_indexes_are_as_nodes_that_ask_all_others(seed: int) -> None:
    rng = Random(seed)
    nodes = {f"n{number}": node(rng) for number in range(rng.randrange(1, 12))}
    groups = {f"g{number}": collects(rng) for number in range(3)}
    files: dict[str, Any] = {
        "gitcfg": {"format": 1},
        "features/f": {},
        "features/g": {"include": ["f"]},
        "parameters/p": {"parameters": {"v": {"type": "integer"}, "c": {}}},
        **{f"groups/{name}": {"params": {"c": {"$collect": collect}}} for name, collect in groups.items()},
        **{f"nodes/{name}": said for name, said in nodes.items()},
    }
    tree = DictTree({f"{path}.yaml": json.dumps(said) for path, said in files.items()})
    together = compile_tree(tree, TODAY)
    assert not together.model.findings
    _ = together.classes
    for name, said in nodes.items():
        wanted = expected(nodes, groups[said["groups"][0]], name) if said["groups"] else None
        for fleet in (together, Fleet(together.model, tree, TODAY)):
            assert fleet[name].params.get("c") == wanted
            steps = fleet[name].trail("c")
            assert not steps or steps[-1].result == wanted
