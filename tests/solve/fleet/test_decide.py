"""What is decided for a fleet: places by strata and groups, values by domains, and why nothing can be."""

from typing import Any

import pytest

from gitcfg.model import Origin, Ref
from gitcfg.model.rules import Allocation, Domain, Rule, RuleKind, Uniqueness
from gitcfg.solve.fleet import Change, ChangeKind, RuleFailure, Solved, Unsolved, decide, difference
from gitcfg.solve.fleet.answers import allocate_places, allocate_values
from tests.compile.rules.fleets import TODAY, fleet
from tests.compile.rules.written import counted, install, rule

FILES = {
    "parameters/all": "parameters:\n  port: {type: integer}\n  name: {type: string}\n",
    "features/service": "{}",
    "features/interface": "{}",
    "features/mail": "include: [service]",
    "features/web": "include: [service]\ndepends: [store]",
    "features/store": "{}",
    "features/dhcp": "include: [service]",
    "nodes/n1": "labels: [server]",
    "nodes/n2": "labels: [server]",
    "nodes/n10": "labels: [server]",
}
SERVER = '"server" in node.labels'


def decided(files: dict[str, str], *rules: Rule, previous: tuple[Allocation, ...] = ()) -> Solved | Unsolved:
    found = fleet({**FILES, **files}, *rules, allocations=previous)
    return decide(found.model, found.tree, TODAY)


def where(files: dict[str, str], *rules: Rule, previous: tuple[Allocation, ...] = ()) -> dict[str, list[str]]:
    found = decided(files, *rules, previous=previous)
    assert isinstance(found, Solved)
    return {name: [ref.name for ref in one.install] for name, one in found.allocations.items() if one.install}


def values(files: dict[str, str], *rules: Rule, previous: tuple[Allocation, ...] = ()) -> dict[str, Any]:
    found = decided(files, *rules, previous=previous)
    assert isinstance(found, Solved)
    return {
        name: {
            slot: {param: bound.given for param, bound in said.items()} for slot, said in one.values.items()
        }
        for name, one in found.allocations.items()
        if one.values
    }


def domain(name: str, param: str, *items: int | str, **said: Any) -> Rule:
    at = Origin("rules/all.yaml", 30, 7)
    places = tuple(Origin("rules/all.yaml", 31 + n, 9) for n in range(len(items)))
    return rule(name, RuleKind.DOMAIN, domains={param: Domain(param, items, at, places)}, **said)


def test_the_first_in_natural_order_are_taken_and_those_that_stand_are_kept() -> None:
    two = install("two", "mail", where=SERVER, count=counted(2, 2))
    assert where({}, two) == {"two": ["n1", "n2"]}
    assert where({}, two, previous=(allocate_places("two", ["n10", "gone"]),)) == {"two": ["n1", "n10"]}


def test_what_is_there_by_hand_counts_and_is_not_allocated() -> None:
    two = install("two", "mail", where=SERVER, count=counted(2, 2))
    files = {"nodes/n10": "labels: [server]\nfeatures: [mail]"}
    assert where(files, two) == {"two": ["n1"]}


def test_what_a_node_does_without_it_does_not_get() -> None:
    one = install("one", "mail", where=SERVER, count=counted(1, 1))
    assert where({"nodes/n1": "labels: [server]\nwithout: [mail]"}, one) == {"one": ["n2"]}


def test_what_reads_what_others_place_comes_after_them() -> None:
    rules = (
        install("a", "dhcp", where='"mail" in node.features', count=counted(1, 1)),
        install("b", "mail", where='node.name != "n1"', count=counted(1, 1)),
        install("c", "store", where='"dhcp" in node.features'),
    )
    assert where({}, *rules) == {"a": ["n2"], "b": ["n2"]}


def test_dependencies_are_placed_along_and_limits_hold() -> None:
    rules = (
        install("one", "web", where=SERVER, count=counted(1, 1)),
        install("stores", "store", where='node.name != "n1"', count=counted(0, 1)),
        install("mails", "mail", where='node.name == "n2"', count=counted(1, 1)),
        rule("most", RuleKind.LIMIT, feature="service", per="node.name", count=counted(0, 1)),
    )
    assert where({}, *rules) == {"mails": ["n2"], "one": ["n10"], "stores": ["n10"]}


def test_a_dependency_may_be_met_by_either_of_two() -> None:
    files = {"features/disk": "include: [store]"}
    rules = (
        install("one", "web", where=SERVER, count=counted(1, 1)),
        install("disks", "disk", where='node.name == "n10"', count=counted(0, 1)),
        install("stores", "store", where='node.name == "n10"', count=counted(0, 1)),
    )
    assert where(files, *rules) == {"disks": ["n10"], "one": ["n10"]}
    previous = (allocate_places("one", ["n10"]), allocate_places("stores", ["n10"]))
    assert where(files, *rules, previous=previous) == {"one": ["n10"], "stores": ["n10"]}


