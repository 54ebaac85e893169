"""Two servers that share a PostgreSQL database: what one is told the other knows, and either may end."""

import threading
from collections.abc import Iterator

import pytest

from tests import postgres
from tests.server.agent import Node, checkin
from tests.server.site import FILES, Server, Site, until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def database() -> Iterator[postgres.Server]:
    if postgres.missing():
        pytest.skip(postgres.missing())
    with postgres.running() as found:
        yield found


def colour(name: str) -> dict[str, str]:
    return {"groups/default.yaml": FILES["groups/default.yaml"].replace("red", name)}


def test_two_servers_are_one(site: Site, database: postgres.Server) -> None:
    url = database.url("two")
    few = {name: Node(name, "") for name in ("n1", "n2")}
    staged = "format: 1\nrelease: {stages: [1, 100%], settle: 100ms, max_failures: 0}\n"
    first = site.with_nodes(few, **{"gitcfg.yaml": staged})
    one = Server(site, "--database", url, name="one")
    two = Server(site, "--database", url, name="two")
    with one, two:
        one.accepted(first)
        two.accepted(first)
        assert one.key == two.key
        token = one.token()
        at_one = {name: one.node(name, node) for name, node in few.items()}
        at_two = {name: two.node(name, node) for name, node in few.items()}
        for node in (at_one["n1"], at_two["n2"]):
            assert node.obey().status == 200
        for server in (one, two):
            until(lambda server=server: _standings(server, token) == {"n1": "ok", "n2": "ok"})

        # A replay at the other one.
        body, target = checkin("n1"), "/v1/nodes/n1/checkin"
        headers = at_one["n1"].signed("POST", target, body)
        assert at_one["n1"].send("POST", target, body, headers).status == 200
        assert at_two["n1"].send("POST", target, body, headers).problem == "replay"

        # One release, whoever begins it; its first stage is the same node everywhere.
        commit = site.push(colour("blue"))
        one.accepted(commit)
        two.accepted(commit)
        until(lambda: _runs(at_one, commit) == _runs(at_two, commit) and len(_runs(at_one, commit)) == 1)
        found = one.get("/v1/releases", token).json()["releases"]
        assert [release["commit"] for release in found] == [commit, first]
        (canary,) = _runs(at_one, commit)
        other = next(name for name in few if name != canary)

        # Who waits at one server is woken by what the other one was told.
        digest = at_one[other].config().json()["digest"]
        woken: list[str] = []
        waiting = threading.Thread(
            target=lambda: woken.append(at_one[other].config(60, digest).json()["commit"])
        )
        waiting.start()
        until(lambda: "gitcfg_long_polls 1" in one.get("/metrics", token).body.decode())
        assert at_two[canary].obey().status == 200
        waiting.join(40)
        assert woken == [commit]
        nodes = (at_one[other], at_two[other])
        until(lambda: len({node.config().json()["sequence"] for node in nodes}) == 1)

        assert one.stop() == 0
        assert at_two[other].obey().status == 200
        until(lambda: two.get("/v1/releases", token).json()["releases"][0]["status"] == "done")


def test_a_database_that_is_away_for_a_while(site: Site, database: postgres.Server) -> None:
    few = {"n1": Node("n1", "")}
    first = site.with_nodes(few)
    with Server(site, "--database", database.url("away")) as server:
        server.accepted(first)
        node = server.node("n1", few["n1"])
        assert node.obey().status == 200
        database.stop()
        try:
            assert node.config().json()["commit"] == first
            assert node.checkin().problem == "unavailable"
            until(lambda: server.get("/readyz").status == 503, server.log, 60)
        finally:
            database.start()
        until(lambda: server.get("/readyz").status == 200, server.log, 60)
        assert node.checkin().status == 200
        commit = site.push(colour("blue"))
        server.accepted(commit)
        until(lambda: node.config().json()["commit"] == commit, server.log)


def _standings(server: Server, token: str) -> dict[str, str]:
    return {one["node"]: one["state"] for one in server.get("/v1/nodes", token).json()["nodes"]}


def _runs(nodes: dict[str, Node], commit: str) -> set[str]:
    """The nodes that are offered a commit."""
    return {name for name, node in nodes.items() if node.config().json()["commit"] == commit}
