"""Clocks that are off by a year, forth and back: the node works, and everybody can see it."""

import json
import time

import pytest

from tests.system.node import Node
from tests.system.pool import Pool

pytestmark = pytest.mark.slow

YEAR = 365 * 86400
SHIFTED = "import time; real = time.time; time.time = lambda: real() + {shift}; "


def test_clocks_that_are_off_by_a_year(pool: Pool) -> None:
    early, late, *others = pool.nodes.values()
    shifts = {early.name: -YEAR, late.name: YEAR}
    for node in (early, late):
        node.start(SHIFTED.format(shift=shifts[node.name]))
    for node in others:
        node.start()
    pool.arrived(pool.first)
    commit = pool.change(LABEL="one")
    pool.arrived(commit)
    now = time.time()
    for node in pool.nodes.values():
        said = pool.ask(f"/v1/nodes/{node.name}")
        assert said["state"] == "ok"
        assert abs(said["clock_offset"] + shifts.get(node.name, 0)) < 10
        assert abs(said["running"]["since"] - now) < 120
        assert abs(said["last"] - now) < 120
    listed = pool.call("inventory", "--database", pool.database, "-o", "json")
    found = {one["name"]: one for one in json.loads(listed.stdout)["nodes"]}
    assert {name: round(one["clock_offset"] / YEAR) for name, one in found.items()} == {
        node.name: -round(shifts.get(node.name, 0) / YEAR) for node in pool.nodes.values()
    }
    _mended(pool, late)


def _mended(pool: Pool, node: Node) -> None:
    """What was found out about a clock is wrong once somebody has set it."""
    assert node.end() == 0
    node.start()
    pool.arrived(pool.change(LABEL="two"))
    assert abs(pool.ask(f"/v1/nodes/{node.name}")["clock_offset"]) < 10
