"""What dies in the middle of a deploy: the deploy itself, a node's end, the line; and two at once."""

import json
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.site import Server, until
from tests.system.sshd_fleet import FarFleet, far_fleet
from tests.system.sshd_node import busy
from tests.system.terminal import Terminal

pytestmark = pytest.mark.slow
STEPS = ("validate", "restart", "check")


@pytest.fixture
def three(tmp_path: Path) -> Iterator[FarFleet]:
    with far_fleet(tmp_path, 3) as fleet:
        yield fleet


def settled(fleet: FarFleet, label: str) -> None:
    """All nodes run with a label, in all that there is of them, and nothing is half done."""
    for node in fleet.nodes.values():
        assert node.runs == label, node.name
        assert label in node.files["50-params.config"]
        assert not (node.state / "journal").exists()


@pytest.mark.parametrize("verb", STEPS)
def test_a_deploy_that_is_killed_can_be_gone_on_with(three: FarFleet, verb: str) -> None:
    order = three.order()
    node = three.nodes[order[1]]
    gate = node.daemon.block(verb)
    running = three.start("-o", "jsonl", "--jobs", "1")
    node.daemon.asked(verb)
    running.kill()
    done = three.over(running)
    assert [line["node"] for line in done.lines] == [order[0]]
    # What had begun goes on without anybody who listens; who had not begun is as before.
    gate.unlink()
    node.rests()
    until(lambda: node.runs == "zero")
    assert three.nodes[order[2]].asked == []
    told = three.call("deploys").out
    assert "broken off" in told, told
    done = three.deploy("-o", "json", "--resume", "last")
    assert three.outcomes(done) == {order[1]: "unchanged", order[2]: "ok"}, done.err
    settled(three, "zero")


@pytest.mark.parametrize("verb", STEPS)
@pytest.mark.parametrize("first", [True, False], ids=["at first", "over another"])
def test_the_far_end_is_killed(three: FarFleet, verb: str, first: bool) -> None:
    node = three.nodes["n1"]
    if not first:
        three.deploy()
        node.daemon.verbs()
    three.own("n1", LABEL="one", MEMORY="2048")
    gate = node.daemon.block(verb)
    running = three.start("-o", "json", "n1")
    node.daemon.asked(verb)
    assert node.kill_installation() > 0
    done = three.over(running)
    assert (done.code, three.outcomes(done)) == (3, {"n1": "lost"}), done.err
    gate.unlink()
    done = three.deploy("-o", "json", "n1")
    assert (done.code, three.outcomes(done)) == (0, {"n1": "ok"}), done.err
    assert (node.runs, node.daemon.values["MEMORY"]) == ("one", "2048")
    assert not (node.state / "journal").exists()


@pytest.mark.parametrize("verb", STEPS)
def test_the_line_is_cut(three: FarFleet, verb: str) -> None:
    node = three.nodes["n2"]
    gate = node.daemon.block(verb)
    running = three.start("-o", "json", "--jobs", "3")
    node.daemon.asked(verb)
    assert node.cut() == 1
    done = three.over(running)
    assert (done.code, three.outcomes(done)) == (3, {"n1": "ok", "n2": "lost", "n3": "ok"}), done.err
    (one,) = [one for one in done.summary["nodes"] if one["node"] == "n2"]
    assert "the next deploy" in one["hint"]
    gate.unlink()
    node.rests()
    done = three.deploy("-o", "json", "--resume", "last")
    assert (done.code, three.outcomes(done)) == (0, {"n2": "unchanged"}), done.err
    settled(three, "zero")


def test_of_two_at_once_one_waits(three: FarFleet) -> None:
    gates = [node.daemon.block("restart") for node in three.nodes.values()]
    first = three.start("-o", "json")
    for node in three.nodes.values():
        node.daemon.asked("restart")
    second = three.start("-o", "json")
    until(lambda: all(len(node.asked) == 2 for node in three.nodes.values()))
    for gate in gates:
        gate.unlink()
    done = [three.over(process) for process in (first, second)]
    assert [three.outcomes(one) for one in done] == [
        dict.fromkeys(three.nodes, "ok"),
        dict.fromkeys(three.nodes, "unchanged"),
    ]
    settled(three, "zero")


