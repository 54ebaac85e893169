"""What rules ask of a fleet: where each counts, in which groups, what is counted, and what fails."""

from typing import Any

import pytest

from gitcfg.cel import Truth
from gitcfg.compile.rules.evaluate import Candidate
from gitcfg.compile.rules.slots import RuleView, view_rules
from gitcfg.model.rules import Rule, RuleKind
from tests.compile.rules.fleets import fleet
from tests.compile.rules.written import counted, install, rule, setting

FILES = {
    "parameters/all": "parameters:\n  p: {}\n  dhcp.eth0: {}\n  dhcp.eth1: {}\n",
    "features/service": "{}",
    "features/mail": "include: [service]",
    "features/web": "include: [service]",
    "features/nginx": "include: [web]",
    "features/everything": "include: [mail, web]",
    "features/interface": "{}",
    "features/public": "include: [interface]",
    "features/chassis": "include: [{feature: interface, as: '${as}-a'}, {feature: interface, as: '${as}-b'}]",
    "nodes/a": "features: [nginx, mail]\nfacts: {rack: r1}\nparams: {p: 1}\nlabels: [x]",
    "nodes/b": "features: [everything, web]\nfacts: {rack: r1}\nparams: {p: 2}",
    "nodes/c": "features: [service]\nfacts: {rack: 7}",
    "nodes/d": "features: [mail]\nstate: retired",
    "nodes/e": "{}",
    "nodes/f": """
        features:
          - {feature: interface, as: eth0, with: {subnet: s1}}
          - {feature: public, as: eth1, with: {subnet: s2}}
          - {feature: chassis, as: c1}
        """,
    "nodes/g": "features: [public]",
}


def view(*rules: Rule, **more: str) -> RuleView:
    found = view_rules(fleet({**FILES, **more}, *rules))
    assert found is not None
    return found


def limit(name: str, feature: str, **said: Any) -> Rule:
    return rule(name, RuleKind.LIMIT, feature=feature, count=counted(0, 1), **said)


def slots(seen: tuple[Candidate, ...]) -> list[str]:
    return [one.slot for one in seen]


def test_without_rules_there_is_nothing_to_ask() -> None:
    assert view_rules(fleet(FILES)) is None


def test_slots_are_nodes_that_are_not_retired() -> None:
    assert slots(view(install("i", "mail", count=counted(1))).slots("i")) == ["a", "b", "c", "e", "f", "g"]


def test_slots_over_a_feature_are_its_instances_and_those_of_what_includes_it() -> None:
    found = view(rule("r", RuleKind.REQUIRE, require="true", over="interface")).slots("r")
    assert slots(found) == ["f/eth0", "f/eth1", "f/c1-a", "f/c1-b", "g"]
    assert [one.self_.feature for one in found] == ["interface", "public", *["interface"] * 2, "public"]


def test_slots_of_instances_may_be_told_by_what_they_are_given() -> None:
    where = 'has(self.with.subnet) && self.with.subnet == "s2"'
    assert slots(view(install("i", "mail", over="interface", where=where)).slots("i")) == ["f/eth1"]


def test_groups_are_by_key_and_who_has_none_is_told() -> None:
    found = view(install("i", "mail", per="node.facts.rack", count=counted(1)))
    assert {key: slots(members) for key, members in found.groups("i").items()} == {"r1": ["a", "b"], 7: ["c"]}
    assert found.failed["i"].keys() == {"e", "f", "g"}
    assert {key: slots(m) for key, m in view(install("i", "mail")).groups("i").items()} == {
        None: ["a", "b", "c", "e", "f", "g"]
    }


def test_values_are_seen_by_rules_that_judge_them() -> None:
    where = '"p" in node.params && node.params.p == 2'
    assert slots(view(rule("d", RuleKind.DOMAIN, where=where)).slots("d")) == ["b"]


def test_limits_count_what_is_or_includes_a_feature_each_once() -> None:
    found = view(limit("l", "service", per="node.name")).counted("l")
    units = {key: [unit.feature for _, unit in counts] for key, counts in found.items()}
    assert units == {
        "a": ["nginx", "mail"],
        "b": ["mail", "web"],
        "c": ["service"],
        "e": [],
        "f": [],
        "g": [],
    }


def test_limits_count_what_rules_install() -> None:
    found = view(limit("l", "service"), install("i", "mail", where='node.name == "e"'))
    assert [seen.name for seen, _ in found.counted("l")[None]] == ["a", "a", "b", "b", "c", "e"]


def test_limits_over_instances_count_what_has_their_name() -> None:
    more = {"features/dhcp": "params: {'dhcp.${as}': '1'}"}
    found = view(
        install("i", "dhcp", over="interface", where='self.as.startsWith("eth")'),
        limit("l", "dhcp", over="interface", per="self.as"),
        **more,
    )
    counts = {key: len(units) for key, units in found.counted("l").items()}
    assert counts == {"eth0": 1, "eth1": 1, "c1-a": 0, "c1-b": 0, "": 0}


def test_install_rules_see_what_is_there_before_them_and_others_all() -> None:
    looking = "size(node.features) > 0"
    found = view(
        install("i", "mail", where='node.name == "e"'),
        install("j", "web", where=looking, count=counted(1)),
        install("k", "nginx", where='node.name == "e" && size(node.features) < 9', count=None),
        setting("s", {"p": 1}, where='"nginx" in node.features'),
    )
    assert [circle.rules for circle in found.book.strata.circles] == [("j", "k")]
    found = view(
        install("i", "mail", where='node.name == "e"'),
        install("j", "web", where=looking, count=counted(1)),
        setting("s", {"p": 1}, where='"mail" in node.features'),
    )
    assert slots(found.slots("j")) == ["a", "b", "c", "e", "f", "g"]
    assert slots(found.slots("s")) == ["a", "b", "e"]


@pytest.mark.parametrize(
    ("said", "part"),
    [
        ({"per": "node.params.p"}, "per"),
        ({"per": "node.facts"}, "per"),
        ({"where": "1"}, "where"),
    ],
)
def test_keys_and_conditions_that_mean_nothing_are_told(said: dict[str, Any], part: str) -> None:
    found = view(install("i", "mail", count=counted(1), **said))
    assert [(wrong.rule, wrong.part) for wrong in found.book.unreadable] == [("i", part)]


@pytest.mark.parametrize(
    ("said", "fits"),
    [
        ({"require": "node.params.p == 1"}, True),
        ({"require": "size(nodes) == 1", "per": "node.facts.rack"}, True),
        ({"require": "size(nodes) == 1"}, False),
        ({"require": "node.name == 'a'", "per": "node.facts.rack"}, False),
        ({"require": 'self.as == "x"', "over": "interface"}, True),
        ({"require": "size(nodes) > 1", "over": "interface"}, True),
    ],
)
def test_invariants_are_of_nodes_instances_or_groups(said: dict[str, Any], fits: bool) -> None:
    assert bool(view(rule("r", RuleKind.REQUIRE, **said)).book.unreadable) is not fits


def test_features_in_a_key_are_there_when_it_is_asked() -> None:
    found = view(
        install("a", "public", per='"service" in node.features', count=counted(1)),
        install("z", "service", where="has(node.facts.rack)"),
    )
    assert found.book.strata.layers == (("z",), ("a",))
    groups = {key: [seen.name for seen in slots] for key, slots in found.groups("a").items()}
    assert groups == {Truth.TRUE: ["a", "b", "c"], Truth.FALSE: ["e", "f", "g"]}
