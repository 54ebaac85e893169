"""A rule's expressions end within its budget, whatever they are and however many nodes are asked."""

import time
from typing import Any

import pytest

from gitcfg.cel import (
    NODE_VARIABLES,
    NODES_VARIABLES,
    Budget,
    CelProblem,
    compile_condition,
    compile_key,
    expression,
)
from gitcfg.guard import Guard, Limits
from gitcfg.guard.process import Child, start

BIG = {"a": ["x"] * 20_000, "b": ["y"] * 20_000}
LONG_LIST = "[" + ", ".join(["1"] * 90) + "]"
HOSTILE = {
    "here": " && ".join(["node.params == node.params"] * 30),
    "in the child": f"{LONG_LIST}.all(x, {LONG_LIST}.all(y, x == y)) && node.params == node.params",
    "at once in the child": f"{LONG_LIST}.all(x, sets.contains(node.params.a, node.params.b))",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_ten_thousand_nodes_end_within_it(name: str) -> None:
    condition = compile_condition(HOSTILE[name], NODE_VARIABLES)
    rows: list[dict[str, Any]] = [{"node.params": BIG}] * 10_000
    begun = time.monotonic()
    with pytest.raises(CelProblem) as raised:
        condition.holds_each(rows, Budget(0.25))
    assert raised.value.message == "the expression takes longer than 0.25 s for all nodes"
    assert time.monotonic() - begun < 5


def test_one_budget_is_for_all_that_a_rule_asks() -> None:
    now = iter(range(100))
    budget = Budget(10, lambda: float(next(now)))
    rows = [{"node.name": "n"}] * 4
    # Each row looks at the clock once, and so does each question before and after.
    condition, key = (
        compile_condition("node.name == 'n'", NODE_VARIABLES),
        compile_key("node.name", NODE_VARIABLES),
    )
    assert condition.holds_each(rows, budget)[0] == [True] * 4
    with pytest.raises(CelProblem, match="longer than 10 s"):
        key.keys_each(rows * 2, budget)
    with pytest.raises(CelProblem, match="longer than 10 s"):
        condition.holds({"node.name": "n"}, budget)


def test_the_child_is_not_asked_without_time() -> None:
    condition = compile_condition("[1].all(x, x == 1)", {})
    with pytest.raises(CelProblem, match="longer than 0 s"):
        condition.holds({}, Budget(0.0))
    assert condition.holds({})


def test_what_is_asked_of_all_nodes_as_one_list_may_take_as_long_as_a_rule() -> None:
    node = {"name": "n", "params": {f"p{number}": "x" * 20 for number in range(20)}}
    for text in ("nodes.all(n, n.name == 'n')", f"size(nodes) == 2000 // {'x' * 200}", "size(nodes) == 2000"):
        assert compile_condition(text, NODES_VARIABLES).holds({"nodes": [node] * 2_000})


def test_the_start_of_a_child_takes_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = 0.7

    def slowly(module: str, limits: Limits) -> Child:
        time.sleep(slow)
        return start(module, limits)

    monkeypatch.setattr("gitcfg.guard.guard.start", slowly)
    condition = compile_condition("[node.name].all(x, x == 'n')", NODE_VARIABLES)
    with Guard("gitcfg.cel.child") as fresh:
        monkeypatch.setattr(expression, "_guard", lambda of_nodes: fresh)
        assert condition.holds_each([]) == ([], {})
        assert fresh.pid is None
        assert condition.holds({"node.name": "n"}, Budget(slow / 2))
