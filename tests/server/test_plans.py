"""Who has a part in a release: by values alone, without a server."""

from datetime import date

import pytest
from msgspec.structs import replace

from gitcfg.cli.release import format_release
from gitcfg.inventory.nodes import find_status
from gitcfg.model import Origin, Release
from gitcfg.rollout import Plan, Progress, Rollout, Status
from gitcfg.server.releases import NewRelease, make_release, observe_nodes, release_record_with_nodes
from gitcfg.server.status import LastCheckin, NodeRegistry, collect_facts
from gitcfg.server.view import Outline, OutlineHold, OutlineNode, View
from gitcfg.state.records import StoredRelease

DONE = StoredRelease("a", None, 1.0, Plan((), (0,)), Progress("a", 1.0, status=Status.DONE))


def outline(nodes: dict[str, str]) -> Outline:
    lines = {name: OutlineNode(digest, False, ()) for name, digest in nodes.items()}
    return Outline("tree", lines, frozenset(), (), Release(Origin("gitcfg.yaml")), None, {})


def test_a_held_node_has_its_turn_when_its_hold_ends() -> None:
    """Else it would get what was halted before everybody else did."""
    hold = OutlineHold("h", "busy", date(2999, 1, 1), "a", ("n1",))
    commits = {
        "a": outline({"n1": "1", "n2": "1", "n3": "1"}),
        "b": outline({"n1": "2", "n2": "2", "n3": "1"}),
    }
    view = View("b", commits, (Rollout(DONE.plan, DONE.progress),), "a", {"n1": ("a", hold)})
    release = make_release(NewRelease("b", commits["b"], view, (DONE,), 2.0), False, (), lambda _: None)
    assert set(release.plan.order) == {"n1", "n2"}
    assert view.line("n1") == commits["a"].nodes["n1"]
    halted = Rollout(release.plan, Progress("b", 2.0, status=Status.HALTED))
    second = release.plan.order[1]
    free = View("b", commits, (halted, Rollout(DONE.plan, DONE.progress)), "a")
    assert free.offer(second).commit == "a"
    assert free.line("n3") == commits["b"].nodes["n3"]


@pytest.mark.parametrize(
    ("failed", "stood"),
    [("b", "reverted"), ("same", "reverted"), ("a", "behind"), ("gone", "behind"), (None, "behind")],
)
def test_only_what_a_node_is_to_run_by_now_can_have_failed(failed: str | None, stood: str) -> None:
    commits = {"a": outline({"n1": "1"}), "same": outline({"n1": "2"}), "b": outline({"n1": "2"})}
    last = LastCheckin("key", 9.0, 1.0, "a", "0", "reverted", failed, 8.0, 0)
    view = View("b", {name: replace(each, keys={"n1": "key"}) for name, each in commits.items()})
    assert find_status(collect_facts(view, "n1", last, 10.0)) == stood


@pytest.mark.parametrize(("tree", "stood"), [("tree", "failed"), ("other", "behind")])
def test_who_walks_in_has_failed_while_git_says_the_same(tree: str, stood: str) -> None:
    now = replace(outline({}), walk_in=("g",))
    view = View("b", {"a": replace(now, tree=tree), "b": now})
    last = LastCheckin("key", 9.0, 1.0, "0", "0", "failed", "a", 8.0, 0)
    assert find_status(collect_facts(view, "guest", last, 10.0)) == stood


def test_who_is_held_does_not_keep_a_release_waiting() -> None:
    here, registry = outline({"n1": "2", "n2": "2"}), NodeRegistry()
    for name in here.nodes:
        registry.claim(name, "key", 3.0)
    release = StoredRelease("b", "a", 1.0, Plan(("n1", "n2"), (2,)), Progress("b", 1.0))
    found = release_record_with_nodes(release, observe_nodes(registry, "b", here.nodes, {"n1"}), 4.0)
    assert {what: number for what, number in found["counts"].items() if number} == {"pending": 1, "away": 1}
    over = replace(release, progress=replace(release.progress, status=Status.DONE))
    assert (
        release_record_with_nodes(over, observe_nodes(registry, "b", here.nodes, ()), 4.0)["counts"] is None
    )


@pytest.mark.parametrize(
    ("counts", "why", "said"),
    [
        ({"failed": 1}, "1 failed, the limit is 0", "; 1 failed, the limit is 0"),
        ({"well": 2, "failed": 1}, "1 failed of the 1 in stage 1", ": 2 well; 1 failed of the 1 in stage 1"),
        (
            {"failed": 1, "missing": 2},
            "1 failed and 2 missing, the limit is 2",
            "; 1 failed and 2 missing, the limit is 2",
        ),
        (
            {"failed": 11, "well": 1},
            "1 failed, the limit is 0",
            ": 11 failed, 1 well; 1 failed, the limit is 0",
        ),
        (None, "", ""),
    ],
)
def test_what_halted_a_release_is_said_once(counts: dict[str, int] | None, why: str, said: str) -> None:
    release = {"commit": "b", "status": "s", "nodes": 9, "stage": 1, "stages": [9], "offered": 9}
    assert (
        format_release(release | {"counts": counts, "why": why}) == f"b  s  stage 1 of 1, 9 of 9 nodes{said}"
    )
