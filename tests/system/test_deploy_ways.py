"""Ways to nodes over real sshds: host keys, jump hosts, sudo, agents, holds, and what nobody reviewed."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.site import PROGRAM
from tests.agent.site import ROOT as HERE
from tests.server.site import run, until
from tests.system.node import AGENT, CONFIG
from tests.system.sshd_fleet import FarFleet, far_fleet
from tests.system.sshd_node import busy

PASSWORD = "canary-4711"


@pytest.fixture
def three(tmp_path: Path) -> Iterator[FarFleet]:
    with far_fleet(tmp_path, 3) as fleet:
        yield fleet


def accepted(fleet: FarFleet) -> int:
    """How many connections have logged in."""
    return (fleet.folder / "sshd.log").read_text().count("Accepted publickey")


def test_one_connection_to_a_jump_host_leads_to_all_behind_it(three: FarFleet) -> None:
    three.settings("Host n2 n3\n  ProxyJump n1\n")
    done = three.deploy("-o", "json", "n2,n3")
    assert (done.code, three.outcomes(done)) == (0, {"n2": "ok", "n3": "ok"}), done.err
    assert accepted(three) == 3
    assert three.nodes["n1"].asked == []


def test_a_jump_host_is_not_trusted_either(three: FarFleet) -> None:
    three.settings("Host n2\n  ProxyJump n1\n")
    three.known({"n1": three.sshd.known(three.nodes["n1"].address, wrong=True)})
    done = three.deploy("-o", "json", "n2,n3")
    assert (done.code, three.outcomes(done)) == (3, {"n2": "host-key", "n3": "ok"}), done.err
    assert "jump host n1" in done.out


def test_a_jump_host_that_is_away(three: FarFleet) -> None:
    three.settings("Host n2\n  ProxyJump n1\nHost n1\n  HostName 127.0.0.99\n")
    done = three.deploy("-o", "json", "n2,n3")
    assert (done.code, three.outcomes(done)) == (3, {"n2": "unreachable", "n3": "ok"}), done.err


def test_new_host_keys_are_accepted_only_when_asked_for(three: FarFleet) -> None:
    three.known({"n1": None, "n2": None})
    found = {"n1": "host-key", "n2": "host-key", "n3": "ok"}
    assert three.outcomes(three.deploy("-o", "json")) == found
    known = three.home / ".ssh/known_hosts"
    assert len(known.read_text().splitlines()) == 1
    done = three.deploy("-o", "json", "--accept-new")
    assert three.outcomes(done) == {"n1": "ok", "n2": "ok", "n3": "unchanged"}, done.err
    assert sorted(known.read_text().splitlines(keepends=True)) == sorted(
        three.sshd.known(node.address) for node in three.nodes.values()
    )
    three.known({"n1": three.sshd.known(three.nodes["n1"].address, wrong=True)})
    assert three.outcomes(three.deploy("-o", "json", "--accept-new", "n1")) == {"n1": "host-key"}


def test_the_key_that_git_has_of_a_node_may_be_its_host_key(three: FarFleet) -> None:
    host = three.sshd.keys.host.with_suffix(".pub").read_text()
    wrong = three.sshd.keys.wrong.with_suffix(".pub").read_text()
    three.push({"keys/all.txt": f"n1 {host}n2 {wrong}"})
    three.known({"n1": None, "n2": None})
    done = three.deploy("-o", "json")
    assert three.outcomes(done) == {"n1": "ok", "n2": "host-key", "n3": "ok"}, done.err


@pytest.mark.skipif(not shutil.which("ssh-agent"), reason="there is no ssh-agent")
def test_the_agent_is_that_of_the_environment_and_connections_are_not_shared(
    three: FarFleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    socket, key = tmp_path / "agent", three.sshd.keys.user
    three.settings(
        f"Host *\n  IdentitiesOnly no\n  IdentityAgent {socket}\n"
        f"  ControlMaster auto\n  ControlPath {tmp_path}/control-%h\n  ControlPersist 60\n"
    )
    with subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.DEVNULL) as agent:
        try:
            until(socket.exists)
            run("env", f"SSH_AUTH_SOCK={socket}", "ssh-add", "-q", str(key), cwd=tmp_path)
            key.rename(key.with_name("only-the-agent-has-it"))
            monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
            done = three.deploy("-o", "json")
            assert three.outcomes(done) == dict.fromkeys(three.nodes, "auth"), done.out
            assert "You have no login key, neither in a file nor in an SSH agent." in done.out
            monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
            done = three.deploy("-o", "json")
            assert three.outcomes(done) == dict.fromkeys(three.nodes, "ok"), done.err
        finally:
            agent.kill()
    assert list(tmp_path.glob("control-*")) == []


@pytest.mark.skipif(not shutil.which("sudo"), reason="there is no sudo")
def test_through_sudo_itself(three: FarFleet) -> None:
    done = three.deploy("-o", "json", "--sudo")
    assert (done.code, three.outcomes(done)) == (0, dict.fromkeys(three.nodes, "ok")), done.err
    assert three.nodes["n1"].runs == "zero"


def test_a_sudo_that_wants_a_password(three: FarFleet) -> None:
    for node in three.nodes.values():
        node.asks_sudo(PASSWORD)
    done = three.deploy("-o", "json", "--sudo")
    assert (done.code, three.outcomes(done)) == (3, dict.fromkeys(three.nodes, "sudo")), done.err
    done = three.deploy("-o", "json", "--sudo", "--ask-sudo", given=f"{PASSWORD}\n")
    assert (done.code, three.outcomes(done)) == (0, dict.fromkeys(three.nodes, "ok")), done.err
    assert three.holding(PASSWORD) == {node.bin / "sudo" for node in three.nodes.values()}
    assert PASSWORD not in done.out + done.err


def test_a_wrong_password_is_tried_once(three: FarFleet) -> None:
    for node in three.nodes.values():
        node.asks_sudo(PASSWORD)
    done = three.deploy("-o", "json", "--sudo", "--ask-sudo", given="another\n")
    assert (done.code, three.outcomes(done)) == (3, dict.fromkeys(three.nodes, "sudo")), done.err
    messages = [one["message"] for one in done.summary["nodes"]]
    assert sum(text.startswith("sudo rejected the password.") for text in messages) == 1


def test_a_sudo_that_refuses(three: FarFleet) -> None:
    three.nodes["n1"].refuses_sudo()
    if not shutil.which("sudo"):
        for name in ("n2", "n3"):
            three.nodes[name].program("sudo", '#!/bin/sh\nshift\nexec "$@"\n')
    done = three.deploy("-o", "json", "--sudo")
    assert (done.code, three.outcomes(done)) == (3, {"n1": "sudo", "n2": "ok", "n3": "ok"}), done.err


def test_a_node_whose_agent_runs_is_left_alone(three: FarFleet) -> None:
    node = three.nodes["n1"]
    settings = node.root / "etc/gitcfg/agent.toml"
    settings.parent.mkdir()
    said = {"servers": '["http://127.0.0.1:9"]', "key": f"ed25519:{'A' * 43}=", "name": "n1"}
    settings.write_text(AGENT.format(**said, config=CONFIG, home=node.daemon.home))
    settings.chmod(0o600)
    line = [sys.executable, "-c", PROGRAM, "run", "--root", str(node.root)]
    with subprocess.Popen(line, cwd=HERE, stderr=subprocess.DEVNULL) as agent:
        try:
            until(lambda: busy(node.state / "agent.lock"))
            done = three.deploy("-o", "json")
            assert (done.code, three.outcomes(done)) == (4, {"n1": "refused", "n2": "ok", "n3": "ok"}), (
                done.err
            )
            (one,) = [one for one in done.summary["nodes"] if one["node"] == "n1"]
            assert one["agent"] == "running"
            assert node.files == {}
            # A hold at just this commit says that it may stand there, whatever the agent wants.
            commit = three.head()
            hold = f"nodes: n1\ncommit: {commit}\nuntil: 2999-01-01\nreason: look\n"
            three.push({"holds/look.yaml": hold})
            done = three.deploy("-o", "json", "--at", commit)
            assert three.outcomes(done) == {"n1": "ok", "n2": "unchanged", "n3": "unchanged"}, done.out
            assert node.runs == "zero"
        finally:
            agent.kill()


def test_a_hold_at_another_commit_is_obeyed(three: FarFleet) -> None:
    three.deploy()
    hold = f"nodes: n1\ncommit: {three.head()}\nuntil: 2999-01-01\nreason: look\n"
    three.push({"holds/look.yaml": hold})
    three.change(LABEL="one")
    done = three.deploy("-o", "json")
    assert (done.code, three.outcomes(done)) == (4, {"n1": "refused", "n2": "ok", "n3": "ok"}), done.err
    assert [node.runs for node in three.nodes.values()] == ["zero", "one", "one"]
    assert len(three.nodes["n1"].asked) == 1


def test_what_nobody_has_reviewed_needs_a_reason(three: FarFleet) -> None:
    (three.work / "groups/Workers.yaml").write_text(
        "features: [Pool]\nparams: {LABEL: mine, MAX_JOBS: '1', MEMORY: 1}\n"
    )
    run("git", "commit", "-q", "-a", "-m", "mine", cwd=three.work)
    assert three.outcomes(three.deploy("-o", "json")) == dict.fromkeys(three.nodes, "ok")
    assert three.nodes["n1"].runs == "zero"
    assert three.deploy("--at", "HEAD").code == 4
    assert three.deploy("--at", "HEAD", "--unreviewed").code == 2
    assert three.nodes["n1"].runs == "zero"
    done = three.deploy("-o", "json", "--at", "HEAD", "--unreviewed", "--reason", "the disk is full")
    assert three.outcomes(done) == dict.fromkeys(three.nodes, "ok"), done.err
    assert {node.runs for node in three.nodes.values()} == {"mine"}
    assert "the disk is full" in three.call("deploys").out + three.call("deploys", "-o", "json").out


def test_the_inventory_knows_what_was_deployed(three: FarFleet) -> None:
    three.deploy("n1,n2")
    three.change(LABEL="one")
    three.nodes["n2"].fails()
    three.deploy("n2")
    said = three.call("inventory", "-o", "json")
    states = {one["name"]: one["state"] for one in json.loads(said.out)["nodes"]}
    assert states == {"n1": "behind", "n2": "failed", "n3": None}, said.out


def test_what_has_errors_is_not_begun(three: FarFleet) -> None:
    three.own("n1", MEMORY="lots")
    done = three.deploy()
    assert (done.code, "GC206" in done.err) == (4, True), done.err
    assert [node.asked for node in three.nodes.values()] == [[]] * 3
    assert three.outcomes(three.deploy("-o", "json", "n2")) == {"n2": "ok"}
