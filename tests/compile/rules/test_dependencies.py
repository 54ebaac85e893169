"""Rules that leave values open come after those whose values they read, however these come to them."""

from typing import Any

import pytest

from gitcfg.compile.rules.rulebook import Strata
from gitcfg.compile.rules.slots import view_rules
from gitcfg.model import Origin, Ref
from gitcfg.model.rules import Domain, Rule, RuleKind, Uniqueness
from tests.compile.rules.fleets import fleet
from tests.compile.rules.written import install, rule

FILES = {
    "parameters/all": "parameters:\n  a: {}\n  b: {}\n  c: {}\n  listed: {type: list}\n  'if.*': {}\n",
    "features/interface": "params: {'if.${as}': 'at ${with.address}'}",
    "features/nic": "include: [{feature: interface, as: '${as}-1', with: {address: '${with.net}'}}]",
    "features/disk": "params: {c: '${with.address}'}",
    "features/dhcp": "{}",
    "groups/g": "params: {listed: {$collect: {param: a, feature: nic}}}",
    "groups/h": "params: {b: {$collect: {param: listed, feature: nic}}}",
    "nodes/n": "groups: [g, h]",
}


def domain(name: str, *about: str, key: str | None = None, **said: Any) -> Rule:
    at = Origin("rules/all.yaml", 30, 7)
    domains = {param: Domain(param, ("x",), at, (at,)) for param in about}
    unique = None if key is None else Uniqueness("key", Ref(key, at))
    return rule(name, RuleKind.DOMAIN, domains=domains, unique=unique, **said)


def order(*rules: Rule) -> Strata:
    found = view_rules(fleet(FILES, *rules))
    assert found is not None
    return found.valued


@pytest.mark.parametrize(
    "reading",
    [
        domain("r", "c", where="node.params.a == 1"),
        domain("r", "c", where='node.params["a"] == 1'),
        domain("r", "c", where='"a" in node.params'),
        domain("r", "c", key="node.params.a"),
        domain("r", "c", where='node.params.listed == ["x"]'),
        domain("r", "c", where="has(node.params.b)"),
        domain("r", "listed"),
        domain("r", "address", over="interface", where="node.params.a == 1"),
    ],
    ids=lambda one: one.where.name if one.where else str([*one.domains]),
)
def test_what_reads_a_parameter_comes_after_what_gives_it(reading: Rule) -> None:
    assert order(domain("z", "a"), reading) == Strata((("z",), ("r",)), ())


@pytest.mark.parametrize(
    "reading",
    [
        domain("r", "mtu", over="nic", where="self.with.net == 'x'"),
        domain("r", "mtu", over="interface", where="self.with.address == 'x'"),
        domain("r", "mtu", over="dhcp", where="has(self.with.net)"),
        domain("r", "a", where='node.params["if.eth0-1"] == "at x"'),
        domain("r", "if.eth0-1"),
        domain("r", "address", over="interface"),
    ],
    ids=lambda one: one.where.name if one.where else str([*one.domains]),
)
def test_what_reads_what_instances_pass_on_comes_after_what_gives_it(reading: Rule) -> None:
    found = order(domain("z", "net", over="nic"), install("i", "dhcp", over="nic"), reading)
    assert found == Strata((("z",), ("r",)), ())


@pytest.mark.parametrize(
    "other",
    [
        domain("r", "c", where="node.params.b2 == 1 && node.facts.a == 1"),
        domain("r", "c", where='node.facts["a"] == 1', key="node.name"),
        domain("r", "address", over="disk", where="has(self.with.net)"),
        domain("r", "a", where="has(node.params.c)"),
    ],
    ids=lambda one: one.where.name if one.where else str([*one.domains]),
)
def test_what_reads_something_else_is_asked_with_it(other: Rule) -> None:
    assert order(domain("z", "a"), other) == Strata((("r", "z"),), ())


def test_rules_about_the_same_value_are_asked_together_after_all_that_one_of_them_reads() -> None:
    rules = [
        domain("p", "b"),
        domain("q", "b", where="has(node.params.a)"),
        domain("z", "a"),
        domain("c", "c"),
    ]
    assert order(*rules).layers == (("c", "z"), ("p", "q"))


def test_circles_are_told_with_all_rules_about_their_values() -> None:
    rules = [
        domain("p", "c", where="has(node.params.a)"),
        domain("q", "a", where="has(node.params.c)"),
        domain("same", "a"),
        domain("after", "b", where="has(node.params.a)"),
        domain("own", "net", over="nic", where="has(self.with.net)"),
    ]
    found = order(*rules)
    assert [circle.rules for circle in found.circles] == [("own",), ("p", "q", "same")]
    assert found.layers == (("after",),)


@pytest.mark.parametrize(
    "alone",
    [
        domain("r", "c", where='node.params.exists(name, name == "x")'),
        domain("r", "c", key="node.params[node.name]"),
        domain("r", "mtu", over="nic", where="size(self.with) == 0"),
        domain("r", "net", over="nic", where='"if.eth0-1" in node.params'),
        domain("r", "a", where="size(node.params.listed) == 0"),
    ],
)
def test_who_looks_at_all_looks_at_its_own(alone: Rule) -> None:
    assert [circle.rules for circle in order(alone).circles] == [("r",)]
