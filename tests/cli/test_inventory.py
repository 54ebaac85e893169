"""The inventory and the acceptance of nodes with a server's database beside the repository."""

import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gitcfg.cli.main import run
from gitcfg.library import open as opened
from gitcfg.load.keys import fingerprint, written
from gitcfg.rollout import Plan, Progress, Status
from gitcfg.state.nodes import USUAL, PresentedKey
from gitcfg.state.records import Checkin, OtherKey, Result, StoredRelease
from gitcfg.state.state import State, connect
from tests.cli.published import judge

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "features/F.yaml": "description: f\nfiles: {/etc/f: {text: one}}\n",
    "groups/rack3.yaml": "description: g\nfeatures: [F]\n",
    "nodesets/exec.yaml": "nodes: exec[1-6]\ngroups: [rack3]\n",
    "nodes/cm.yaml": "labels: [server]\n",
    "nodes/old.yaml": "groups: []\n",
}
KEYS = {"exec1": 1, "exec2": 2, "exec3": 3, "exec4": 4, "old": 7}


def key(number: int) -> str:
    return written(number.to_bytes(32))


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path, text in FILES.items():
        place = tmp_path / path
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys/k.txt").write_text("".join(f"{name} {key(number)}\n" for name, number in KEYS.items()))
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "one")
    for name in ("GITCFG_REPO", "GITCFG_DATABASE", "GITCFG_STATE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GITCFG_TODAY", "2026-01-01")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def state(pool: Path) -> State:
    (pool / ".git/gitcfg-server").mkdir()
    found = connect(f"sqlite:///{pool}/.git/gitcfg-server/state.db")
    first = git(pool, "rev-parse", "HEAD")
    with opened(pool).at(first) as fleet:
        digest = fleet["exec1"].digest
    (pool / "nodes/exec2.yaml").write_text("files: {/etc/f: {text: two}}\n")
    git(pool, "add", ".")
    git(pool, "commit", "--quiet", "-m", "two")
    tip, now = git(pool, "rev-parse", "HEAD"), time.time()
    failed = Result(tip, "failed", now, "validate", "no\x1b[31m")
    said = [
        Checkin("exec1", now - 5, key(1), "1", first, digest, now - 7200, facts={"os": "el9"}),
        Checkin("exec2", now - 9000, key(2), "2", first, digest, now - 90000, interval=3600),
        Checkin("exec3", now - 70, key(3), "3", tip, digest, now - 60, drift=({"path": "/etc/f"},)),
        Checkin("exec4", now - 70, key(4), "4", first, "0" * 64, now - 60, failed),
        Checkin("exec5", now - 9, key(5), "5", address="10.0.0.5"),
        Checkin("guest", now - 9, key(9), "6", version="\x1b[2J", address="10.0.0.9"),
        Checkin("old", now - 5000, key(7), "8", tip, digest, now - 6000),
        Checkin("scrapped", now - 999999, key(8), "7", first, digest, now - 2000000),
    ]
    found.checkins.record(said)
    return found


