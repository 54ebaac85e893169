"""Either end of a deploy over real sshds is killed before any of the things that it does.

Whatever dies, a node is of one commit and never of two, what was in force stays so until all of another is,
and who comes next is told what became of it.
"""

import itertools
import json
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.seeds import TIMES
from tests.system.node import CONFIG
from tests.system.sshd_fleet import FILES, FarFleet, far_fleet
from tests.system.sshd_node import FarNode

TWIN = {
    "features/Pool.yaml": f"{FILES['features/Pool.yaml']}  {CONFIG}/60-twin.config: {{template: twin.j2}}\n",
    "templates/twin.j2": "TWIN = {{ params.LABEL }}\n",
}
NEAR = Path(__file__).with_name("near_dying.py")
MANY, FEW = 40, 6
INTERRUPTED = "was interrupted here"


@pytest.fixture
def fleet(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[FarFleet]:
    with far_fleet(tmp_path, request.param) as made:
        made.change(TWIN)
        yield made


def whole(node: FarNode, *labels: str) -> str:
    """The one commit that a node is of, by its label: what stands, what runs, and all that ever ran."""
    assert all(load.values["LABEL"] == load.values["TWIN"] for load in node.daemon.loads), node.name
    said = {text.split("LABEL = ")[-1].split("TWIN = ")[-1].split()[0] for text in node.files.values()}
    assert len(said) == 1, (node.name, node.files)
    assert said == {node.runs}
    assert said <= set(labels)
    left = {file.name for file in node.state.iterdir()} - {
        "lock",
        "report.json",
        "installed.json",
        "far",
        "kept",
    }
    assert not left
    return said.pop()


def things(fleet: FarFleet) -> list[str]:
    """What a far end does to bring a node from what stands there to the last commit, and back again."""
    node = fleet.nodes["n1"]
    node.dies(-1)
    assert fleet.outcomes(fleet.deploy("-o", "json", "n1")) == {"n1": "ok"}
    found = node.did
    node.lives()
    return found


def killed(fleet: FarFleet, points: Sequence[int], old: str, new: str) -> int:
    """Far ends die at these points, each on a node of its own; then half of them go on, and half go back."""
    nodes = dict(zip(points, fleet.nodes.values(), strict=False))
    for at, node in nodes.items():
        node.dies(at)
    before = fleet.head()
    fleet.change(LABEL=new)
    names = [node.name for node in nodes.values()]
    done = fleet.deploy("-o", "json", *names)
    outcomes = fleet.outcomes(done)
    assert set(outcomes.values()) <= {"lost", "ok"}, done.out
    # Until its journal has a line an installation has not begun.
    journals = {node.name: node.state / "journal" for node in nodes.values()}
    interrupted = {name for name, file in journals.items() if file.exists() and file.read_bytes()}
    assert interrupted <= {name for name, word in outcomes.items() if word == "lost"}
    for node in nodes.values():
        node.lives()
    halves = names[::2], names[1::2]
    for some, commit, label in zip(halves, (fleet.head(), before), (new, old), strict=True):
        done = fleet.deploy("-o", "json", "--at", commit, *some)
        told = {one["node"]: (one["outcome"], one["output"]) for one in done.summary["nodes"]}
        assert done.code == 0, told
        assert {name for name, (_, text) in told.items() if INTERRUPTED in text} == interrupted & set(some)
        assert {whole(fleet.nodes[name], label) for name in some} == {label}
    fleet.deploy(*names)
    for node in nodes.values():
        node.daemon.verbs()
    return list(outcomes.values()).count("lost")


def begun(fleet: FarFleet) -> list[str]:
    """All nodes stand somewhere; what it takes to bring them elsewhere."""
    assert fleet.deploy().code == 0
    fleet.change(LABEL="first")
    found = things(fleet)
    assert fleet.deploy().code == 0
    return found


@pytest.mark.slow
@pytest.mark.parametrize("fleet", [FEW], indirect=True)
def test_the_far_end_dies_at_some_points(fleet: FarFleet) -> None:
    most = len(begun(fleet))
    assert killed(fleet, range(most // 12, most, most // FEW), "first", "second") >= FEW - 1


@pytest.mark.slow
@pytest.mark.parametrize("fleet", [MANY], indirect=True)
def test_the_far_end_dies_at_every_point(fleet: FarFleet) -> None:
    found = begun(fleet)
    assert {"rename", "sync", "append_to", "os.fork", "subprocess.Popen", "_write"} <= set(found)
    label, deaths = "first", 0
    for number, first in enumerate(range(0, len(found), MANY)):
        points = range(first, min(len(found), first + MANY))
        deaths += killed(fleet, points, label, f"label{number}")
        label = f"label{number}"
    assert deaths >= len(found) - 5  # the last things are done when all is said


@pytest.mark.slow
@pytest.mark.parametrize("fleet", [MANY], indirect=True)
def test_the_far_end_dies_where_nothing_was_before(fleet: FarFleet) -> None:
    """Each node for the first time: then there is nothing, or all of it."""
    most = len(things(fleet))
    nodes = [node for node in fleet.nodes.values() if node.name != "n1"]
    for number, node in enumerate(nodes):
        node.dies(number * most // len(nodes))
    words = fleet.outcomes(fleet.deploy("-o", "json"))
    assert list(words.values()).count("lost") > len(nodes) // 2
    for node in nodes:
        node.lives()
    assert fleet.deploy("-o", "json").code == 0
    assert {whole(node, "zero") for node in fleet.nodes.values()} == {"zero"}


def near(fleet: FarFleet, at: int, label: str, old: str) -> bool:
    """The deploy dies at a point; whether it did. All nodes are whole then, and the next one goes on."""
    did = fleet.folder / "did"
    did.unlink(missing_ok=True)
    fleet.change(LABEL=label)
    usual, fleet.program = fleet.program, (sys.executable, str(NEAR), str(at), str(did))
    done = fleet.deploy("-o", "jsonl")
    fleet.program = usual
    assert done.code in (0, -signal.SIGKILL), done.err
    for node in fleet.nodes.values():
        node.rests()
        whole(node, label, old)
    told = {line["node"] for line in done.lines}
    if done.code:
        (last, *_) = json.loads(fleet.call("deploys", "-o", "json").out)["deploys"]
        recorded = last["target"] == fleet.head()
        assert last["ended"] in ("broken off", "done")
        resumed = ("--resume", "last") if recorded and last["ended"] != "done" else ()
        again = fleet.deploy("-o", "json", *resumed)
        assert set(fleet.outcomes(again).values()) <= {"ok", "unchanged"}, again.out
        assert not resumed or set(fleet.outcomes(again)).isdisjoint(told)
    assert {whole(node, label) for node in fleet.nodes.values()} == {label}
    return bool(done.code)


@pytest.mark.parametrize("fleet", [2], indirect=True)
def test_the_near_end_dies_at_some_points(fleet: FarFleet) -> None:
    assert fleet.deploy().code == 0
    assert near(fleet, 8, "one", "zero")
    assert near(fleet, 17, "two", "one")


@pytest.mark.slow
@pytest.mark.parametrize("fleet", [2], indirect=True)
def test_the_near_end_dies_at_every_point(fleet: FarFleet) -> None:
    assert fleet.deploy().code == 0
    old = "zero"
    for at in itertools.count(0, max(1, 2 // TIMES)):
        died = near(fleet, at, f"label{at}", old)
        if not died:
            break
        old = f"label{at}"
    assert at > 20
