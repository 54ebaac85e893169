"""The one word for a node: the first that is true, whatever else is."""

from itertools import product

import pytest

from gitcfg.inventory.nodes import COMMIT_STATUSES, NodeStatus, StatusFacts, find_commit_status, find_status

_FLAGS = ("described", "accepted", "retired", "held", "came", "runs", "behind", "away", "drifted")
EVERY = [
    StatusFacts(**dict(zip(_FLAGS, flags, strict=True)), outcome=outcome)
    for flags in product((False, True), repeat=len(_FLAGS))
    for outcome in (None, "ok", "unchanged", "failed", "refused", "reverted")
]


def true(node: StatusFacts) -> dict[NodeStatus, bool]:
    """Each word, and whether it is true of a node."""
    fails = node.behind and node.outcome in ("failed", "refused", "reverted")
    pending = (not node.described and not node.runs) or (node.described and node.came and not node.accepted)
    return {
        NodeStatus.GONE: not node.described and node.runs,
        NodeStatus.PENDING: pending,
        NodeStatus.RETIRED: node.retired,
        NodeStatus.NEVER: not node.came,
        NodeStatus.FAILED: node.outcome == "failed",
        NodeStatus.REFUSED: fails and node.outcome == "refused",
        NodeStatus.REVERTED: fails and node.outcome == "reverted",
        NodeStatus.AWAY: node.away,
        NodeStatus.DRIFTED: node.drifted,
        NodeStatus.HELD: node.held,
        NodeStatus.BEHIND: node.behind,
        NodeStatus.OK: True,
    }


def test_of_several_the_first_is_told() -> None:
    assert list(true(StatusFacts(True))) == list(NodeStatus)
    for node in EVERY:
        assert find_status(node) is next(word for word, holds in true(node).items() if holds), node


def test_the_course_does_not_see_what_is_true_besides() -> None:
    for node in EVERY:
        besides = (NodeStatus.RETIRED, NodeStatus.AWAY, NodeStatus.DRIFTED, NodeStatus.HELD)
        words = [word for word, holds in true(node).items() if holds and word not in besides]
        assert find_commit_status(node) is words[0], node
    assert {find_commit_status(node) for node in EVERY} == set(COMMIT_STATUSES)


@pytest.mark.parametrize("outcome", ["ok", "unchanged", None])
def test_who_came_through_with_another_commit_is_only_behind(outcome: str | None) -> None:
    node = StatusFacts(True, accepted=True, came=True, runs=True, behind=True, outcome=outcome)
    assert find_status(node) is NodeStatus.BEHIND