def told(capfd: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert run(words) == code
    return capfd.readouterr().out


def states(capfd: pytest.CaptureFixture[str], *words: str) -> dict[str, str | None]:
    text = told(capfd, "inventory", *words, "-o", "json")
    judge(text, "json")
    return {node["name"]: node["state"] for node in json.loads(text)["nodes"]}


ALL = {
    "cm": "never",
    "exec1": "ok",
    "exec2": "behind",
    "exec3": "drifted",
    "exec4": "failed",
    "exec5": "pending",
    "exec6": "never",
    "guest": "pending",
    "old": "away",
    "scrapped": "gone",
}


def test_every_node_stands_somewhere(state: State, capfd: pytest.CaptureFixture[str]) -> None:
    assert states(capfd) == ALL
    assert states(capfd, "@rack3") == {name: ALL[name] for name in ALL if name.startswith("exec")}
    assert states(capfd, "exec[1-2]", "guest") == {name: ALL[name] for name in ("exec1", "exec2", "guest")}
    assert states(capfd, "--at", "HEAD~1", "exec2") == {"exec2": "ok"}


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ('age(node.checkin) > duration("2h") && "rack3" in node.groups', ["exec2", "exec6"]),
        ('age(node.checkin) > duration("2h") && node.state != "never"', ["exec2", "scrapped"]),
        ("age(node.since) < age(node.checkin)", ["exec3", "exec4"]),
        ('node.outcome == "failed"', ["exec4"]),
        ("node.drifted", ["exec3"]),
        ('has(node.seen.os) && node.seen.os == "el9"', ["exec1"]),
        ('node.name.matches("^exec[12]$") && age(node.checkin) < duration("1h")', ["exec1"]),
        ('node.commit == "" && "F" in node.features', ["exec5", "exec6"]),
        ('node.checkin < timestamp("1980-01-01T00:00:00Z")', ["cm", "exec6"]),
    ],
)
def test_conditions_see_what_nodes_have_said(
    where: str, names: list[str], state: State, capfd: pytest.CaptureFixture[str]
) -> None:
    assert list(states(capfd, "--where", where)) == names


def test_ages_are_told_in_words_and_nothing_a_node_says_reaches_the_terminal(
    state: State, capfd: pytest.CaptureFixture[str]
) -> None:
    text = told(capfd, "inventory", "--sort", "checkin", "--columns", "name,checkin,since,version,drifted")
    rows = [line.split("  ") for line in text.splitlines()]
    assert [row[0] for row in rows][:4] == ["name", "cm", "exec6", "scrapped"]
    assert any("11 d ago" in line for line in text.splitlines())
    assert any("2 h ago" in line for line in text.splitlines())
    assert "\x1b" not in text


def test_csv_is_read_back_as_it_was_meant(state: State, capfd: pytest.CaptureFixture[str]) -> None:
    import csv

    text = told(capfd, "inventory", "exec1", "-o", "csv", "--columns", "name,facts,groups,commit,key")
    (row,) = csv.DictReader(text.splitlines())
    assert (row["name"], json.loads(row["facts"]), row["groups"]) == ("exec1", {"os": "el9"}, "rack3")
    assert (len(row["commit"]), row["key"]) == (40, fingerprint(key(1)))


def test_who_has_asked_is_accepted(pool: Path, state: State, capfd: pytest.CaptureFixture[str]) -> None:
    pending = told(capfd, "node", "list", "--pending", "-o", "jsonl").splitlines()
    assert [json.loads(line)["node"] for line in pending] == ["exec5", "guest"]
    assert "10.0.0.5" in told(capfd, "node", "list", "--pending")
    text = told(capfd, "node", "accept", "exec5", "--yes", "--commit")
    assert fingerprint(key(5)) in text
    assert (
        git(pool, "log", "-1", "--format=%s %an")
        == f"Accept node exec5 {git(pool, 'log', '-1', '--format=%an')}"
    )
    assert git(pool, "show", "--stat", "--format=", "HEAD").split()[0] == "keys/k.txt"
    assert (pool / "keys/k.txt").read_text().endswith(f"exec5 {key(5)}\n")
    told(capfd, "node", "accept", "guest", "--yes", code=2)
    told(capfd, "node", "accept", "exec6", "--yes", code=2)
    assert states(capfd, "exec5") == {"exec5": "behind"}


@pytest.mark.parametrize("words", [("@rack3",), ("--where", '"rack3" in node.groups'), ("exec5", "@rack3")])
def test_of_a_group_or_a_condition_those_are_accepted_that_have_come(
    words: tuple[str, ...], pool: Path, state: State, capfd: pytest.CaptureFixture[str]
) -> None:
    told(capfd, "node", "accept", *words, "--yes")
    before = "".join(f"{name} {key(number)}\n" for name, number in KEYS.items())
    assert (pool / "keys/k.txt").read_text() == f"{before}exec5 {key(5)}\n"
    told(capfd, "node", "accept", "@rack3", "exec6", "--yes", code=2)
    told(capfd, "node", "accept", "--where", 'node.name == "exec6"', "--yes", code=2)
    told(capfd, "node", "accept", "@nothing", "--yes", code=2)


