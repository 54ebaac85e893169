"""What was deployed from here: listed, shown by node, told to a server, and known to the inventory."""

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from gitcfg.cli.deploys import send_unsent_runs
from gitcfg.cli.main import run
from gitcfg.cli.records import ITEMS
from gitcfg.cli.server_state import StateQuery
from gitcfg.deploy.records import NodeDone, Recorder, Run, runs_folder
from gitcfg.library import open as opened
from gitcfg.state.records import Checkin
from gitcfg.state.state import State, connect
from tests.cli.published import judge

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "groups/g.yaml": "description: g\nfiles: {/etc/f: {text: one}}\n",
    "nodesets/n.yaml": "nodes: n[1-5]\ngroups: [g]\n",
}
FIRST, SECOND, THIRD = "1pkd3a0aaa", "1pkd3a1bbb", "1pkd3a2ccc"


class Pool:
    """A repository, from which three deploys were made: one done, one broken off, one still at work."""

    def __init__(self, place: Path) -> None:
        self.place, self.folder = place, runs_folder(place / ".git")
        for path, text in FILES.items():
            (place / path).parent.mkdir(exist_ok=True)
            (place / path).write_text(text)
        self.git("init", "--quiet", "-b", "main")
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", "one")
        self.commit, self.now = self.git("rev-parse", "HEAD"), time.time()
        with opened(place).at(self.commit) as fleet:
            self.digest = fleet["n1"].digest

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=n", "-c", "user.email=e@example.org")
        command = ["git", *who, *words]
        done = subprocess.run(command, cwd=self.place, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def well(self, node: str, outcome: str = "ok", **more: Any) -> NodeDone:
        return NodeDone(node, outcome, "", "", 1.0, 2, self.commit, self.digest, **more)

    def begun(self, ident: str, nodes: tuple[str, ...], ago: float, **more: Any) -> Recorder:
        clock = iter(self.now - ago + number for number in range(100))
        found = Recorder(self.folder, lambda: next(clock))
        found.begun(
            Run(ident, self.commit, "alice@desk", more.pop("reason", ""), self.now - ago, nodes, **more)
        )
        return found


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pool:
    for name in ("GITCFG_REPO", "GITCFG_DATABASE", "GITCFG_STATE", "GITCFG_SERVER", "GITCFG_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return Pool(tmp_path)


@pytest.fixture
def deployed(pool: Pool) -> Pool:
    first = pool.begun(FIRST, ("n1", "n2", "n3"), 7200.0, reason="a fire\x1b[31m")
    first.node(pool.well("n1"))
    first.node(NodeDone("n2", "reverted", "check f", "it said\nno\x1b[2J", 3.0, commit=None))
    first.node(NodeDone("n3", "unreachable", output="nobody answers"))
    first.ended("limit")
    second = pool.begun(SECOND, ("n2", "n3"), 3600.0, resumes=FIRST)
    second.node(pool.well("n2", "unchanged"))
    second.close()
    return pool


@pytest.fixture
def state(pool: Pool) -> State:
    (pool.place / ".git/gitcfg-server").mkdir()
    return connect(f"sqlite:///{pool.place}/.git/gitcfg-server/state.db")


def told(capfd: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert run(words) == code
    return capfd.readouterr().out


def test_the_last_ones_are_listed(deployed: Pool, capfd: pytest.CaptureFixture[str]) -> None:
    going = deployed.begun(THIRD, ("n4", "n5"), 320.0)
    going.node(deployed.well("n4"))
    lines = told(capfd, "deploys").splitlines()
    assert [" ".join(line.split()) for line in lines] == [
        "deploy when who commit ended nodes",
        f"{THIRD} 5 min ago alice@desk {deployed.commit[:10]} running 1 ok, 1 waiting",
        f"{SECOND} 1 h ago alice@desk {deployed.commit[:10]} broken off 1 unchanged, 1 unknown",
        f"{FIRST} 2 h ago alice@desk {deployed.commit[:10]} limit 1 ok, 1 reverted, 1 unreachable",
    ]
    going.ended("done")


@pytest.mark.parametrize("output", ["json", "jsonl", "yaml"])
def test_for_programs(deployed: Pool, output: str, capfd: pytest.CaptureFixture[str]) -> None:
    text = told(capfd, "deploys", "-o", output)
    judge(text, output)
    one = told(capfd, "deploys", FIRST, "-o", output)
    judge(one, output)
    if output == "json":
        second, first = json.loads(text)["deploys"]
        assert (first["ended"], first["lasted"], first["told"], first["resumes"]) == (
            "limit",
            3.0,
            None,
            None,
        )
        assert (second["ended"], second["lasted"], second["resumes"]) == ("broken off", None, FIRST)
        nodes = {node["node"]: node for node in json.loads(one)["nodes"]}
        assert (nodes["n1"]["digest"], nodes["n2"]["step"]) == (deployed.digest, "check f")
        assert nodes["n2"]["output"] == "it said\nno\x1b[2J"
    assert ITEMS["gitcfg.deploys/1"][1:3] == ("deploys", "run")


def test_one_of_them_is_shown_by_node(deployed: Pool, capfd: pytest.CaptureFixture[str]) -> None:
    assert told(capfd, "deploys", "1pkd3a0") == (
        f"{FIRST}: commit {deployed.commit[:10]}, 2 h ago by alice@desk, limit\n"
        "unreviewed: a fire\\x1b[31m\n"
        "ok 1 node: n1\n"
        "reverted 1 node: n2\n"
        "  at check f\n"
        "  it said\n"
        "  no\\x1b[2J\n"
        "unreachable 1 node: n3\n"
        "  nobody answers\n"
    )
    text = told(capfd, "deploys", "bbb")
    assert f"resumes: {FIRST}\nunchanged 1 node: n2\nunknown 1 node: n3\n" in text
    assert told(capfd, "deploys", "last") == text
    told(capfd, "deploys", "zzz", code=2)


def test_what_is_left_out_of_an_output_is_said(pool: Pool, capfd: pytest.CaptureFixture[str]) -> None:
    made = pool.begun(FIRST, ("n1", "n2"), 60.0)
    made.node(NodeDone("n1", "failed", "check", "".join(f"line {number}\n" for number in range(13))))
    made.node(NodeDone("n2", "failed", "check", "early\n" + "x" * 8192))
    made.ended("done")
    said = told(capfd, "deploys", FIRST).splitlines()
    at = said.index("  ... 3 lines earlier; -o json has all of them")
    assert said[at + 1 : at + 11] == [f"  line {number}" for number in range(3, 13)]
    assert "  ... 6 characters before" in said
    assert not any("early" in line or line == "  line 2" for line in said)


def test_what_cannot_be_read_is_noted(deployed: Pool, capfd: pytest.CaptureFixture[str]) -> None:
    (deployed.folder / "1pkd3a9zzz.jsonl").write_text("\x1b[31m\n")
    assert run(["deploys"]) == 0
    out, err = capfd.readouterr()
    assert len(out.splitlines()) == 3
    assert "1pkd3a9zzz.jsonl is not a record of a deploy" in err
    assert run(["deploys", "1pkd3a9zzz"]) == 2


def test_where_nothing_was_deployed(pool: Pool, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["deploys"]) == 0
    assert "Nothing was deployed from this repository yet." in capfd.readouterr().err
    told(capfd, "deploys", "last", code=2)
    text = told(capfd, "deploys", "-o", "json")
    judge(text, "json")
    assert json.loads(text)["deploys"] == []


def test_the_inventory_knows_it_without_a_server(deployed: Pool, capfd: pytest.CaptureFixture[str]) -> None:
    text = told(capfd, "inventory", "-o", "json")
    judge(text, "json")
    nodes = {node["name"]: node for node in json.loads(text)["nodes"]}
    assert {name: node["state"] for name, node in nodes.items()} == {
        "n1": "ok",
        "n2": "ok",
        "n3": None,
        "n4": None,
        "n5": None,
    }
    assert (nodes["n1"]["via"], nodes["n1"]["who"], nodes["n1"]["checkin"]) == ("deploy", "alice@desk", None)
    assert nodes["n2"]["outcome"] == "unchanged"
    (deployed.place / "groups/g.yaml").write_text("files: {/etc/f: {text: two}}\n")
    deployed.git("commit", "--quiet", "-am", "two")
    assert run(["inventory"]) == 0
    assert (
        "5 nodes: 2 behind, 3 unknown, because nothing was deployed to them from here. "
        in capfd.readouterr().err
    )
    lines = told(capfd, "inventory", "--where", 'node.via == "deploy"').splitlines()
    assert [line.split()[:2] for line in lines] == [["name", "state"], ["n1", "behind"], ["n2", "behind"]]
    assert lines[0].split() == ["name", "state", "commit", "since", "deployed", "who", "groups"]


def test_a_database_is_told_once(deployed: Pool, state: State, capfd: pytest.CaptureFixture[str]) -> None:
    state.checkins.record([Checkin("n5", deployed.now, "key", "1", deployed.commit, deployed.digest)])
    assert told(capfd, "deploys", "--send", FIRST) == "Reported 3 nodes to the database.\n"
    assert told(capfd, "deploys", "--send", "aaa") == "Reported 3 nodes to the database; it knew 3 already.\n"
    assert {one.node: one.via for one in state.checkins.nodes()} == {
        "n1": "alice@desk",
        "n2": "alice@desk",
        "n5": None,
    }
    source = opened(deployed.place)
    assert send_unsent_runs(source.repository, StateQuery(), deployed.folder, deployed.now) == []
    assert [one.run for one in state.checkins.results("n2")] == [SECOND, FIRST]
    nodes = json.loads(told(capfd, "inventory", "-o", "json"))["nodes"]
    assert {node["name"]: node["state"] for node in nodes} == {
        "n1": "ok",
        "n2": "ok",
        "n3": "never",
        "n4": "never",
        "n5": "pending",
    }
    listed = json.loads(told(capfd, "deploys", "-o", "json"))["deploys"]
    assert [one["told"]["place"] for one in listed] == ["the database", "the database"]


def test_what_nobody_took_is_told_later(
    deployed: Pool, state: State, capfd: pytest.CaptureFixture[str]
) -> None:
    """One that is still going on is told once it is over."""
    source, server = opened(deployed.place), StateQuery(server="http://127.0.0.1:1")
    (said,) = send_unsent_runs(source.repository, server, deployed.folder, deployed.now)
    assert "does not answer" in said
    later = f"`gitcfg deploys --send {SECOND}` reports it later; the next deploy also does"
    assert said.endswith(f"{later} (and one earlier run).")
    assert run(["deploys", "--send", FIRST, "--server", "http://127.0.0.1:1"]) == 2
    going = deployed.begun(THIRD, ("n4",), 5.0)
    going.node(deployed.well("n4"))
    assert send_unsent_runs(source.repository, StateQuery(), deployed.folder, deployed.now) == []
    assert [one.node for one in state.checkins.nodes()] == ["n1", "n2"]
    going.ended("done")
    (said,) = send_unsent_runs(source.repository, server, deployed.folder, deployed.now)
    assert f"`gitcfg deploys --send {THIRD}` reports it later; the next deploy also does." in said
    assert send_unsent_runs(source.repository, StateQuery(), deployed.folder, deployed.now) == []
    assert [one.node for one in state.checkins.nodes()] == ["n1", "n2", "n4"]


def test_where_nobody_keeps_such_things_nothing_is_told(
    deployed: Pool, capfd: pytest.CaptureFixture[str]
) -> None:
    source = opened(deployed.place)
    assert send_unsent_runs(source.repository, StateQuery(), deployed.folder, deployed.now) == []
    assert run(["deploys", "--send", FIRST]) == 2
    assert "There is no state of a server here." in capfd.readouterr().err
    assert run(["deploys", FIRST, "--send", FIRST]) == 2
    assert run(["deploys", "--send", FIRST, "-o", "json"]) == 2


def test_a_clock_that_was_ahead_keeps_no_agent_from_being_heard(deployed: Pool, state: State) -> None:
    source = opened(deployed.place)
    assert send_unsent_runs(source.repository, StateQuery(), deployed.folder, deployed.now - 9000) == []
    assert {one.deployed for one in state.checkins.nodes()} == {deployed.now - 9000}