def test_instances_are_counted_in_their_groups() -> None:
    interface = "features: [{feature: interface, as: eth0, with: {subnet: %s}}]"
    files = {f"nodes/n{n}": interface % subnet for n, subnet in ((1, "a"), (2, "a"), (3, "b"))}
    one = install("one", "dhcp", over="interface", per="self.with.subnet", count=counted(1, 1))
    assert where(files, one) == {"one": ["n1/eth0", "n3/eth0"]}


def test_several_domains_of_a_value_have_to_agree_and_values_set_by_hand_are_taken() -> None:
    rules = (
        domain("wide", "port", "1-100", unique=Uniqueness("fleet")),
        domain("narrow", "port", "80-90"),
    )
    files = {"nodes/n1": "params: {port: 81}"}
    assert values(files, *rules) == {"narrow": {"n2": {"port": 80}, "n10": {"port": 82}}}
    previous = (allocate_values("wide", {"n10": {"port": 80}, "n2": {"port": 200}}),)
    assert values(files, *rules, previous=previous) == {"wide": {"n2": {"port": 82}, "n10": {"port": 80}}}


def test_attributes_are_given_where_with_does_not_say_them() -> None:
    files = {
        "nodes/n1": "features: [{feature: interface, as: eth0}, {feature: interface, as: eth1}]",
        "nodes/n2": "features: [{feature: interface, as: eth0, with: {address: 10.0.0.01}}]",
        "nodes/n3": "features: [{feature: interface, as: eth0, with: {address: 10.0.0.1}}]",
    }
    by_node = domain("d", "address", "10.0.0.1-10.0.0.9", over="interface", unique=Uniqueness("node"))
    found = {"n1/eth0": {"address": "10.0.0.1"}, "n1/eth1": {"address": "10.0.0.2"}}
    del files["nodes/n2"]
    assert values(files, by_node) == {"d": found}
    at = Ref('"x"', Origin("rules/all.yaml", 8))
    keyed = domain("d", "address", "10.0.0.1-10.0.0.9", over="interface", unique=Uniqueness("key", at))
    assert values(files, keyed)["d"] == {
        "n1/eth0": {"address": "10.0.0.2"},
        "n1/eth1": {"address": "10.0.0.3"},
    }


def test_what_cannot_hold_together_is_named_with_its_nodes() -> None:
    two = install("two", "mail", line=20, where=SERVER, count=counted(2, 2))
    limit = rule("most", RuleKind.LIMIT, 30, feature="service", count=counted(0, 1))
    other = install("other", "store", line=40, count=counted(1, 1))
    found = decided({}, other, two, limit)
    assert isinstance(found, Unsolved)
    texts = ["rule two: 2 of mail", "rule most: at most 1 of service"]
    assert [cause.text for cause in found.causes] == texts
    assert [cause.origins[0].line for cause in found.causes] == [20, 30]
    assert found.nodes == ("n1", "n2", "n10")
    assert found.suggestion in found.causes


def test_what_is_wrong_by_hand_is_named_though_nothing_is_to_be_placed() -> None:
    files = {"nodes/n1": "labels: [server]\nfeatures: [mail, web, store]", "nodes/n2": "features: [mail]"}
    limit = rule("most", RuleKind.LIMIT, feature="service", per="node.name", count=counted(0, 1))
    found = decided(files, limit)
    assert isinstance(found, Unsolved)
    texts = ["rule most: at most 1 of service for each node.name", "mail is installed", "web is installed"]
    assert [cause.text for cause in found.causes] == texts
    assert [cause.origins[0].file for cause in found.causes[1:]] == ["nodes/n1.yaml", "nodes/n1.yaml"]
    assert found.nodes == ("n1",)
    assert found.suggestion == found.causes[0]


def test_what_includes_another_that_is_there_counts_in_its_place() -> None:
    files = {
        "features/big": "include: [mail]",
        "features/large": "include: [mail]",
        "nodes/n1": "labels: [server]\nfeatures: [mail]",
    }
    here = 'node.name == "n1"'
    big = install("big", "big", where=here, count=counted(1, 1))
    limit = rule("most", RuleKind.LIMIT, feature="service", per="node.name", count=counted(0, 1))
    assert where(files, big, limit) == {"big": ["n1"]}
    found = decided(files, big, install("large", "large", where=here, count=counted(1, 1)), limit)
    assert isinstance(found, Unsolved)
    assert {cause.rule for cause in found.causes} == {"big", "large", "most"}


def test_a_limit_below_which_nothing_is_names_the_nodes_that_it_is_about() -> None:
    found = decided({}, rule("some", RuleKind.LIMIT, feature="mail", where=SERVER, count=counted(1, None)))
    assert isinstance(found, Unsolved)
    assert [cause.text for cause in found.causes] == ["rule some: at least 1 of mail"]
    assert found.nodes == ("n1", "n2", "n10")


