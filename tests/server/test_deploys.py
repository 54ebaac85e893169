"""Deploys over SSH as a server is told them: once, by who may, of nodes that git describes."""

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from gitcfg.deploy.records import NodeDone, Recorder, Run, runs_folder
from tests.server.agent import Answer, Node, plain
from tests.server.conftest import Shared
from tests.server.described import judge
from tests.server.site import FILES, GITCFG, Server, Site, until
from tests.web.place import csrf

RUN = "1234567abc"
COMMIT = "a" * 40
DIGEST = "d" * 64


class Pool:
    """A server: n1 has an agent, d1 and d2 have none and no keys. The release waits in its first stage."""

    def __init__(self, place: Path) -> None:
        self.site = Site(place)
        self.node = Node("n1", "")
        described = {f"nodes/{name}.yaml": "groups: []\n" for name in ("n1", "d1", "d2")}
        files = {**FILES, **described, "keys/all.txt": f"n1 {self.node.public}\n"}
        files["gitcfg.yaml"] = "format: 1\nrelease: {stages: [1, 100%], settle: 0s, max_failures: 0}\n"
        self.first = self.site.push(files)
        self.server = Server(self.site)
        self.server.accepted(self.first)
        self.node = self.server.node("n1", self.node)
        self.operate, self.read = self.server.token("ops"), self.server.token("eyes", "read")

    def digest(self, name: str) -> str:
        return str(self.listed()[name]["wanted"]["digest"])

    def listed(self) -> dict[str, Any]:
        answer = self.server.get("/v1/nodes", self.read)
        judge("GET", "/v1/nodes", answer)
        return {node["node"]: node for node in answer.json()["nodes"]}

    def tell(self, *nodes: dict[str, Any], **more: Any) -> Answer:
        return post(self.server, told(*nodes, **more), self.operate)

    def release(self) -> dict[str, Any]:
        found: dict[str, Any] = self.server.get("/v1/releases", self.read).json()["releases"][0]
        return found


def post(server: Server, body: bytes, token: str) -> Answer:
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    answer = plain(server.url, "POST", "/v1/deploys", body, headers)
    judge("POST", "/v1/deploys", answer)
    return answer


def told(*nodes: dict[str, Any], run: str = RUN, commit: str = COMMIT, **more: Any) -> bytes:
    head = {"id": run, "commit": commit, "who": "alice"}
    record = {"schema": "gitcfg.deploy-report/1", "now": time.time(), "run": head, "nodes": nodes, **more}
    return json.dumps(record).encode()


def done(node: str, outcome: str = "ok", **more: Any) -> dict[str, Any]:
    return {"node": node, "outcome": outcome, "at": time.time(), **more}


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[Pool]:
    found = Pool(tmp_path)
    with found.server:
        yield found


def test_a_node_without_an_agent_stands_as_it_was_deployed(pool: Pool) -> None:
    assert [pool.listed()[name]["state"] for name in ("d1", "n1")] == ["never", "never"]
    right = {"commit": pool.first, "digest": pool.digest("d1")}
    said = [
        done("d1", **right),
        done("d2", "failed", step="check x", output="no", commit=COMMIT, digest=DIGEST),
    ]
    answer = pool.tell(*said, done("elsewhere"), commit=pool.first)
    assert answer.json() == {
        "schema": "gitcfg.told/1",
        "run": RUN,
        "new": 2,
        "known": 0,
        "unknown": ["elsewhere"],
    }
    nodes = pool.listed()
    assert "elsewhere" not in nodes
    one, two = nodes["d1"], nodes["d2"]
    assert (one["state"], one["via"], one["away"], one["key"]) == ("ok", "alice", False, None)
    assert one["running"]["digest"] == right["digest"]
    assert (two["state"], two["failed"], two["result"]["by"]) == ("failed", pool.first, "alice")
    again = pool.tell(*said, commit=pool.first).json()
    assert (again["new"], again["known"]) == (0, 2)
    answer = pool.server.get("/v1/nodes/d2", pool.read)
    judge("GET", "/v1/nodes/d2", answer)
    (result,) = answer.json()["results"]
    assert (result["outcome"], result["step"], result["output"], result["run"]) == (
        *("failed", "check x", "no"),
        RUN,
    )
    assert b'"deployed"' in pool.server.log.read_bytes()


