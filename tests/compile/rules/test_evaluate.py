"""Expressions are asked once of what looks alike to them, and answer as if each had been asked."""

from typing import Any

import pytest

from gitcfg.cel import NODE_VARIABLES, SELF_VARIABLES, Budget, Condition, compile_condition, compile_key
from gitcfg.compile.nodes import define_node
from gitcfg.compile.rules.evaluate import (
    Candidate,
    Unit,
    Where,
    ask_condition,
    ask_keys,
    group_alike,
    read_values,
)
from gitcfg.compile.rules.slots import view_rules
from gitcfg.model import Binding, Fact, ListEdit, Node, Op, Origin, Ref
from gitcfg.model.rules import RuleKind
from tests.compile.rules.fleets import fleet
from tests.compile.rules.written import rule

AT = Origin("x.yaml", 1, 1)
KNOWN = {**NODE_VARIABLES, **SELF_VARIABLES}


def node(name: str, facts: dict[str, Any], features: str = "", labels: str = "", **given: Any) -> Candidate:
    refs = tuple(Ref(label, AT) for label in labels.split())
    known = {key: Fact(value) for key, value in facts.items()}
    own = Node(name, AT, facts=known, labels=ListEdit(Op.SET, refs))
    attributes = {key: Binding(Op.SET, value, None, AT, AT) for key, value in given.items()}
    unit = Unit("interface", "eth0", attributes)
    return Candidate(name, define_node(own, None), frozenset(features.split()), unit)


NODES = (
    node("a", {"rack": 1, "serial": "A"}, "web", "x", subnet="s1"),
    node("b", {"rack": 1, "serial": "B"}, "web mail", "x", subnet="s1", mtu=9000),
    node("c", {"rack": 1.0}, "", "x y", subnet="s2"),
    node("d", {"rack": True}, "web", "", subnet="s1"),
    node("e", {}, "mail", "", mtu=9000),
    node("f", {"rack": None}),
    node("g", {"rack": [1, 2], "serial": "A"}, "web", "x", subnet="s1"),
    node("h", {"rack": [2, 1], "other": 1}, "web", "x", subnet="s1"),
)
SORTS = {
    '"web" in node.features': 2,
    "size(node.features) > 1": 4,
    '"x" in node.labels': 3,
    "node.facts.rack == 1": 7,
    "has(node.facts.serial)": 3,
    "size(node.facts) == 1": 8,
    'self.with.subnet == "s1"': 3,
    'self.as == "eth0" && self.feature == "interface"': 1,
    'node.name < "c"': 8,
    "node.facts.rack[0] == 1": 7,
}


@pytest.mark.parametrize("text", SORTS)
def test_a_condition_is_asked_once_of_each_sort_and_answers_for_every_node(text: str) -> None:
    condition = compile_condition(text, KNOWN)
    found = ask_condition(Where(condition, None), NODES, Budget())
    each = {seen.slot: _alone(condition, seen) for seen in NODES}
    assert [seen.slot for seen in found.holding] == [slot for slot, answer in each.items() if answer is True]
    assert {slot: problem.args for slot, problem in found.failed.items()} == {
        slot: answer for slot, answer in each.items() if not isinstance(answer, bool)
    }
    assert len(group_alike(condition, NODES).firsts) == SORTS[text]


def _alone(condition: Condition, seen: Candidate) -> Any:
    holds, problems = condition.holds_each([read_values(condition, seen)])
    return problems[0].args if problems else holds[0]


@pytest.mark.parametrize("text", ["node.facts.rack", "self.with.subnet", "node.facts.serial", "node.labels"])
def test_a_key_is_that_of_each(text: str) -> None:
    expression = compile_key(text, KNOWN)
    keys, problems = ask_keys(expression, NODES, Budget())
    rows = [read_values(expression, seen) for seen in NODES]
    wanted, wrong = expression.keys_each(rows)
    assert [(type(key), key) for key in keys] == [(type(key), key) for key in wanted]
    assert {row: problem.args for row, problem in problems.items()} == {
        row: problem.args for row, problem in wrong.items()
    }


def test_values_of_one_class_are_read_once() -> None:
    def params() -> dict[str, Any]:
        return {"port": 80}

    condition = compile_condition("node.params.port == 80", KNOWN)
    nodes = [Candidate(name, NODES[0].definition, frozenset(), None, params) for name in "ab"]
    assert len(group_alike(condition, nodes).firsts) == 1
    assert len(ask_condition(Where(condition, None), nodes, Budget()).holding) == 2


def test_nodes_of_one_class_look_alike_by_their_values() -> None:
    files = {
        "parameters/p": "parameters: {p: {}}",
        "groups/g": "params: {p: 1}",
        "nodesets/s": "nodes: s[1-9]",
    }
    members = {f"nodes/n{number}": "groups: [g]" for number in range(4)}
    wanted = rule("high", RuleKind.REQUIRE, require=Ref("true", AT), where="has(node.params.p)")
    found = view_rules(fleet({**files, **members}, wanted))
    assert found is not None
    slots = found.slots("high")
    assert [seen.name for seen in slots] == ["n0", "n1", "n2", "n3"]
    assert len({id(seen.params) for seen in slots}) == 1
