"""What people do from a clone of their own: the server is asked, and says the same as its database."""

import json
import os
import subprocess
from typing import Any

import pytest

from tests.cli.published import judge
from tests.ports import free_port
from tests.server.agent import Node
from tests.server.site import FILES, GITCFG, Server, Site, until

HALTS = "format: 1\nrelease: {stages: [1, 100%], settle: 0s, max_failures: 0}\n"


class Person:
    """Somebody with a clone, a server's address and a token."""

    def __init__(self, server: Server, role: str = "read") -> None:
        self.folder = server.site.work
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GITCFG_")},
            "GITCFG_SERVER": server.url,
            "GITCFG_TOKEN": server.token(role, role),
        }

    def begin(self, *words: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*GITCFG, *words],
            cwd=self.folder,
            env=self._environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def call(self, *words: str, code: int = 0) -> tuple[str, str]:
        process = self.begin(*words)
        out, err = process.communicate(timeout=120)
        assert process.returncode == code, (words, process.returncode, out, err)
        return out, err


def plain(text: str) -> list[dict[str, Any]]:
    judge(text, "json")
    found: list[dict[str, Any]] = json.loads(text)["nodes"]
    return [{key: value for key, value in node.items() if key != "age"} for node in found]


@pytest.mark.slow
def test_nodes_are_accepted_looked_at_and_forgotten(site: Site) -> None:
    known, new, stranger = Node("n1", ""), Node("n2", ""), Node("x", "")
    more = {"nodes/n2.yaml": "groups: [rack]\n", "groups/rack.yaml": "description: r\n"}
    first = site.with_nodes({"n1": known}, **more)
    with Server(site) as server:
        server.accepted(first)
        reader, operator = Person(server), Person(server, "operate")
        running = {
            "commit": first,
            "digest": server.node("n1", known).config().json()["digest"],
            "since": 1.0,
        }
        failed = {"commit": "a" * 40, "outcome": "reverted", "output": "no"}
        drift = [{"path": "/etc/x", "kind": "changed", "diff": "+x"}]
        server.node("n1", known).checkin(running=running, result=failed, drift=drift, facts={"os": "el9"})
        for node in (new, stranger):
            server.node(node.name, node).config()
        assert [
            json.loads(line)["node"]
            for line in reader.call("node", "list", "--pending", "-o", "jsonl")[0].splitlines()
        ] == ["n2", "x"]
        accepted, _ = reader.call("node", "accept", "@rack", "--yes", "--commit")
        assert accepted.startswith("n2  SHA256:")
        assert f"n2 {new.public}" in (site.work / "keys/all.txt").read_text()
        database = f"sqlite:///{site.bare}/gitcfg-server/state.db"
        told = plain(reader.call("inventory", "-o", "json")[0])
        assert told == plain(reader.call("inventory", "-o", "json", "--database", database)[0])
        states = {node["name"]: (node["state"], node["facts"], node["failed"]) for node in told}
        assert states["n1"] == ("drifted", {"os": "el9"}, "a" * 40)
        assert (states["n2"][0], states["x"][0]) == ("behind", "pending")
        _, refused = reader.call("node", "forget", "x", code=2)
        assert "--role operate" in refused
        assert operator.call("node", "forget", "x")[0] == "forgot x\n"
        assert "x" not in {node["name"] for node in plain(reader.call("inventory", "-o", "json")[0])}
        _, refused = operator.call("node", "forget", "web9", code=2)
        assert "Neither git nor the server has a key of web9." in refused
        (site.work / "keys/all.txt").write_text(f"n2 {new.public}\n")  # n1's is taken out, and not yet pushed
        _, refused = operator.call("node", "forget", "n1", code=4)
        assert "commit and push" in refused
        answer = server.get("/v1/nodes/n1/forget", server.token("o", "operate"), "POST")
        assert answer.status == 409


