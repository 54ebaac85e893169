"""What an expression asks of a map is found, and what may look at more is not taken for less."""

import pytest

from gitcfg.cel import NODE_VARIABLES, SELF_VARIABLES, compile_condition, find_fields

FACTS = "node.facts"
SURE = {
    'node.facts.rack == "r1"': {"rack"},
    ' node . facts . rack  ==\n "r1"': {"rack"},
    'node.facts["rack"] == "r1"': {"rack"},
    "has(node.facts.rack)": {"rack"},
    '"rack" in node.facts': {"rack"},
    'has(node.facts.rack) && node.facts.rack == node.facts["row"]': {"rack", "row"},
    'node.facts.rack.unit == 1 && node.facts["a b"].c[0] == 2': {"rack", "a b"},
    "node.facts.units.exists(u, u > node.facts.least)": {"units", "least"},
    '.node.facts.rack == "r1"': {"rack"},
    'has(node.facts.rack) ? node.facts.rack == "a" : "facts" in node.features': {"rack"},
    'node.name == "node.facts"': set(),
    '{"facts": 1}["facts"] == 1': set(),
}
UNSURE = (
    "size(node.facts) > 1",
    "node.facts.exists(f, f == 'a')",
    "node.facts[node.name] == 1",
    "node.name in node.facts",
    'node.facts["ra" + "ck"] == 1',
    'node.facts == {"rack": "r1"}',
    '{"a": node.facts}["a"].rack == "r1"',
    "dyn(node.facts).rack == 1",
    'node.facts.rack == "r1" && size(node.facts) == 1',
    '[{"facts": {"rack": 1}}].exists(node, node.facts.rack == 1)',
)


@pytest.mark.parametrize("text", SURE)
def test_the_keys_that_an_expression_looks_for_are_found(text: str) -> None:
    assert find_fields(compile_condition(text, NODE_VARIABLES), FACTS) == frozenset(SURE[text])


@pytest.mark.parametrize("text", UNSURE)
def test_what_may_look_at_more_is_not_taken_for_one_that_does_not(text: str) -> None:
    condition = compile_condition(text, NODE_VARIABLES)
    assert FACTS not in condition.names or find_fields(condition, FACTS) is None


def test_other_maps_are_asked_apart() -> None:
    text = "self.with.subnet == node.facts.subnet && self.with.role == 1"
    condition = compile_condition(text, {**NODE_VARIABLES, **SELF_VARIABLES})
    assert find_fields(condition, "self.with") == frozenset({"subnet", "role"})
    assert find_fields(condition, FACTS) == frozenset({"subnet"})