def test_who_waits_too_long_finds_the_node_busy(three: FarFleet) -> None:
    node = three.nodes["n1"]
    gate = node.daemon.block("restart")
    first = three.start("-o", "json", "n1")
    node.daemon.asked("restart")
    done = three.deploy("-o", "json", "n1")
    assert (done.code, three.outcomes(done)) == (3, {"n1": "busy"}), done.err
    assert "gitcfg deploy of" in str(done.summary["nodes"])
    gate.unlink()
    assert three.outcomes(three.over(first)) == {"n1": "ok"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_begins_nobody_else_and_lets_who_began_finish(three: FarFleet, number: signal.Signals) -> None:
    order = three.order()
    node = three.nodes[order[0]]
    gate = node.daemon.block("restart")
    running = three.start("-o", "json", "--jobs", "1")
    node.daemon.asked("restart")
    running.send_signal(number)
    for _ in range(20):
        time.sleep(0.05)
        assert running.poll() is None
    gate.unlink()
    done = three.over(running)
    found = dict(zip(order, ("ok", "skipped", "skipped"), strict=True))
    assert (done.code, three.outcomes(done)) == (130, found), done.err
    assert done.summary["ended"] == "interrupted"
    done = three.deploy("-o", "json", "--resume", "last")
    assert three.outcomes(done) == dict.fromkeys(order[1:], "ok")
    settled(three, "zero")


@pytest.mark.parametrize("output", ["json", "jsonl"])
def test_programs_are_told_of_ctrl_c_and_of_the_end_on_stderr(three: FarFleet, output: str) -> None:
    """Lines are of one node each, so that nothing else would say how it ended."""
    node = three.nodes[three.order()[0]]
    gate = node.daemon.block("restart")
    running = three.start("-o", output, "--jobs", "1")
    node.daemon.asked("restart")
    running.send_signal(signal.SIGINT)
    time.sleep(0.3)
    gate.unlink()
    done = three.over(running)
    said = "No other node starts; running ones finish. Ctrl-C again abandons them."
    assert (done.code, done.err.count(said)) == (130, 1), done.err
    ended = "3 nodes: 1 ok, 2 skipped. The deploy was interrupted. Commit "
    assert (ended in done.err) == (output == "jsonl"), done.err


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_a_terminal_that_is_closed_is_one_ctrl_c(three: FarFleet) -> None:
    """The shell and the system both say so, and nothing can be shown any more; the server is told."""
    order = three.order()
    node = three.nodes[order[0]]
    gate = node.daemon.block("restart")
    with Server(three) as server:
        server.accepted(three.head())
        terminal = Terminal(three.work, three.environment)
        terminal.type(three.line("--jobs", "1", "--server", server.url, "--token", server.token()))
        node.daemon.asked("restart")
        until(lambda: b"restart poold" in terminal.shown)
        terminal.close()
        time.sleep(0.5)
        assert busy(node.state / "lock")
        gate.unlink()

        def last() -> dict[str, Any]:
            found: dict[str, Any] = json.loads(three.call("deploys", "-o", "json").out)["deploys"][0]
            return found

        until(lambda: last()["ended"] != "running")
        assert (last()["ended"], last()["counts"]) == ("interrupted", {"skipped": 2, "ok": 1})
        until(lambda: last()["told"] is not None)
    assert node.runs == "zero"


def test_hangups_are_no_second_ctrl_c(three: FarFleet) -> None:
    """Nor the first of two; whoever says SIGTERM after one means it."""
    order = three.order()
    node = three.nodes[order[0]]
    gate = node.daemon.block("restart")
    running = three.start("-o", "json", "--jobs", "1")
    node.daemon.asked("restart")
    for number in (signal.SIGHUP, signal.SIGHUP, signal.SIGHUP):
        running.send_signal(number)
        time.sleep(0.3)
        assert running.poll() is None
    running.send_signal(signal.SIGTERM)
    done = three.over(running)
    found = dict(zip(order, ("lost", "skipped", "skipped"), strict=True))
    assert (done.code, three.outcomes(done)) == (130, found), done.err
    gate.unlink()
    node.rests()
    assert node.runs == "zero"


def test_ctrl_c_twice_leaves_those_at_work_and_says_so(three: FarFleet) -> None:
    order = three.order()
    node = three.nodes[order[0]]
    gate = node.daemon.block("restart")
    running = three.start("--jobs", "1")
    node.daemon.asked("restart")
    running.send_signal(signal.SIGINT)
    assert running.stderr is not None
    heard = [running.stderr.readline()]  # two signals that come too soon are one
    while heard[-1] and "interrupted" not in heard[-1]:
        heard.append(running.stderr.readline())
    running.send_signal(signal.SIGINT)
    done = three.over(running)
    assert done.code == 130, (heard, done.err)
    assert f"lost 1 node: {order[0]}\n" in done.out
    assert "the next deploy" in done.out
    assert "skipped 2 nodes: " in done.out
    gate.unlink()
    node.rests()
    done = three.deploy("-o", "json", "--resume", "last")
    assert three.outcomes(done) == {order[0]: "unchanged", **dict.fromkeys(order[1:], "ok")}
