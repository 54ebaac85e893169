"""What is decided is what checks and the naive checker want, of rules as they are read from files."""

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