def test_a_node_that_was_set_up_anew_is_accepted(
    pool: Path, state: State, capfd: pytest.CaptureFixture[str]
) -> None:
    state.claims.other("exec1", key(1), OtherKey(key(9), time.time(), "10.0.0.9"))
    said = told(capfd, "node", "list", "--pending", "-o", "json")
    judge(said, "json")
    (one,) = [one for one in json.loads(said)["keys"] if one["node"] == "exec1"]
    assert (one["state"], one["key"], one["address"]) == ("another", key(9), "10.0.0.9")
    assert run(["node", "accept", "exec1", "--yes"]) == 4
    refused = capfd.readouterr()
    assert (refused.out, "exec1 has another key already." in refused.err) == ("", True)
    assert "use `--replace` to accept the new keys" in refused.err
    assert f"exec1 {key(1)}\n" in (pool / "keys/k.txt").read_text()
    assert fingerprint(key(9)) in told(capfd, "node", "accept", "exec1", "--replace", "--yes", "--commit")
    assert f"exec1 {key(9)}\n" in (pool / "keys/k.txt").read_text()
    assert "exec1" not in told(capfd, "node", "list", "--pending")


def test_of_keys_that_compete_one_is_chosen_by_its_fingerprint(
    pool: Path, state: State, capfd: pytest.CaptureFixture[str]
) -> None:
    """Neither the first nor the last is taken because it was."""
    now = time.time()
    for number, age in ((7, 7200), (8, 60)):
        said = PresentedKey("exec6", key(number), now - age, f"10.0.0.{number}")
        assert state.claims.present(said, USUAL).fresh
    one, two = fingerprint(key(7)), fingerprint(key(8))
    listed = [line for line in told(capfd, "node", "list", "--pending").splitlines() if "exec6" in line]
    assert [line.split() for line in listed] == [
        ["exec6", one, *["pending", "10.0.0.7,", "2", "h", "ago"]],
        ["exec6", two, *["pending", "10.0.0.8,", "1", "min", "ago"]],
    ]
    before = (pool / "keys/k.txt").read_text()
    assert run(["node", "accept", "exec6", "--yes"]) == 4
    refused = capfd.readouterr().err
    assert "2 keys claim to be exec6, and only one can be right:" in refused
    assert f"{one}  pending 10.0.0.7, 2 h ago\n" in refused
    assert f"{two}  pending 10.0.0.8, 1 min ago\n" in refused
    assert "--fingerprint" in refused
    for wrong in (fingerprint(key(9)), "SHA256:none"):
        assert run(["node", "accept", "exec6", "--yes", "--fingerprint", wrong]) == 4
        assert "exec6 does not have this key, but:" in capfd.readouterr().err
    assert run(["node", "accept", "exec5", "--yes", "--fingerprint", two]) == 4
    assert (pool / "keys/k.txt").read_text() == before
    told(capfd, "node", "accept", "exec6", "--yes", "--fingerprint", two)
    assert (pool / "keys/k.txt").read_text() == f"{before}exec6 {key(8)}\n"


def test_who_comes_with_another_key_is_noted_until_it_comes_with_its_own(
    state: State, capfd: pytest.CaptureFixture[str]
) -> None:
    assert "another key" not in noted(capfd)
    for name, number in (("exec1", 1), ("exec2", 2)):
        state.claims.other(name, key(number), OtherKey(key(9), time.time() + 60, ""))
    shows = "another key: `gitcfg node list --pending` shows"
    assert f"note: exec[1-2] use {shows} them.\n" in noted(capfd)
    assert f"note: exec2 uses {shows} it.\n" in noted(capfd, "exec2")
    assert "another key" not in noted(capfd, "exec3")
    state.checkins.record([Checkin("exec1", time.time() + 90, key(1), "late")])
    assert f"note: exec2 uses {shows} it.\n" in noted(capfd)


