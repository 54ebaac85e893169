"""The one word for a node: the first that is true, whatever else is."""

from itertools import product

import pytest

from gitcfg.inventory.standing import COURSE, Standing, Stands, course, standing

_FLAGS = ("described", "accepted", "retired", "held", "came", "runs", "behind", "away", "drifted")
EVERY = [
    Stands(**dict(zip(_FLAGS, flags, strict=True)), outcome=outcome)
    for flags in product((False, True), repeat=len(_FLAGS))
    for outcome in (None, "ok", "unchanged", "failed", "refused", "reverted")
]


def true(node: Stands) -> dict[Standing, bool]:
    """Each word, and whether it is true of a node."""
    fails = node.behind and node.outcome in ("failed", "refused", "reverted")
    pending = (not node.described and not node.runs) or (node.described and node.came and not node.accepted)
    return {
        Standing.GONE: not node.described and node.runs,
        Standing.PENDING: pending,
        Standing.RETIRED: node.retired,
        Standing.NEVER: not node.came,
        Standing.FAILED: node.outcome == "failed",
        Standing.REFUSED: fails and node.outcome == "refused",
        Standing.REVERTED: fails and node.outcome == "reverted",
        Standing.AWAY: node.away,
        Standing.DRIFTED: node.drifted,
        Standing.HELD: node.held,
        Standing.BEHIND: node.behind,
        Standing.OK: True,
    }


def test_of_several_the_first_is_told() -> None:
    assert list(true(Stands(True))) == list(Standing)
    for node in EVERY:
        assert standing(node) is next(word for word, holds in true(node).items() if holds), node


def test_the_course_does_not_see_what_is_true_besides() -> None:
    for node in EVERY:
        besides = (Standing.RETIRED, Standing.AWAY, Standing.DRIFTED, Standing.HELD)
        words = [word for word, holds in true(node).items() if holds and word not in besides]
        assert course(node) is words[0], node
    assert {course(node) for node in EVERY} == set(COURSE)


@pytest.mark.parametrize("outcome", ["ok", "unchanged", None])
def test_who_came_through_with_another_commit_is_only_behind(outcome: str | None) -> None:
    node = Stands(True, accepted=True, came=True, runs=True, behind=True, outcome=outcome)
    assert standing(node) is Standing.BEHIND