def test_an_agent_that_speaks_later_counts(pool: Pool) -> None:
    pool.node.obey()
    deployed = done("n1", commit=COMMIT, digest=DIGEST, agent=True)
    pool.tell(deployed)
    assert (pool.listed()["n1"]["state"], pool.listed()["n1"]["via"]) == ("behind", "alice")
    pool.node.obey()
    node = pool.listed()["n1"]
    assert (node["state"], node["via"], node["running"]["commit"]) == ("ok", None, pool.first)
    pool.tell({**deployed, "at": time.time() - 3600}, run="1234567abd")
    assert pool.listed()["n1"] == node
    results = pool.server.get("/v1/nodes/n1", pool.read).json()["results"]
    assert sorted(one["by"] for one in results) == ["", "", "alice", "alice"]


def test_the_clock_of_who_tells_it_does_not_matter(pool: Pool) -> None:
    """Else a deploy from tomorrow would keep the node's own agent from being heard."""
    tomorrow = time.time() + 86400
    said = {**done("n1", commit=COMMIT, digest=DIGEST), "at": tomorrow - 60}
    pool.tell(said, now=tomorrow)
    assert time.time() - 90 < pool.listed()["n1"]["deployed"] < time.time() - 30
    pool.tell({**said, "at": tomorrow}, run="1234567abd")
    assert pool.listed()["n1"]["deployed"] <= time.time()
    pool.node.obey()
    assert pool.listed()["n1"]["via"] is None


def test_a_release_neither_waits_for_who_has_no_agent_nor_loses_it(pool: Pool) -> None:
    pool.node.obey()
    pool.tell(*(done(name, commit=pool.first, digest=pool.digest(name)) for name in ("d1", "d2")))
    second = pool.site.push({"groups/default.yaml": FILES["groups/default.yaml"].replace("red", "blue")})
    pool.server.accepted(second)

    # A commit is accepted before its release begins.
    until(lambda: pool.release()["commit"] == second, pool.server.log)
    # Whoever is first by chance: the one node that would try it out by itself stands in.
    until(lambda: pool.release()["present"] == "n1", pool.server.log)
    # Who is of the present stage is computed for who asks; nodes are offered it with the next round.
    until(lambda: pool.node.config().json()["commit"] == second, pool.server.log)
    pool.node.obey()
    until(lambda: pool.release()["stage"] == 2, pool.server.log)
    pool.node.obey()
    until(lambda: pool.release()["status"] == "done", pool.server.log)
    assert {name: pool.listed()[name]["state"] for name in ("d1", "d2")} == {"d1": "behind", "d2": "behind"}
    pool.tell(done("d1", commit=second, digest=pool.digest("d1")), run="1234567abd", commit=second)
    assert pool.listed()["d1"]["state"] == "ok"


def test_a_deploy_that_fails_halts_the_release_of_its_commit(pool: Pool) -> None:
    pool.node.obey()
    pool.tell(*(done(name, commit=pool.first, digest=pool.digest(name)) for name in ("d1", "d2")))
    settings = "format: 1\nrelease: {stages: [100%], settle: 1h, max_failures: 0}\n"
    blue = FILES["groups/default.yaml"].replace("red", "blue")
    second = pool.site.push({"groups/default.yaml": blue, "gitcfg.yaml": settings})
    pool.server.accepted(second)
    pool.tell(done("d1", "reverted", step="check x", commit=pool.first), run="1234567abd", commit=second)
    until(lambda: pool.release()["status"] == "halted", pool.server.log)
    assert (pool.release()["why"], pool.release()["failed"]) == ("1 failed, the limit is 0", "d1")


def test_who_was_deployed_to_and_then_gets_an_agent_waits_to_be_accepted(pool: Pool) -> None:
    pool.tell(done("d1", commit=pool.first, digest=pool.digest("d1")))
    agent = pool.server.node("d1")
    assert agent.config().problem == "pending"
    node = pool.listed()["d1"]
    assert (node["state"], node["key"]["text"]) == ("pending", agent.public)
    assert pool.server.node("d1").config().problem == "pending"
    assert pool.listed()["d1"]["key"]["text"] == agent.public


REFUSED = [
    b"",
    b"\xff",
    b"{}",
    b"[" * 10_000,
    told({"node": "n1", "outcome": "ok"}),
    told(done("n1"), schema="gitcfg.deploy-report/2"),
    told(done("n1"), run="../../etc"),
    told(done("n1"), commit="main"),
    told(done("n1", "Ok!")),
    told(done("n1", commit="main")),
    told(done("n1", output="x" * 40_000)),
    told(done("n" * 300)),
    told(*[done("n1")] * 1001),
    told(done("n1")).replace(b'"alice"', b'""'),
    told(done("n1"), now=1e300),
    told({**done("n1"), "at": 1e300}),
]


@pytest.mark.parametrize("body", REFUSED)
def test_what_is_no_deploy_is_refused(shared: Shared, body: bytes) -> None:
    answer = post(shared.server, body, shared.operate)
    assert answer.problem == "malformed"
    assert answer.json()["detail"].startswith("The body is not a valid gitcfg.deploy-report/1 document: ")


