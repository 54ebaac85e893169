"""What people do while everything runs: accept a node, retire one, hold one, wait for a commit."""

import shutil

import pytest

from tests.server.site import run, until
from tests.system.described import NAMES
from tests.system.pool import Pool

pytestmark = pytest.mark.slow


def test_a_new_node_is_accepted(pool: Pool) -> None:
    pool.start()
    pool.push({"nodes/exec5.yaml": "groups: [Workers]\n"})
    new = pool.node("exec5")
    new.start()
    database = ("--database", pool.database)
    fingerprint = new.call("key").stderr.strip()
    until(lambda: fingerprint in str(pool.ask("/v1/nodes")), new.log)
    assert fingerprint in pool.call("node", "list", "--pending", *database).stdout
    assert not new.files
    accepted = pool.call("node", "accept", "exec5", "--yes", "--commit", *database)
    assert accepted.returncode == 0, accepted.stderr
    assert fingerprint in accepted.stdout + accepted.stderr
    run("git", "push", "-q", "origin", "HEAD:main", cwd=pool.work)
    server = ("--server", pool.urls[1], "--token", pool.token)
    waited = pool.call("wait", "HEAD", "--timeout", "60s", *server)
    assert waited.returncode == 0, waited.stderr
    assert new.daemon.values["LABEL"] == "zero"
    pool.arrived(pool.change(LABEL="one"))
    assert new.daemon.values["LABEL"] == "one"


def test_a_node_is_set_up_anew(pool: Pool) -> None:
    pool.start()
    node, *others = pool.nodes.values()
    assert node.end() == 0
    shutil.rmtree(node.world.state("."))
    node.start()
    until(lambda: "does not accept this as a request of" in node.log.read_text(), node.log)
    key = pool.work.parent / "exec1.pub"
    key.write_text(node.call("key").stdout)
    words = ("node", "accept", node.name, "--from", str(key), "--yes", "--commit")
    assert "has another key already" in pool.call(*words).stderr
    replaced = pool.call(*words, "--replace")
    assert replaced.returncode == 0, replaced.stderr
    run("git", "push", "-q", "origin", "HEAD:main", cwd=pool.work)
    pool.arrived(pool.head())
    assert node.daemon.verbs() == ["validate", "restart", "check"]
    assert [other.daemon.verbs() for other in others] == [[]] * 3


def test_a_node_is_retired(pool: Pool) -> None:
    pool.start()
    gone, *others = pool.nodes.values()
    foreign = gone.world.write("/etc/condor/config.d/99-mine.config", "MINE = 1\n")
    pids = [node.daemon.pid for node in others]
    commit = pool.push({f"nodes/{gone.name}.yaml": "groups: [Workers]\nstate: retired\n"})
    pool.arrived(commit, gone.name)
    assert gone.daemon.pid == 0
    assert gone.daemon.verbs() == ["stop"]
    assert list(gone.files) == [foreign.name]
    assert [node.daemon.pid for node in others] == pids
    # The server that is asked here may come to the commit a moment after the one that the node asked.
    until(lambda: pool.ask(f"/v1/nodes/{gone.name}")["retired"] is True, pool.servers[0].log)
    listed = pool.call("inventory", "--database", pool.database, "--columns", "name,state", "-o", "csv")
    assert f"{gone.name},retired" in listed.stdout
    pool.push({f"nodes/{gone.name}.yaml": "groups: [Workers]\n"})
    until(lambda: gone.daemon.values.get("LABEL") == "zero", gone.log)


def test_a_node_is_held_and_let_go_and_people_wait_for_it(pool: Pool) -> None:
    pool.start()
    held, *others = pool.nodes.values()
    said = ("--until", "2999-01-01", "--reason", "busy", "--commit-id", "HEAD", "--commit")
    done = pool.call("hold", "add", "busy", held.name, *said)
    assert done.returncode == 0, done.stderr
    commit = pool.change(LABEL="one")
    pool.arrived(commit, *(node.name for node in others))
    assert held.daemon.values["LABEL"] == "zero"
    assert pool.ask(f"/v1/nodes/{held.name}")["hold"] == "busy"
    database = ("--database", pool.database)
    rest = ",".join(sorted(set(NAMES) - {held.name}))
    assert pool.call("wait", commit, rest, "--timeout", "60s", *database).returncode == 0
    late = pool.call("wait", commit, "--timeout", "1s", *database)
    assert late.returncode == 5
    assert f"1 node of 4 does not run it yet: {held.name}." in late.stderr
    done = pool.call("hold", "lift", "busy", "--commit")
    assert done.returncode == 0, done.stderr
    run("git", "push", "-q", "origin", "HEAD:main", cwd=pool.work)
    waited = pool.call("wait", commit, "--timeout", "60s", *database)
    assert waited.returncode == 0, waited.stderr
    assert held.daemon.values["LABEL"] == "one"