def test_what_later_rules_bring_counts_for_limits_in_the_end() -> None:
    rules = (
        install("a", "mail", where='node.name == "n2"', count=counted(1, 1)),
        install("b", "dhcp", where='"mail" in node.features'),
        rule("most", RuleKind.LIMIT, feature="service", per="node.name", count=counted(0, 1)),
    )
    found = decided({}, *rules)
    assert isinstance(found, Unsolved)
    assert [cause.rule for cause in found.causes if cause.rule] == ["most", "b"]
    assert found.nodes == ("n2",)


def test_a_rule_that_installs_everywhere_may_be_the_one_to_lift() -> None:
    rules = (
        install("mails", "mail", where=SERVER),
        rule("few", RuleKind.LIMIT, feature="mail", count=counted(0, 2)),
        rule("fewer", RuleKind.LIMIT, feature="mail", count=counted(0, 1)),
    )
    found = decided({}, *rules)
    assert isinstance(found, Unsolved)
    assert found.suggestion is not None
    assert found.suggestion.text == "mail is installed"


def test_only_what_lets_all_be_decided_is_suggested() -> None:
    """Without the first rule that cannot hold, another one still cannot."""
    mails = install("mails", "mail", line=20, where=SERVER, count=counted(4, 4))
    ports = domain("ports", "port", "1-2", unique=Uniqueness("fleet"))
    found = decided({}, mails, ports)
    assert isinstance(found, Unsolved)
    assert [cause.text for cause in found.causes] == ["rule mails: 4 of mail"]
    assert found.suggestion is None
    without = decided({}, ports)
    assert isinstance(without, Unsolved)
    assert without.suggestion is not None
    assert without.suggestion.rule == "ports"


def test_a_dependency_that_nothing_can_meet_is_named() -> None:
    found = decided({}, install("one", "web", where='node.name == "n2"', count=counted(1, 1)))
    assert isinstance(found, Unsolved)
    assert [cause.text for cause in found.causes] == ["rule one: 1 of web", "web depends on store"]
    assert found.causes[1].origins[0].file == "features/web.yaml"
    assert found.nodes == ("n2",)


def test_values_that_cannot_be_are_named() -> None:
    files = {"nodes/n1": "params: {port: 7}", "nodes/n2": "params: {port: 7}"}
    found = decided(files, domain("d", "port", "1-9", unique=Uniqueness("fleet")))
    assert isinstance(found, Unsolved)
    texts = ["rule d: port unique", "port of n1 is 7", "port of n2 is 7"]
    assert [cause.text for cause in found.causes] == texts
    assert [cause.origins[0].file for cause in found.causes[1:]] == ["nodes/n1.yaml", "nodes/n2.yaml"]
    assert found.nodes == ("n1", "n2")


def test_where_it_is_not_known_what_is_asked_nothing_is_decided() -> None:
    with pytest.raises(RuleFailure) as found:
        decided({}, install("one", "mail", where='node.facts.rack == "1"', count=counted(1, 1)))
    assert found.value.nodes == ("n1", "n10", "n2")
    assert found.value.cause.rule == "one"
    with pytest.raises(RuleFailure) as wrong:
        decided({}, domain("d", "port", 7, "9-1"))
    assert wrong.value.cause.origins == (Origin("rules/all.yaml", 32, 9),)


def test_what_was_decided_for_rules_that_are_wrong_stays() -> None:
    one = install("one", "mail", where='"mail" in node.features', count=counted(1, 1))
    previous = (allocate_places("one", ["n2"]), allocate_places("gone", ["n2"]))
    assert where({}, one, previous=previous) == {"one": ["n2"]}
    assert where({}, install("one", "unknown", count=counted(1)), previous=previous) == {"one": ["n2"]}


def test_the_difference_is_told_slot_by_slot() -> None:
    rules = {"one": install("one", "mail", count=counted(1, 1)), "d": domain("d", "port", "1-9")}
    old = {
        "one": allocate_places("one", ["n2", "n10"]),
        "d": allocate_values("d", {"n2": {"port": 1}, "n1": {"port": 2}}),
    }
    new = {
        "one": allocate_places("one", ["n1", "n10"]),
        "d": allocate_values("d", {"n2": {"port": 3}, "n9": {"port": 2}}),
    }
    assert list(difference(rules, old, new)) == [
        Change("d", ChangeKind.REMOVE, "n1", "port", param=True, old=2),
        Change("d", ChangeKind.CHANGE, "n2", "port", param=True, old=1, new=3),
        Change("d", ChangeKind.ADD, "n9", "port", param=True, new=2),
        Change("one", ChangeKind.ADD, "n1", "mail"),
        Change("one", ChangeKind.REMOVE, "n2", "mail"),
    ]