def test_a_body_has_a_limit(shared: Shared) -> None:
    body = told(*(done("n1", output="x" * 32000) for _ in range(40)))
    assert len(body) > 1024 * 1024
    assert post(shared.server, body, shared.operate).problem == "too-large"


def test_only_who_may_operate_is_heard(shared: Shared) -> None:
    body = told(done("n1"))
    assert post(shared.server, body, "").problem == "unauthorized"
    assert post(shared.server, body, shared.read).problem == "not-found"
    assert shared.server.get("/v1/nodes/n1", shared.read).json()["results"] == []


def test_other_servers_and_pages_know_it_too(pool: Pool) -> None:
    """Also what is told long after it was."""
    database = f"sqlite:///{pool.site.bare}/gitcfg-server/state.db"
    with Server(pool.site, "--database", database, name="other") as other:
        other.accepted(pool.first)
        said = {**done("d1", commit=pool.first, digest=pool.digest("d1")), "at": time.time() - 86400}
        pool.tell(said, commit=pool.first)

        def metrics() -> str:
            return other.get("/metrics", pool.read).body.decode()

        until(lambda: 'gitcfg_nodes{state="ok"} 1' in metrics(), other.log)
    page = _page(pool, "/nodes/d1")
    assert "deployed over SSH by alice" in page
    assert f"deploy <code>{RUN}</code>" in page
    assert "has no agent that checks in" in page
    assert "Checked in" not in page
    table = _page(pool, "/?state=deployed")
    assert re.findall(r'href="/nodes/(\w+)"', table.partition('id="table"')[2]) == ["d1"]
    assert "deployed over SSH by alice" in table


def _page(pool: Pool, target: str) -> str:
    """As a browser of somebody who may look gets it."""
    form = pool.server.get("/login", Accept="text/html")
    said = {"csrf": csrf(form.body.decode()), "token": pool.read, "onward": "/"}
    headers = {"Cookie": _cookie(form), "Content-Type": "application/x-www-form-urlencoded"}
    session = _cookie(plain(pool.server.url, "POST", "/login", urlencode(said).encode(), headers))
    return pool.server.get(target, Cookie=session, Accept="text/html").body.decode()


def _cookie(answer: Answer) -> str:
    return answer.headers["set-cookie"].partition(";")[0]


def test_who_deploys_tells_it_over_http(pool: Pool) -> None:
    """It may be told again, where the answer was lost: nothing counts twice."""
    nodes = tuple(f"d{number}" for number in (1, 2))
    folder = runs_folder(pool.site.work / ".git")
    made = Recorder(folder, time.time)
    made.begun(Run(RUN, pool.first, "bob", "", time.time(), (*nodes, "strange")))
    for name in (*nodes, "strange"):
        made.node(NodeDone(name, "ok", output="x" * 300_000, commit=pool.first, digest=pool.digest("d1")))
    made.ended("done")
    for known in ("", "; it knew 2 already"):
        said = f"Reported 2 nodes to {pool.server.url}{known}.\n"
        assert _send(pool, pool.operate) == (0, said, "strange")
    assert _send(pool, pool.read)[0] == 2
    assert (pool.listed()["d1"]["state"], pool.listed()["d1"]["via"]) == ("ok", "bob")
    assert len(pool.server.get("/v1/nodes/d2", pool.read).json()["results"]) == 1
    asked = ("inventory", "--server", pool.server.url, "-o", "json")
    found = subprocess.run(
        [*GITCFG, "-C", str(pool.site.work), *asked],
        env={**os.environ, "GITCFG_TOKEN": pool.read},
        capture_output=True,
        check=True,
    )
    inventory = {node["name"]: node for node in json.loads(found.stdout)["nodes"]}
    assert [inventory[name]["state"] for name in ("d1", "d2", "n1")] == ["ok", "ok", "never"]
    assert (inventory["d1"]["via"], inventory["d1"]["who"], inventory["d1"]["checkin"]) == (
        "deploy",
        "bob",
        None,
    )


def _send(pool: Pool, token: str) -> tuple[int, str, str]:
    """The exit code, what is said, and which node nothing was kept of."""
    words = ["-C", str(pool.site.work), "deploys", "--send", RUN, "--server", pool.server.url]
    found = subprocess.run(
        [*GITCFG, *words], env={**os.environ, "GITCFG_TOKEN": token}, capture_output=True, text=True
    )
    strange = re.search(r"does not know (\w+)", found.stderr)
    return found.returncode, found.stdout, strange[1] if strange else ""