@pytest.mark.slow
def test_a_halted_release_ends_the_wait_and_names_who_failed(site: Site) -> None:
    known = {name: Node(name, "") for name in ("n1", "n2", "n3")}
    first = site.with_nodes(known, **{"gitcfg.yaml": HALTS})
    with Server(site) as server:
        server.accepted(first)
        nodes = {name: server.node(name, node) for name, node in known.items()}
        for node in nodes.values():
            node.obey()
        person = Person(server, "operate")
        waiting = person.begin("wait", "HEAD~0", "--timeout", "2m")
        assert waiting.wait(60) == 0
        bad = site.push({"groups/default.yaml": FILES["groups/default.yaml"].replace("red", "bad")})
        server.accepted(bad)
        waiting = person.begin("wait", "HEAD", "--timeout", "5m")
        offered: list[str] = []

        def one_has_it() -> bool:
            offered[:] = [name for name, node in nodes.items() if node.config().json()["commit"] == bad]
            return bool(offered)

        until(one_has_it, server.log)
        status, _ = person.call("release", "status")
        assert f"  this stage: {offered[0]}\n" in status
        nodes[offered[0]].checkin(result={"commit": bad, "outcome": "reverted", "output": "no"})
        out, err = waiting.communicate(timeout=60)
        assert (waiting.returncode, out) == (3, "")
        assert f"The release of {bad[:10]} is halted: 1 failed" in err
        assert "3 nodes of 3 do not run it yet" in err
        _, refused = person.call("release", "abort", first, code=4)
        assert "is done, so it cannot be aborted. It has reached all nodes. Run `gitcfg undo`" in refused
        told = json.loads(person.call("release", "status", "-o", "json")[0])
        judge(json.dumps(told), "json")
        newest, oldest = told["releases"]
        assert (newest["failed"], newest["present"], newest["counts"]["failed"]) == (
            offered[0],
            offered[0],
            1,
        )
        assert (oldest["status"], oldest["failed"], oldest["counts"]) == ("done", "", None)
        out, _ = person.call("release", "abort", "HEAD", "-o", "json")
        judge(out, "json")
        assert [(one["commit"], one["status"]) for one in json.loads(out)["releases"]] == [(bad, "aborted")]
        _, err = person.call("release", "resume", "main", code=4)
        assert f"The release of {bad[:10]} is aborted" in err
        assert person.call("wait", "HEAD", "--timeout", "5m", code=3)[1].startswith(
            f"error: The release of {bad[:10]} is aborted"
        )
        _, err = person.call("release", "status", "--server", server.url.replace("http", "https"), code=2)
        assert "use http://" in err


@pytest.mark.slow
def test_a_server_that_is_away_for_a_while_is_waited_for(site: Site) -> None:
    known, place = Node("n1", ""), f"127.0.0.1:{free_port()}"
    first = site.with_nodes({"n1": known}, **{"nodes/n2.yaml": "labels: [slow]\n"})
    with Server(site, listen=place) as server:
        server.accepted(first)
        person = Person(server)
        waiting = person.begin("wait", "HEAD", "--where", '!("slow" in node.labels)', "--timeout", "2m")
        token = server.token("watcher")
        until(lambda: b'route="/v1/releases"' in server.get("/metrics", token).body, server.log)
    assert waiting.stderr is not None
    assert "does not answer" in waiting.stderr.readline()
    with Server(site, listen=place) as server:
        server.accepted(first)
        server.node("n1", known).obey()
        out, err = waiting.communicate(timeout=60)
    assert (waiting.returncode, out, err) == (0, "", "")


@pytest.mark.slow
def test_a_tip_that_does_not_count_is_told(site: Site) -> None:
    first = site.with_nodes({"n1": Node("n1", "")})
    with Server(site) as server:
        server.accepted(first)
        tip = site.push({"nodes/n2.yaml": "groups: [nothing]\n"})
        server.tip(tip)
        person = Person(server)
        database = ("--database", f"sqlite:///{site.bare}/gitcfg-server/state.db")
        for words in (("release", "status"), ("inventory",), ("wait", first, "--timeout", "0s")):
            _, err = person.call(*words, code=5 if words[0] == "wait" else 0)
            assert (
                f"note: main is at {tip[:10]}, which has 1 error; the accepted commit is {first[:10]}" in err
            )
        _, err = person.call("-C", str(site.bare), "release", "status", *database)
        assert f"which has 1 error; the accepted commit is {first[:10]}. GC201" in err


@pytest.mark.slow
@pytest.mark.parametrize("later", [False, True])
def test_nodes_that_walk_in_are_waited_for(later: bool, site: Site) -> None:
    guest = Node("guest", "")
    commit = site.with_nodes({"n1": Node("n1", "")}, **{"gitcfg.yaml": "format: 1\nwalk_in: {groups: []}\n"})
    with Server(site) as server:
        server.accepted(commit)
        person = Person(server)
        assert "guest" in person.call("wait", "HEAD", "guest", "--timeout", "1s", code=5)[1]
        server.node("guest", guest).obey()
        if later:
            site.push({"README.md": "changes no node\n"})
        person.call("wait", "HEAD", "guest", "--timeout", "5s")
        assert {node["name"]: node["state"] for node in plain(person.call("inventory", "-o", "json")[0])} == {
            "guest": "ok",
            "n1": "never",
        }
