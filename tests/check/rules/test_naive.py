"""Random worlds of nodes and rules: what is told is what the definitions say, and no corruption escapes."""

from random import Random

import pytest

from tests.check.rules.naive import Data, Naive
from tests.check.rules.worlds import ADDRESSES, corrupted, told, world
from tests.seeds import many


@pytest.mark.parametrize("seed", many(0, 150))
def test_what_is_told_is_what_the_definitions_say(seed: int) -> None:
    made = world(seed)
    assert told(made) == dict(Naive(made).judge())


def solved(rng: Random) -> Data:
    """A world in which everything is as it should be, and much was decided."""
    racks = [rng.choice(("r1", "r2")) for _ in range(rng.randrange(2, 7))]
    made: Data = {
        "nodes": {
            f"n{number}": {
                "labels": ["x"],
                "facts": {"rack": rack},
                "features": [],
                "params": {},
                "retired": False,
                "units": [{"as": "eth0", "with": {"subnet": rng.choice(("s1", "s2"))}}],
            }
            for number, rack in enumerate(racks)
        },
        "rules": {
            "mails": {"install": "mail", "per": "node.facts.rack", "count": 1, "where": '"x" in node.labels'},
            "dhcps": {"install": "dhcp", "over": "interface", "per": "self.with.subnet", "count": 1},
            "ports": {"domain": {"port": [*range(1, 9)]}, "unique": "fleet"},
            "addresses": {"domain": {"address": ADDRESSES}, "over": "interface", "unique": "node.facts.rack"},
        },
    }
    names = list(made["nodes"])
    units = {made["nodes"][name]["units"][0]["with"]["subnet"]: f"{name}/eth0" for name in names}
    made["allocations"] = {
        "mails": {"install": sorted({made["nodes"][name]["facts"]["rack"]: name for name in names}.values())},
        "dhcps": {"install": sorted(units.values())},
        "ports": {"values": {name: {"port": 1 + place} for place, name in enumerate(names)}},
        "addresses": {
            "values": {f"{name}/eth0": {"address": ADDRESSES[at]} for at, name in enumerate(names)}
        },
    }
    return made


@pytest.mark.parametrize("seed", many(0, 40))
def test_no_corruption_of_what_was_decided_escapes(seed: int) -> None:
    rng = Random(seed)
    made = solved(rng)
    assert told(made) == {}
    wrong = corrupted(rng, made)
    found = told(wrong)
    assert found
    assert found == dict(Naive(wrong).judge())
