"""Deploys to real sshds: each outcome there is, and what the next run makes of it."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.install.world import filled, mounted, read_only
from tests.system.sshd_fleet import FarFleet, far_fleet

ALL = 50

BROKEN = {
    "agent": "refused",
    "full": "full",
    "lost": "lost",
    "reverted": "reverted",
    "dies": "reverted",
    "validate": "reverted",
    "no-python": "no-python",
    "silent": "refused",
    "unreachable": "unreachable",
    "auth": "auth",
    "wrong key": "host-key",
    "unknown key": "host-key",
}
"""What is wrong with a node, and what that is called."""


@contextmanager
def moved(folder: Path) -> Iterator[Path]:
    """A folder as it is, on a small file system of its own."""
    kept = folder.with_name("kept")
    shutil.copytree(folder, kept)
    with mounted(folder, "size=1m"):
        shutil.copytree(kept, folder, dirs_exist_ok=True)
        yield folder


@pytest.fixture
def fifty(tmp_path: Path) -> Iterator[FarFleet]:
    with far_fleet(tmp_path, ALL) as fleet:
        yield fleet


@pytest.fixture
def two(tmp_path: Path) -> Iterator[FarFleet]:
    with far_fleet(tmp_path, 2) as fleet:
        yield fleet


def broken(fleet: FarFleet) -> dict[str, str]:
    """Break the last nodes, each in its way; the names by what is wrong with them."""
    named = dict(zip(BROKEN, list(fleet.nodes)[-len(BROKEN) :], strict=True))
    nodes = {what: fleet.nodes[name] for what, name in named.items()}
    agent = nodes["agent"].root / "etc/gitcfg/agent.toml"
    agent.parent.mkdir(parents=True)
    agent.touch()
    nodes["lost"].cuts_itself("restart")
    nodes["no-python"].without_python()
    nodes["silent"].instead("#!/bin/sh\nexit 1\n")
    fleet.settings(
        f"Host {named['unreachable']}\n  HostName 127.0.0.99\n"
        f"Host {named['auth']}\n  User nobody-of-this-name\n"
    )
    address = nodes["wrong key"].address
    fleet.known({named["wrong key"]: fleet.sshd.known(address, wrong=True), named["unknown key"]: None})
    for what, params in {
        "reverted": {"MAX_JOBS": "many"},
        "dies": {"MEMORY": "2000000000"},
        "validate": {"LABEL": "refused"},
    }.items():
        fleet.own(named[what], **params)
    return named


@pytest.mark.slow
def test_each_outcome_in_a_run_of_fifty(fifty: FarFleet) -> None:
    named = broken(fifty)
    well = [name for name in fifty.nodes if name not in named.values()]
    expected = {named[what]: outcome for what, outcome in BROKEN.items()} | dict.fromkeys(well, "ok")
    full = fifty.nodes[named["full"]]
    with mounted(full.state, "size=64k"):
        filled(full.state)
        done = fifty.deploy("-o", "json", "--connect-timeout", "60s")
    assert (done.code, fifty.outcomes(done)) == (3, expected), done.err
    assert done.summary["counts"] == {
        outcome: list(expected.values()).count(outcome) for outcome in set(expected.values())
    }
    assert {name: fifty.nodes[name].runs for name in well} == dict.fromkeys(well, "zero")
    untouched = ("agent", "no-python", "silent", "unreachable", "auth", "wrong key", "unknown key")
    assert [fifty.nodes[named[what]].daemon.loads for what in untouched] == [[]] * len(untouched)
    reverted = [fifty.nodes[named[what]] for what in ("reverted", "dies", "validate")]
    assert [(node.files, node.runs) for node in reverted] == [({}, None)] * 3
    for one in done.summary["nodes"]:
        assert one["outcome"] == "ok" or one["message"], one
    # Whose line was cut went on by itself; who is mended gets it now; nobody else is touched again.
    lost = fifty.nodes[named["lost"]]
    lost.rests()
    fifty.settings("")
    fifty.known({})
    mended = {"full", "auth", "unreachable", "wrong key", "unknown key"}
    again = fifty.deploy("-o", "json", "--resume", "last")
    assert again.code == 3, again.err
    expected = {named[what]: "ok" if what in mended else outcome for what, outcome in BROKEN.items()}
    assert fifty.outcomes(again) == {**expected, lost.name: "unchanged"}
    assert lost.runs == "zero"


def test_what_stays_as_it_is_is_not_touched(two: FarFleet) -> None:
    assert two.outcomes(two.deploy("-o", "json")) == {"n1": "ok", "n2": "ok"}
    before = [(node.files, node.daemon.pid, node.daemon.verbs()) for node in two.nodes.values()]
    assert [verbs for _, _, verbs in before] == [["validate", "restart", "check"]] * 2
    done = two.deploy("-o", "json")
    assert (done.code, two.outcomes(done)) == (0, {"n1": "unchanged", "n2": "unchanged"})
    after = [(node.files, node.daemon.pid, node.daemon.verbs()) for node in two.nodes.values()]
    assert [(files, pid, []) for files, pid, _ in before] == after
    two.own("n1", LABEL="other")
    done = two.deploy("-o", "json")
    assert two.outcomes(done) == {"n1": "ok", "n2": "unchanged"}
    assert [node.daemon.verbs() for node in two.nodes.values()] == [["validate", "reload", "check"], []]
    assert two.nodes["n1"].runs == "other"


def test_only_what_changed_travels(two: FarFleet) -> None:
    sent = []
    for label in ("one", "two", "two"):
        two.own("n1", LABEL=label)
        (one,) = two.deploy("-o", "json", "n1").summary["nodes"]
        sent.append(one["sent"])
    assert sent[0] > 20_000  # the program is carried over
    assert sent[2] < sent[1] < 2_000


def test_a_way_back_that_fails_is_told(two: FarFleet) -> None:
    two.deploy()
    two.nodes["n1"].fails()
    two.change(MAX_JOBS="20")
    done = two.deploy("-o", "json")
    assert (done.code, two.outcomes(done)) == (3, {"n1": "failed", "n2": "ok"}), done.err
    (one,) = [one for one in done.summary["nodes"] if one["node"] == "n1"]
    assert one["commit"] is None
    assert "look at the node" in one["message"]


def test_a_check_that_fails_takes_everything_back(two: FarFleet) -> None:
    two.deploy()
    node = two.nodes["n1"]
    before = node.files
    two.own("n1", LABEL="'sick daemon'")
    node.sick("sick")
    done = two.deploy("-o", "json")
    assert (done.code, two.outcomes(done)) == (3, {"n1": "reverted", "n2": "unchanged"}), done.out
    assert (node.files, node.runs) == (before, "zero")
    assert two.outcomes(two.deploy("-o", "json", "n1")) == {"n1": "reverted"}


@pytest.mark.parametrize("when", ["before a word", "while it installs"])
def test_a_node_that_hangs_is_given_up(two: FarFleet, when: str) -> None:
    node = two.nodes["n1"]
    gate = node.hangs() if when == "before a word" else node.daemon.block("restart")
    begun = time.monotonic()
    done = two.deploy("-o", "json", "--timeout", "3s", "n1")
    assert (done.code, two.outcomes(done)) == (5, {"n1": "timeout"}), done.err
    assert time.monotonic() - begun < 30
    (one,) = done.summary["nodes"]
    assert "longer than 3s" in one["message"]
    gate.unlink()
    if when == "while it installs":
        assert "the next deploy" in one["hint"]
        node.rests()
        assert node.runs == "zero"
    done = two.deploy("-o", "json", "--resume", "last")
    assert two.outcomes(done) == {"n1": "unchanged" if when == "while it installs" else "ok"}


def test_who_does_not_answer_at_all_is_unreachable(two: FarFleet) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as deaf:
        two.settings(f"Host n1\n  HostName 127.0.0.1\n  Port {deaf.getsockname()[1]}\n")
        done = two.deploy("-o", "json", "--connect-timeout", "2s")
    assert (done.code, two.outcomes(done)) == (3, {"n1": "unreachable", "n2": "ok"}), done.err


def test_a_dry_run_says_what_would_change_and_touches_nothing(two: FarFleet) -> None:
    done = two.deploy("-o", "json", "--dry-run")
    assert (done.code, two.outcomes(done)) == (1, {"n1": "differs", "n2": "differs"}), done.err
    differences = [text for one in done.summary["nodes"] for text in one["differences"].values()]
    assert ["+LABEL = zero\n" in text for text in differences] == [True, True]
    assert [sorted(node.root.rglob("*")) for node in two.nodes.values()] == [
        [node.root / "etc", node.root / "etc/condor", node.config] for node in two.nodes.values()
    ]
    two.deploy()
    two.own("n1", LABEL="other")
    before = {place: place.stat().st_mtime_ns for place in two.nodes["n1"].root.rglob("*")}
    done = two.deploy("--dry-run")
    assert done.code == 1
    assert "-LABEL = zero" in done.out
    assert "+LABEL = other" in done.out
    assert {place: place.stat().st_mtime_ns for place in two.nodes["n1"].root.rglob("*")} == before
    assert two.nodes["n1"].daemon.verbs()[-1:] == ["check"]
    two.deploy()
    assert two.deploy("--dry-run").code == 0


@pytest.mark.slow
@pytest.mark.parametrize("where", ["etc/condor", "var/lib/gitcfg"])
def test_a_disk_that_is_full_or_cannot_be_written(two: FarFleet, where: str) -> None:
    two.deploy()
    node = two.nodes["n1"]
    two.own("n1", LABEL="one")
    with moved(node.root / where) as place:
        before = node.files
        give_back = filled(place)
        done = two.deploy("-o", "json")
        assert (done.code, two.outcomes(done)) == (3, {"n1": "full", "n2": "unchanged"}), done.out
        give_back()
        with read_only(place):
            done = two.deploy("-o", "json")
            assert two.outcomes(done) in ({"n1": word, "n2": "unchanged"} for word in ("refused", "reverted"))
            assert "Read-only file system" in done.out
        assert (node.files, node.runs) == (before, "zero")
        assert two.outcomes(two.deploy("-o", "json", "n1")) == {"n1": "ok"}
        assert node.runs == "one"


def test_what_a_node_never_lets_is_refused(two: FarFleet) -> None:
    two.push({"nodes/n1.yaml": "groups: [Workers]\nfeatures: [at-n1]\nfiles: {/etc/gitcfg/x: {text: x}}\n"})
    done = two.deploy("-o", "json")
    assert (done.code, done.out) == (4, "")
    assert "error[GC209] The file entry /etc/gitcfg/x is one of gitcfg's own files" in done.err
    assert (two.nodes["n1"].files, two.nodes["n1"].runs) == ({}, None)