def noted(capfd: pytest.CaptureFixture[str], *words: str) -> str:
    assert run(["inventory", *words]) == 0
    return " ".join(capfd.readouterr().err.split()) + "\n"


@pytest.mark.parametrize(("until", "held"), [("2999-01-01", 1), ("2025-01-01", 0)])
def test_who_is_held_is_away_for_a_release_as_on_the_server(
    until: str, held: int, pool: Path, state: State, capfd: pytest.CaptureFixture[str]
) -> None:
    before = git(pool, "rev-parse", "HEAD")
    (pool / "holds").mkdir()
    (pool / "holds/h.yaml").write_text(f"nodes: exec4\nreason: r\nuntil: {until}\ncommit: {before}\n")
    git(pool, "add", ".")
    git(pool, "commit", "--quiet", "-m", "held")
    commit, now = git(pool, "rev-parse", "HEAD"), time.time()
    for each, status in ((before, Status.DONE), (commit, Status.RUNNING)):
        plan, progress = Plan(("exec4",), (1,)), Progress(each, now - 500, status=status)
        assert state.releases.begin(StoredRelease(each, None, now, plan, progress))
    text = told(capfd, "release", "status", "-o", "json")
    judge(text, "json")
    newest, over = json.loads(text)["releases"]
    assert (newest["counts"]["away"], newest["counts"]["pending"]) == (held, 1 - held)
    assert over["counts"] is None


def test_a_stranger_is_forgotten(state: State, capfd: pytest.CaptureFixture[str]) -> None:
    assert told(capfd, "node", "forget", "guest") == "forgot guest\n"
    assert state.checkins.node("guest") is None
    assert run(["node", "forget", "guest"]) == 2
    assert "Neither git nor the server has a key of guest." in capfd.readouterr().err
    assert "guest" not in states(capfd)


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1), ("", 1)])
def test_on_a_terminal_it_is_asked(answer: str, code: int, pool: Path, state: State) -> None:
    master, end = pty.openpty()
    words = [sys.executable, "-m", "gitcfg", "--no-pager", "node", "accept", "exec5"]
    with subprocess.Popen(words, stdin=end, stderr=end, stdout=subprocess.PIPE, cwd=pool) as process:
        os.close(end)
        os.write(master, f"{answer}\n".encode())
        assert process.stdout is not None
        out = process.stdout.read().decode()
        assert process.wait(60) == code
    os.close(master)
    assert fingerprint(key(5)) in out
    assert ("exec5" in (pool / "keys/k.txt").read_text()) == (code == 0)


def test_another_database_is_asked_where_one_is_said(
    pool: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert states(capfd, "exec1") == {"exec1": None}
    (pool / "elsewhere").mkdir()
    other = connect(f"sqlite:///{pool}/elsewhere/state.db")
    other.checkins.record([Checkin("exec1", time.time(), key(1))])
    assert states(capfd, "exec[1-2]", "--state", "elsewhere") == {"exec1": "behind", "exec2": "never"}
    monkeypatch.setenv("GITCFG_DATABASE", f"sqlite:///{pool}/elsewhere/state.db")
    assert states(capfd, "exec1") == {"exec1": "behind"}


def test_a_bare_repository_has_an_inventory(
    pool: Path, state: State, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bare = tmp_path / "bare.git"
    git(pool, "clone", "--quiet", "--bare", ".", str(bare))
    (bare / "gitcfg-server").mkdir()
    there = connect(f"sqlite:///{bare}/gitcfg-server/state.db")
    there.checkins.record([Checkin("exec1", time.time(), key(1))])
    assert run(["-C", str(bare), "inventory", "exec[1-2]", "-o", "csv", "--columns", "name,state"]) == 0
    assert capfd.readouterr().out == "name,state\nexec1,behind\nexec2,never\n"
