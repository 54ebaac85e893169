"""Rules are measured with the case study that is told, and with problems that are solved rightly."""

from datetime import date

import pytest

from bench.measure import Record
from bench.rules.fleets import bare, collecting, decided, many, plain
from bench.rules.one import changes, right, solved
from bench.rules.problems import ADDRESSES, PLACEMENTS, Problem, addresses, different, placements, valid
from bench.rules.rows import BARE, COLLECT, DECIDED, FEW, MANY, PLAIN
from bench.rules.shown import tables
from bench.rules.solvers import GITCFG, SOLVERS
from bench.rules.study import MONITOR, one_more, study, subnets
from gitcfg.check.run import check
from gitcfg.compile.fleet import Fleet, compile_tree
from gitcfg.compile.rules.slots import RuleView, view_rules
from gitcfg.git.tree import DictTree
from gitcfg.model import Severity

TODAY = date(2026, 1, 1)
RANGES = ("public-addresses", "private-addresses", "backbone-addresses")


def compiled(files: dict[str, str]) -> Fleet:
    return compile_tree(DictTree(files), TODAY)


@pytest.fixture
def asked() -> RuleView:
    found = view_rules(compiled(study()))
    assert found is not None
    return found


def test_it_has_six_hundred_machines_in_twenty_subnets(asked: RuleView) -> None:
    assert len(asked.fleet.names) == 600
    assert {len(members) for members in asked.groups("two-dns-per-subnet").values()} == {4}
    assert len(asked.groups("two-dhcp-per-subnet")) == 20
    assert sum(one.machines for one in subnets(605)) == 605


def test_every_interface_but_one_gets_an_address(asked: RuleView) -> None:
    slots = [seen.slot for rule in RANGES for seen in asked.slots(rule)]
    fixed = [seen.slot for one in subnets() for seen in asked.slots(f"{one.name}-fixed")]
    assert len({*slots, *fixed}) == len(slots) + len(fixed) == 620
    assert f"{MONITOR}/eth1" not in (*slots, *fixed)
    assert asked.fleet[MONITOR].params["interface.eth1"] == ""
    assert not asked.failed


def test_nothing_is_wrong_with_its_files() -> None:
    for files in (study(), one_more(study())):
        found = [one for one in check(compiled(files)) if one.severity is Severity.ERROR]
        assert [one for one in found if not one.code.startswith("GC4")] == []
    assert len(compiled(files).names) == 601


@pytest.mark.slow
@pytest.mark.parametrize("tool", SOLVERS)
def test_each_solver_finds_an_answer(tool: str) -> None:
    assert solved(tool, PLACEMENTS, 100).right
    assert solved(tool, ADDRESSES, 200).right


BEFORE = {
    f"net0{net}-server{number}/eth0": f"134.58.{38 + net}.{9 + number}" for net in (1, 2) for number in (1, 2)
}


@pytest.mark.parametrize(
    ("problem", "cost"),
    [
        (placements(50, 3), (6, 0)),
        (placements(101, 2, (("f00", "n00005"), ("f00", "n00099"))), (8, 6)),
        (addresses(14, 2), (10, 0)),
        (addresses(16, 2, BEFORE), (12, 0)),
        (addresses(16, 2, BEFORE | {"net01-server2/eth0": "134.58.39.10"}), (12, 1)),
    ],
)
@pytest.mark.parametrize("tool", SOLVERS)
def test_all_solvers_find_as_few_changes(tool: str, problem: Problem, cost: tuple[int, int]) -> None:
    found = SOLVERS[tool](problem)
    assert right(problem, found)
    assert (len(found), changes(problem, found)) == cost


def test_an_answer_that_is_none_is_told() -> None:
    assert not valid(placements(50, 2), set())
    giving = addresses(200)
    assert not different(giving, dict.fromkeys((want.slot for want in giving.wants), "134.58.39.10"))


def test_nothing_is_wrong_with_large_fleets() -> None:
    for files in (decided(100), bare(100), collecting(100), plain(100), many(0), many(60)):
        assert [one for one in check(compiled(files)) if one.severity is Severity.ERROR] == []


def test_goals_are_judged_by_what_was_measured() -> None:
    rows = [(DECIDED, "check", 0.5), (BARE, "check", 0.1), (COLLECT, "check", 0.2), (PLAIN, "check", 0.1)]
    rows += [(MANY, "check", 2.2), (FEW, "check", 0.2)]
    records = [
        Record(fleet=name, tool=GITCFG, work=work, cpu=(cpu,), wall=(1.0,), rss=(9.0,))
        for name, work, cpu in rows
    ]
    judged = {row[0]: row[2:] for row in tables(records)[0].rows}
    assert judged["check of what was decided, over none"] == ("0.40", "not reached")
    assert judged["$collect on all nodes, over a plain value"] == ("0.10", "reached")
    assert judged["check of as many rules on one rack, over none"] == ("2.00", "reached")
    assert judged["placements of 30 features, alone"] == ("-", "not measured")
