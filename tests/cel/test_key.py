"""Expressions whose answer is a key: which answers are keys, here and in the child."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitcfg.cel import (
    NODE_VARIABLES,
    NODES_VARIABLES,
    OTHER_VARIABLES,
    SELF_VARIABLES,
    CelProblem,
    Truth,
    compile_condition,
    compile_key,
    plain_key,
)
from tests.seeds import TIMES

VARIABLES = {**NODE_VARIABLES, **SELF_VARIABLES, **OTHER_VARIABLES, **NODES_VARIABLES}
ROW: dict[str, Any] = {
    "node.name": "n1",
    "node.labels": ["a", "b"],
    "node.facts": {"rack": 3, "none": None, "huge": 2**70, "list": [1, [2]], "text": "x" * 2_000},
    "self.as": "eth0",
    "self.with": {"subnet": "north", "public": True},
    "self.feature": "interface",
    "other.name": "n2",
    "nodes": [{"name": "n1", "labels": ["a"]}, {"name": "n2", "labels": []}],
}
WAYS = ("{}", "[{}].filter(one, true)[0]")
"""As it is, and with a loop, which is for the child."""


def key(text: str) -> Any:
    found = compile_key(text, VARIABLES)
    return found.key({name: ROW[name] for name in found.names})


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("self.with.subnet", "north"),
        ("node.facts.rack", 3),
        ("self.with.public", Truth.TRUE),
        ("1.5", 1.5),
        ("[node.name, self.as]", ("n1", "eth0")),
        ("[1, true, 'x', 1.5]", (1, Truth.TRUE, "x", 1.5)),
        ("node.labels", ("a", "b")),
        ("dyn([])", ()),
        ("node.facts.huge", float(2**70)),
        ("net_of('10.1.2.3', 8)", "10.0.0.0/8"),
        ("size(nodes) + 0 == 2", Truth.TRUE),
    ],
)
def test_keys(way: str, text: str, expected: Any) -> None:
    found = key(way.format(text))
    assert (found, type(found)) == (expected, type(expected))
    assert hash(found) == hash(expected)


SINGLE = st.one_of(
    st.sampled_from([0, 1, 2, True, False, 0.0, -0.0, 1.0, 1.5, "1", "true", "", 2**53 + 1, 2.0**53]),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(max_size=3),
)


@settings(max_examples=100 * TIMES)
@given(SINGLE, SINGLE)
def test_keys_are_equal_where_cel_has_them_equal(one: Any, other: Any) -> None:
    equal = compile_condition("node.facts.one == node.facts.other", VARIABLES)
    found = compile_key("node.facts.found", VARIABLES)
    keys = [found.key({"node.facts": {"found": value}}) for value in (one, other)]
    assert (keys[0] == keys[1]) is equal.holds({"node.facts": {"one": one, "other": other}})
    if keys[0] == keys[1]:
        assert hash(keys[0]) == hash(keys[1])
    listed = compile_key("[node.facts.found, 0]", VARIABLES)
    both = [listed.key({"node.facts": {"found": value}}) for value in (one, other)]
    assert (both[0] == both[1]) is (keys[0] == keys[1])


def test_keys_are_read_as_json_has_them() -> None:
    assert plain_key((1, Truth.FALSE, "x")) == [1, False, "x"]
    assert plain_key(Truth.TRUE) is True
    assert plain_key(None) is None


NO_KEY = "a key is a string, int, bool, double or a list of these"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("node.facts", "the result is map(string, dyn), not a key", NO_KEY),
        ("dyn(self.with)", "the result is map(dyn, dyn), not a key", NO_KEY),
        ("node.facts.none", "the result is null, not a key", NO_KEY),
        ("1u", "the result is uint, not a key", NO_KEY),
        ("[b'x']", "the result is list(bytes), not a key", NO_KEY),
        ("node.facts.list", "the result is a list of other values, not a key", NO_KEY),
        ("dyn(nodes)", "the result is a list of other values, not a key", NO_KEY),
        ("timestamp('2026-01-01T00:00:00Z')", "the result is timestamp, not a key", NO_KEY),
        ("0.0 / 0.0", "the result is not a number, which is equal to nothing", ""),
        ("[1.5, 0.0 / 0.0]", "the result is not a number, which is equal to nothing", ""),
        ("node.facts.text", "the result is longer than 1,000 characters, too long for a key", ""),
        ("[node.facts.text]", "the result is longer than 1,000 characters, too long for a key", ""),
        ("self.with.vlan", "self.with has no 'vlan'", "ask first: has(self.with.vlan) && ..."),
    ],
)
def test_what_is_no_key_is_a_problem(way: str, text: str, message: str, hint: str) -> None:
    with pytest.raises(CelProblem) as raised:
        key(way.format(text))
    assert (raised.value.message, raised.value.hint) == (message, hint)


def test_a_text_that_reads_like_an_error_is_a_key() -> None:
    assert key("'INVALID_ARGUMENT: divide by zero'") == "INVALID_ARGUMENT: divide by zero"


@pytest.mark.parametrize("text", ["node.facts.rack", "[node.facts.rack].map(n, n)[0]"])
def test_many_rows_at_once(text: str) -> None:
    rows: list[dict[str, Any]] = [{"node.facts": {"rack": n // 10}} for n in range(250)]
    rows[7] = {"node.facts": {}}
    keys, problems = compile_key(text, VARIABLES).keys_each(rows)
    assert keys == [None if n == 7 else n // 10 for n in range(250)]
    assert list(problems) == [7]


def test_names_are_what_a_key_reads() -> None:
    assert compile_key("[self.as, other.name]", VARIABLES).names == {"self.as", "other.name"}
    assert compile_key("nodes.map(n, n.name).join('')", VARIABLES).names == {"nodes"}
    assert compile_key("nodes.map(nodes, nodes.name)", VARIABLES).names == {"nodes"}
    assert not compile_key("[1].map(nodes, nodes)", VARIABLES).names


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("self.wth.x == 1", "there is no 'self.wth.x'", "did you mean self.with?"),
        ("true && self.feture == ''", "there is no 'self.feture'", "did you mean self.feature?"),
        ("self", "there is no 'self'", "write one of self.as, self.feature, self.with"),
        ("size(node) == 1", "there is no 'node'", ""),
        ("size(nods) == 1", "there is no 'nods'", "did you mean nodes?"),
        ("other.label == []", "there is no 'other.label'", "did you mean other.labels?"),
    ],
)
def test_a_wrong_name_is_found_before_anything_is_asked(text: str, message: str, hint: str) -> None:
    with pytest.raises(CelProblem) as raised:
        compile_condition(text, VARIABLES)
    found = raised.value
    assert found.message == message
    assert found.hint.startswith(hint)
    assert text[found.column - 1 :].startswith(message.split("'")[1])
