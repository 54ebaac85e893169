"""A rule's expressions end within its budget, whatever they are and however many nodes are asked."""

import time
from typing import Any

import pytest

from gitcfg.cel import (
    NODE_VARIABLES,
    NODES_VARIABLES,
    Budget,
    CelStopped,
    compile_condition,
    compile_key,
    expression,
)
from gitcfg.sandbox import Guard, Limits
from gitcfg.sandbox.guard import Child, start

BIG = {"a": ["x"] * 20_000, "b": ["y"] * 20_000}
LONG_LIST = "[" + ", ".join(["1"] * 90) + "]"
HOSTILE = {
    "here": " && ".join(["node.params == node.params"] * 30),
    "in the child": f"{LONG_LIST}.all(x, {LONG_LIST}.all(y, x == y)) && node.params == node.params",
    "at once in the child": f"{LONG_LIST}.all(x, sets.contains(node.params.a, node.params.b))",
}
SPENT = "the expression takes more than 0.25 s of the processor's time, and 0.2 ms more for each node"
NODE = {"name": "n", "params": {f"p{number}": "x" * 20 for number in range(20)}}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_ten_thousand_nodes_end_within_it(name: str) -> None:
    condition = compile_condition(HOSTILE[name], NODE_VARIABLES)
    rows: list[dict[str, Any]] = [{"node.params": BIG}] * 10_000
    with pytest.raises(CelStopped) as raised:
        condition.holds_each(rows, Budget(0.25))
    assert raised.value.message == SPENT


@pytest.mark.slow
def test_what_is_asked_of_each_of_many_groups_counts_them_once() -> None:
    """Else so many nodes in so many groups would be given time by the square."""
    nodes = [NODE] * 500
    condition = compile_condition("nodes == nodes", NODES_VARIABLES)
    with pytest.raises(CelStopped, match="of the processor"):
        condition.holds_each([{"nodes": nodes}] * 10_000, Budget(0.1))


def test_it_grows_with_what_is_asked() -> None:
    condition = compile_condition('"server" in node.labels', NODE_VARIABLES)
    labels = ["rack", "server"]
    budget = Budget(0.01)
    for _ in range(4):
        assert condition.holds_each([{"node.labels": labels}] * 2_000, budget)[0] == [True] * 2_000
    assert budget.left > 0.01


def test_waiting_takes_nothing_of_it() -> None:
    budget = Budget(0.05)
    with budget.spending():
        time.sleep(0.1)
    assert budget.left > 0.04


def test_one_budget_is_for_all_that_a_rule_asks() -> None:
    budget = Budget(10)
    rows = [{"node.name": "n"}] * 4
    condition = compile_condition("node.name == 'n'", NODE_VARIABLES)
    assert condition.holds_each(rows, budget)[0] == [True] * 4
    with pytest.raises(CelStopped, match="more than 10 s"):
        budget.spend(11)
    with pytest.raises(CelStopped, match="more than 10 s"):
        compile_key("node.name", NODE_VARIABLES).keys_each(rows * 2, budget)
    with pytest.raises(CelStopped, match="more than 10 s"):
        condition.holds({"node.name": "n"}, budget)


def test_whatever_stops_an_expression_is_said_from_then_on() -> None:
    budget = Budget()
    with pytest.raises(CelStopped, match="512 MiB"):
        compile_condition("lists.range(100000000).size() == 1", {}).holds({}, budget)
    with pytest.raises(CelStopped, match="512 MiB"):
        compile_condition("node.name == 'n'", NODE_VARIABLES).holds({"node.name": "n"}, budget)


def test_the_child_is_not_asked_without_time() -> None:
    condition = compile_condition("[1].all(x, x == 1)", {})
    with pytest.raises(CelStopped, match="more than 0 s"):
        condition.holds({}, Budget(0.0))
    assert condition.holds({})


def test_all_nodes_as_one_list_have_the_time_of_all_of_them() -> None:
    for text in ("nodes.all(n, n.name == 'n')", f"size(nodes) == 2000 // {'x' * 200}", "size(nodes) == 2000"):
        assert compile_condition(text, NODES_VARIABLES).holds({"nodes": [NODE] * 2_000}, Budget(0.1))


def test_nodes_with_much_to_read_are_asked_few_at_a_time() -> None:
    condition = compile_condition("node.params.exists(name, name == 'p9')", NODE_VARIABLES)
    rows = [{"node.params": {f"p{number}": "x" for number in range(4_000)}}] * 100
    assert condition.holds_each(rows, Budget(0.5))[0] == [True] * 100


def test_the_start_of_a_child_takes_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = 0.7

    def slowly(module: str, limits: Limits) -> Child:
        time.sleep(slow)
        return start(module, limits)

    monkeypatch.setattr("gitcfg.sandbox.guard.start", slowly)
    condition = compile_condition("[node.name].all(x, x == 'n')", NODE_VARIABLES)
    with Guard("gitcfg.cel.child") as fresh:
        monkeypatch.setattr(expression, "_guard", lambda of_nodes: fresh)
        assert condition.holds_each([]) == ([], {})
        assert fresh.pid is None
        assert condition.holds({"node.name": "n"}, Budget(slow / 2))
