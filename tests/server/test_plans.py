"""Who has a part in a release: by values alone, without a server."""

from datetime import date

from gitcfg.model import Origin, Release
from gitcfg.rollout import Plan, Progress, Rollout, Status
from gitcfg.server.outline import Held, Line, Outline
from gitcfg.server.releases import Begun, begun_release
from gitcfg.server.view import View
from gitcfg.state import StoredRelease

DONE = StoredRelease("a", None, 1.0, Plan((), (0,)), Progress("a", 1.0, status=Status.DONE))


def outline(nodes: dict[str, str]) -> Outline:
    lines = {name: Line(digest, False, ()) for name, digest in nodes.items()}
    return Outline("tree", lines, frozenset(), (), Release(Origin("gitcfg.yaml")), None, {})


def test_a_held_node_has_its_turn_when_its_hold_ends() -> None:
    """Else it would get what was halted before everybody else did."""
    hold = Held("h", "busy", date(2999, 1, 1), "a", ("n1",))
    commits = {
        "a": outline({"n1": "1", "n2": "1", "n3": "1"}),
        "b": outline({"n1": "2", "n2": "2", "n3": "1"}),
    }
    view = View("b", commits, (Rollout(DONE.plan, DONE.progress),), "a", {"n1": ("a", hold)})
    release = begun_release(Begun("b", commits["b"], view, (DONE,), 2.0), False, (), lambda _: None)
    assert set(release.plan.order) == {"n1", "n2"}
    assert view.line("n1") == commits["a"].nodes["n1"]
    halted = Rollout(release.plan, Progress("b", 2.0, status=Status.HALTED))
    second = release.plan.order[1]
    free = View("b", commits, (halted, Rollout(DONE.plan, DONE.progress)), "a")
    assert free.offer(second).commit == "a"
    assert free.offer("n3").commit == "b"
