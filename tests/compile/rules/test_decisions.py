"""Trails say what was decided for rules: which leave it open where, and where their allocations say it."""

import pytest

from gitcfg.compile.fleet import Fleet
from gitcfg.model import Binding, Decision, Op, Origin, Ref
from gitcfg.model.rules import Allocation, Domain, Rule, RuleKind
from tests.compile.rules.fleets import fleet
from tests.compile.rules.written import counted, install, rule

FILES = {
    "features/interface": "params: {'if.${as}': '${with.address}', '${with.name}': x, 'at.${as}': here}",
    "features/card": "include: [{feature: interface, as: '${as}', with: {address: 'a ${with.ip}', name: n}}]",
    "features/list": "params: {list: '${with.items}'}",
    "features/mail": "params: {smtp: 25}",
    "features/dhcp": "params: {'dhcp.${as}': yes}",
    "groups/g": "features: [{feature: interface, as: eth0}]",
    "nodes/a": "groups: [g]",
    "nodes/b": "groups: [g]",
    "nodes/c": "features: [{feature: card, as: eth1}, {feature: list, as: l}]",
}
ASKED = Origin("rules/all.yaml", 7, 7)


def domain(name: str, *params: str, over: str | None = None) -> Rule:
    domains = {param: Domain(param, ("x",), ASKED, ()) for param in params}
    return rule(name, RuleKind.DOMAIN, domains=domains, over=over)


def given(rule: str, **values: dict[str, object]) -> Allocation:
    """Values by slot, each slot in a line of its own from 2 on."""
    found = {}
    for line, (slot, said) in enumerate(values.items(), 2):
        place = Origin(f"allocations/{rule}.yaml", line, 9)
        bound = {name: Binding(Op.SET, value, None, place, place) for name, value in said.items()}
        found[slot.replace("__", "/")] = bound
    return Allocation(rule, Origin(f"allocations/{rule}.yaml"), values=found)


def placed(rule: str, *slots: str) -> Allocation:
    file = f"allocations/{rule}.yaml"
    return Allocation(
        rule, Origin(file), tuple(Ref(slot, Origin(file, 2, at)) for at, slot in enumerate(slots, 1))
    )


@pytest.fixture
def net() -> Fleet:
    return fleet(
        FILES,
        domain("one", "address", "name", over="interface"),
        domain("two", "ip", over="card"),
        domain("three", "items", over="list"),
        domain("level", "level"),
        allocations=(
            given("one", a__eth0={"address": "5", "name": "n"}, b__eth0={"address": "5", "name": "n"}),
            given("two", c__eth1={"ip": "6"}),
            given("three", c__l={"items": [1, 2]}),
            given("level", a={"level": 3}, b={"level": 3}),
        ),
    )


def decided(found: Fleet, node: str, param: str) -> list[tuple[str, str, Origin, str]]:
    (step,) = found[node].trail(param)
    return [(each.rule, each.name, each.asked, f"{each.origin}") for each in step.decided]


def test_a_value_made_of_an_attribute_says_what_was_decided_for_it_on_its_own_node(net: Fleet) -> None:
    assert decided(net, "a", "if.eth0") == [("one", "address", ASKED, "allocations/one.yaml:2:9")]
    assert decided(net, "b", "if.eth0") == [("one", "address", ASKED, "allocations/one.yaml:3:9")]


def test_so_does_one_whose_name_is_and_one_that_is_made_of_what_is_made_of_it(net: Fleet) -> None:
    assert decided(net, "b", "n") == [("one", "name", ASKED, "allocations/one.yaml:3:9")]
    assert decided(net, "c", "if.eth1") == [("two", "ip", ASKED, "allocations/two.yaml:2:9")]
    assert decided(net, "c", "list") == [("three", "items", ASKED, "allocations/three.yaml:2:9")]


def test_what_is_made_of_nothing_decided_says_nothing(net: Fleet) -> None:
    assert decided(net, "a", "at.eth0") == decided(net, "c", "n") == []


def test_a_value_of_the_node_says_itself_that_it_was_decided(net: Fleet) -> None:
    assert decided(net, "b", "level") == [("level", "level", ASKED, "allocations/level.yaml:3:9")]


def test_what_a_rule_installs_where_that_was_decided_says_so_for_each_place() -> None:
    slots = ("a/eth0", "a/eth1", "b/eth0")
    nodes = "features: [{feature: interface, as: 'eth[0-1]', with: {address: x, name: n}}]"
    mail = install("mail", "mail", count=counted(1, 1))
    found = fleet(
        {**FILES, "nodes/a": nodes, "nodes/b": nodes},
        mail,
        install("dhcp", "dhcp", over="interface", count=counted(3, 3)),
        install("plain", "list", where="node.name == 'a'"),
        allocations=(placed("mail", "b"), placed("dhcp", *slots)),
    )
    assert mail.feature is not None
    (step,) = found["b"].trail("smtp")
    assert step.decided == (
        Decision("mail", "mail", mail.feature.origin, Origin("allocations/mail.yaml", 2, 1)),
    )
    assert [decided(found, "a", f"dhcp.eth{number}")[0][3] for number in (0, 1)] == [
        "allocations/dhcp.yaml:2:1",
        "allocations/dhcp.yaml:2:2",
    ]
    assert decided(found, "b", "dhcp.eth0")[0][3] == "allocations/dhcp.yaml:2:3"
    assert decided(found, "a", "list") == []
