"""The parts of the agent, one by one."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from gitcfg.agent.client import SCHEMA, ServerClock, parse_date, parse_target
from gitcfg.agent.config import Advert
from gitcfg.agent.errors import Forbidden, Untrusted
from gitcfg.agent.keys import Answer, load_identity
from gitcfg.agent.memory import NAME, Failure, Memory, Running, load_memory, save_memory
from gitcfg.agent.process import Signals, WaitInterrupted
from gitcfg.agent.report import find_facts, limit_drift
from gitcfg.agent.rounds import retry_pause
from gitcfg.agent.update import advert_mark, advertise, htcondor_snippet
from gitcfg.install.drift import Drift
from gitcfg.install.outcome import Damaged
from gitcfg.install.store import Place
from tests.install.world import package

HEADERS = {
    "gitcfg-node": "n1",
    "gitcfg-commit": "a" * 40,
    "gitcfg-digest": "b" * 64,
    "gitcfg-sequence": "7",
    "gitcfg-rollback": "false",
}
SAID = {
    "schema": SCHEMA,
    "node": "n1",
    "commit": "a" * 40,
    "digest": "b" * 64,
    "sequence": 7,
    "rollback": False,
}


def place(folder: Path) -> Place:
    return Place(str(folder))


def answer(status: int = 200, body: object = SAID, **headers: str) -> Answer:
    named = {f"gitcfg-{name}": value for name, value in headers.items()}
    return Answer(status, {**HEADERS, **named}, json.dumps(body).encode())


def test_a_target_is_read_from_body_or_headers() -> None:
    full, empty = parse_target(answer(), "n1", 7), parse_target(Answer(304, HEADERS), "n1", 7)
    assert full == empty
    assert (full.commit, full.digest, full.sequence) == ("a" * 40, "b" * 64, 7)


@pytest.mark.parametrize(
    "given",
    [
        answer(node="n2"),
        answer(commit="-"),
        answer(commit="A" * 40),
        answer(digest="x"),
        answer(sequence="6"),
        answer(sequence="-1"),
        answer(sequence="٧"),
        answer(body=[]),
        answer(body={**SAID, "commit": "c" * 40}),
        answer(body={**SAID, "node": "n2"}),
        answer(body={**SAID, "sequence": 8}),
        answer(body={**SAID, "rollback": True}),
    ],
)
def test_what_is_no_target_for_this_node(given: Answer) -> None:
    with pytest.raises(Untrusted):
        parse_target(given, "n1", 7)


def test_a_clock_is_used_as_it_is_while_it_is_about_right() -> None:
    clock = ServerClock(wall=lambda: 1000.0)
    assert (clock.observe(1003.0), clock.offset, clock.now()) == (False, 3.0, 1000.0)
    assert (clock.observe(9000.0), clock.offset, clock.now()) == (True, 8000.0, 9000.0)
    assert clock.observe(9002.0) is False
    assert (clock.observe(1000.0), clock.now()) == (True, 1000.0)


def test_dates() -> None:
    assert parse_date("Thu, 01 Jan 1970 00:01:00 GMT") == 60.0
    assert [parse_date(text) for text in ("", "yesterday", "Thu, 99 Jan 1970 00:01:00 GMT")] == [None] * 3


def test_an_identity_is_made_once_and_named_as_ssh_keygen_does(tmp_path: Path) -> None:
    made = load_identity(place(tmp_path), "n1")
    assert load_identity(place(tmp_path), "n1").public == made.public
    file = tmp_path / "var/lib/gitcfg/node.key"
    assert (file.stat().st_mode & 0o777, made.line.split(" ")[:2]) == (0o600, ["n1", "ssh-ed25519"])
    said = subprocess.run(["ssh-keygen", "-l", "-f", file], capture_output=True, text=True, check=True).stdout
    assert made.fingerprint in said


@pytest.mark.parametrize("content", [b"", b"nonsense", b"-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n"])
def test_a_damaged_key_is_refused(tmp_path: Path, content: bytes) -> None:
    load_identity(place(tmp_path), "n1")
    (tmp_path / "var/lib/gitcfg/node.key").write_bytes(content)
    with pytest.raises(
        Forbidden, match=re.escape(f"{tmp_path}/var/lib/gitcfg/node.key is not an Ed25519 key")
    ):
        load_identity(place(tmp_path), "n1")


def test_memory_comes_back(tmp_path: Path) -> None:
    full = Memory(
        sequence=5,
        told="b" * 64,
        running=Running("a" * 40, "b" * 64, 7.0),
        failure=Failure("c" * 40, "d" * 64, 8.0, 3),
        begun="e" * 40,
        results=({"commit": "a"},),
        last={"commit": "a"},
        problem={"kind": "pending"},
        drift=({"path": "/etc/x", "kind": "mode"},),
    )
    save_memory(place(tmp_path), full)
    assert load_memory(place(tmp_path)) == full


@pytest.mark.parametrize(
    "content", ["", "[]", '{"schema": "other"}', '{"schema": "gitcfg.memory/1", "running": 5}']
)
def test_damaged_memory_is_no_memory(tmp_path: Path, content: str) -> None:
    save_memory(place(tmp_path), Memory())
    (tmp_path / "var/lib/gitcfg" / NAME).write_text(content)
    with pytest.raises(Damaged, match=r"agent\.json in the state folder is damaged"):
        load_memory(place(tmp_path))


def test_facts_come_from_files(tmp_path: Path) -> None:
    for path, text in {
        "etc/os-release": 'ID=rocky\nVERSION_ID="9.4"\n',
        "proc/meminfo": "MemTotal:       65536000 kB\n",
        "proc/cpuinfo": "processor : 0\nmodel name  : AMD EPYC\n",
        "usr/lib64/libcondor_utils_23_0_4.so": "",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    found = find_facts(str(tmp_path))
    assert (found["os"], found["os_version"], found["memory_mib"]) == ("rocky", "9.4", 64000)
    assert (found["cpu"], found["htcondor"]) == ("AMD EPYC", "23.0.4")
    assert "memory_mib" not in find_facts(str(tmp_path / "nowhere"))


def test_htcondor_is_told_features_and_groups(tmp_path: Path) -> None:
    node = package({}, features=("ExecuteNode", "Gpu 2"), groups=("rack3",))
    path = "/etc/condor/config.d/60-gitcfg.config"
    (tmp_path / path[1:]).parent.mkdir(parents=True)
    advertise(place(tmp_path), node, (Advert(path),))
    written = (tmp_path / path[1:]).read_text()
    assert 'GITCFG_FEATURES = "ExecuteNode,Gpu 2"\nGITCFG_GROUPS = "rack3"\n' in written
    assert "STARTD_ATTRS = $(STARTD_ATTRS) GITCFG_FEATURES GITCFG_GROUPS\n" in written
    assert os.listdir((tmp_path / path[1:]).parent) == ["60-gitcfg.config"]
    advertise(place(tmp_path), node._replace(state="retired"), (Advert(path),))
    assert not (tmp_path / path[1:]).exists()


def test_a_name_that_would_be_more_than_a_name_is_not_advertised() -> None:
    with pytest.raises(Forbidden, match="Cannot advertise"):
        htcondor_snippet(package({}, features=('x"\nROOT = "$(y)',)))


def test_a_command_is_told_by_a_file(tmp_path: Path) -> None:
    node = package({}, features=("A",))
    advertise(place(tmp_path), node, (Advert("", ("/bin/cp", "-t", str(tmp_path))),))
    assert json.loads((tmp_path / "node.json").read_text())["features"] == ["A"]
    with pytest.raises(Forbidden, match="/bin/false rejected"):
        advertise(place(tmp_path), node, (Advert("", ("/bin/false",)),))
    assert advert_mark(node, ()) != advert_mark(node._replace(features=("B",)), ())


def test_drift_is_bounded() -> None:
    found = tuple(Drift(f"/etc/{number}", "changed", "x" * 100) for number in range(30))
    kept = limit_drift(found, 10, 250)
    assert [len(one.diff) for one in kept[:2]] == [100, 100]
    assert "too long" in kept[2].diff
    assert kept[-1].diff.endswith("(and 20 more files)\n")
    assert limit_drift((), 10, 250) == []


def test_pauses_grow_and_end_growing() -> None:
    grown = [retry_pause(misses, 60.0, 1.0) for misses in range(1, 12)]
    assert grown[:4] == [2.0, 4.0, 8.0, 16.0]
    assert grown[-1] == retry_pause(10**6, 60.0, 1.0) == 300.0
    assert retry_pause(5, 60.0, 0.0) == retry_pause(5, 60.0, 1.0) / 2
    assert retry_pause(1, 1.0, 1.0) == 1.0


def test_a_signal_ends_a_waiting_and_nothing_else() -> None:
    signals, before = (
        Signals(),
        {number: signal.getsignal(number) for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)},
    )
    try:
        signals.listen()
        os.kill(os.getpid(), signal.SIGHUP)
        time.sleep(0.01)
        assert signals.hurried
        with pytest.raises(WaitInterrupted):
            signals.sleep(60)
        signals.hurried = False
        signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGTERM))
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(WaitInterrupted):
            signals.sleep(60)
        assert signals.ending
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
