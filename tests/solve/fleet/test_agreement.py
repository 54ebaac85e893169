"""What is decided is what checks and the naive checker want, of rules as they are read from files."""

import json
from collections import Counter
from random import Random
from typing import Any

import msgspec
import pytest

from gitcfg.check.run import check
from gitcfg.compile.fleet import compile_tree
from gitcfg.git.tree import DictTree
from gitcfg.solve.fleet import Solved, decide
from tests.check.rules.naive import KEYS, LEVELS, Data, Naive, files
from tests.compile.fleets import TODAY
from tests.seeds import many


def node(level: Any, number: int) -> Data:
    unit = {"as": "eth0", "with": {"subnet": f"s{number % 2}"}}
    facts = {"rack": f"r{number % 2}", "level": level}
    return {"labels": ["x"], "facts": facts, "features": [], "params": {}, "retired": False, "units": [unit]}


def allocations(world: Data) -> Data:
    """What is decided for a world, as its files say it."""
    fleet = compile_tree(DictTree(files(world)), TODAY)
    assert not fleet.model.findings
    found = decide(fleet.model, fleet.tree, TODAY)
    assert isinstance(found, Solved)
    return {name: written(one) for name, one in found.allocations.items()}


def written(allocation: Any) -> Data:
    said = {
        "install": [ref.name for ref in allocation.install],
        "values": {
            slot: {name: bound.given for name, bound in values.items()}
            for slot, values in allocation.values.items()
        },
    }
    plain: Data = msgspec.to_builtins({key: value for key, value in said.items() if value})
    return plain


def wrong(world: Data) -> list[str]:
    """What checks find wrong; the naive checker has to say the same."""
    found = [finding for finding in check(compile_tree(DictTree(files(world)), TODAY)) if finding.is_error]
    told = Naive(world).judge()
    assert {(one.code, one.subjects[0]) for one in found} == told.keys()
    return [finding.message for finding in found]


@pytest.mark.parametrize("seed", many(0, 25))
def test_keys_are_told_apart_alike(seed: int) -> None:
    """One mail for each key, and as many ports as the most frequent key needs: none is left over."""
    rng = Random(seed)
    levels = [rng.choice(LEVELS) for _ in range(rng.randrange(2, 8))]
    nodes = {f"n{number}": node(level, number) for number, level in enumerate(levels)}
    world: Data = {"nodes": nodes, "allocations": {}}
    keys = Counter(KEYS["node.facts.level"](name, said, {}) for name, said in nodes.items())
    ports = [*range(1, max(keys.values()) + 1)]
    world["rules"] = {
        "mails": {"install": "mail", "per": "node.facts.level", "count": 1},
        "ports": {"domain": {"port": ports}, "unique": "node.facts.level"},
    }
    world["allocations"] = allocations(world)
    assert wrong(world) == []
    assert len(world["allocations"]["mails"]["install"]) == len(keys)
    world["allocations"]["mails"]["install"].pop()
    assert len(wrong(world)) == 1


VALUES: Data = {
    "zones": {"domain": {"zone": ["a", "b"]}, "unique": "node.facts.rack"},
    "ports": {"domain": {"port": [1, 2, 3, 4]}, "where": "node.params.zone == 'a'", "unique": "fleet"},
    "late": {"domain": {"late": [7]}, "where": "has(node.params.port) && node.params.port > 1"},
    "nets": {"domain": {"subnet": ["s8", "s9"]}, "over": "nic", "where": "node.params.zone == 'b'"},
    "addresses": {
        "domain": {"address": ["10.0.0.0/29"]},
        "over": "nic",
        "where": "has(self.with.subnet) && self.with.subnet == 's8'",
        "unique": "self.with.subnet",
    },
    "told": {
        "domain": {"told": ["x"]},
        "where": '"nic.eth0" in node.params && node.params["nic.eth0"] != null',
    },
}


@pytest.mark.parametrize("seed", many(0, 10))
def test_values_that_follow_from_values_are_found_at_once_and_stay(seed: int) -> None:
    rng = Random(seed)
    said: Data = {
        "gitcfg.yaml": {"format": 1},
        "features/nic.yaml": {"params": {"nic.${as}": "${with.address}"}},
        "parameters/p.yaml": {
            "parameters": {
                "port": {"type": "integer"},
                "late": {"type": "integer"},
                **{name: {"type": "string"} for name in ("zone", "told", "nic.*")},
            }
        },
        "rules/r.yaml": {"rules": dict(rng.sample(list(VALUES.items()), len(VALUES)))},
    }
    for number in range(rng.randrange(1, 5)):
        given = {"address": f"10.0.0.{number}"} if rng.random() < 0.2 else {}
        unit = {"feature": "nic", "as": "eth0", "with": given}
        said[f"nodes/n{number}.yaml"] = {"facts": {"rack": number // 2}, "features": [unit]}
    tree = {path: json.dumps(one) for path, one in said.items()}
    fleet = compile_tree(DictTree(tree), TODAY)
    assert not fleet.model.findings
    found = decide(fleet.model, fleet.tree, TODAY)
    assert isinstance(found, Solved)
    assert found.allocations["zones"]
    tree |= {f"allocations/{name}.yaml": json.dumps(written(one)) for name, one in found.allocations.items()}
    after = compile_tree(DictTree(tree), TODAY)
    wrong = [finding for finding in check(after) if finding.is_error]
    assert {finding.code for finding in wrong} <= {"GC201"}, wrong
    assert all(finding.subjects == ("address",) for finding in wrong)
    assert decide(after.model, after.tree, TODAY) == found


def test_a_limit_that_looks_at_what_is_placed_within_it_limits_nothing() -> None:
    """It is told (GC407), and what can be decided without it is."""
    world: Data = {"nodes": {"n0": node(1, 0)}, "allocations": {}}
    world["nodes"]["n0"]["features"] = ["web"]
    world["rules"] = {
        "few": {"limit": "web", "where": '"mail" in node.features', "count": {"max": 0}},
        "mails": {"install": "mail", "count": 1},
    }
    assert allocations(world) == {"mails": {"install": ["n0"]}}
