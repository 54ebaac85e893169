"""The benchmark of solving: all ways find answers that cost the same."""

from pathlib import Path

import pytest

from bench.measure import Record
from bench.report import document, keep_solving
from bench.solve.shown import tables
from bench.solve.ways import WAYS
from gitcfg.solve import Giving, Placing
from tests.solve.fleets import subnets
from tests.solve.pools import addresses

BEFORE = {f"n{number:05}/eth0": 256 * (number % 2) + number // 2 + 1 for number in range(6)}


@pytest.mark.parametrize(
    ("problem", "cost"),
    [
        (subnets(20, 3, 2, 2, per=10), (12, 12)),
        (subnets(21, 3, 2, 2, (("f00", "n00005"), ("f00", "n00006")), per=10), (10, 12)),
        (addresses(6, 2, 4), (0, 6)),
        (addresses(7, 2, 4, BEFORE), (0, 7)),
        (addresses(7, 2, 4, BEFORE | {"n00000/eth0": 3}), (1, 7)),
    ],
)
@pytest.mark.parametrize("way", WAYS)
def test_all_ways_find_as_few_changes(way: str, problem: Placing | Giving, cost: tuple[int, int]) -> None:
    assert WAYS[way](problem) == cost


def test_figures_are_shown(tmp_path: Path) -> None:
    problem = "600 addresses in 20 subnets"
    records = [
        Record(fleet=problem, tool=way, work="solve", cpu=(seconds,), wall=(seconds,), rss=(50,), right="600")
        for way, seconds in (("gitcfg", 0.5), ("clingo, the whole", 2.0))
    ]
    results = keep_solving(tables(records), "commit c0ffee", {}, tmp_path / "results.json")
    page = document(results, "2026-11-22")
    assert "gitcfg commit c0ffee" in page
    assert f"| CPU of the choice: {problem} | 1 s | 0.500 | reached |" in page
    assert f"| {problem} | clingo, the whole | 2.000 | 4.0 | 2.000 | 50 | 1 | 600 |" in page
