"""The case study that rules are measured with is the one that its page tells."""

from datetime import date

import pytest

from bench.rules.study import MONITOR, one_more, study, subnets
from gitcfg.check.run import check
from gitcfg.compile.fleet import Fleet, compile_tree
from gitcfg.compile.ruled.view import Ruled, ruled
from gitcfg.git.tree import DictTree
from gitcfg.model import Severity

TODAY = date(2026, 1, 1)
ADDRESSES = ("public-addresses", "private-addresses", "backbone-addresses")

pytestmark = pytest.mark.usefixtures("ruled")


def compiled(files: dict[str, str]) -> Fleet:
    return compile_tree(DictTree(files), TODAY)


@pytest.fixture
def asked() -> Ruled:
    found = ruled(compiled(study()))
    assert found is not None
    return found


def test_it_has_six_hundred_machines_in_twenty_subnets(asked: Ruled) -> None:
    assert len(asked.fleet.names) == 600
    assert {len(members) for members in asked.groups("two-dns-per-subnet").values()} == {4}
    assert len(asked.groups("two-dhcp-per-subnet")) == 20
    assert sum(one.machines for one in subnets(605)) == 605


def test_every_interface_but_one_gets_an_address(asked: Ruled) -> None:
    slots = [seen.slot for rule in ADDRESSES for seen in asked.slots(rule)]
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
