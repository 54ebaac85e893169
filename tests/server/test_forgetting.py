"""Nodes that people forget: every server that runs forgets them, too, and lets go of those that wait."""

import threading
import time

from tests.server.agent import Node
from tests.server.site import GITCFG, Server, Site, run, until


def test_who_is_forgotten_is_nowhere_any_more(site: Site) -> None:
    site.with_nodes({"n1": Node("n1", "")})
    commit = site.push({"gitcfg.yaml": "format: 1\n"})
    database = f"sqlite:///{site.bare}/gitcfg-server/state.db"
    (site.bare / "gitcfg-server").mkdir(mode=0o700)
    one, two = (Server(site, "--database", database, name=name) for name in ("one", "two"))
    with one, two:
        for server in (one, two):
            server.accepted(commit)
        token = one.token()
        stranger = one.node("stranger")
        assert stranger.config().problem == "pending"
        for server in (one, two):
            until(lambda server=server: "stranger" in _listed(server, token), server.log)
        run(
            *GITCFG, "-C", str(site.work), "node", "forget", "stranger", "--database", database, cwd=site.work
        )
        for server in (one, two):
            until(lambda server=server: "stranger" not in _listed(server, token), server.log)
            assert server.get("/v1/nodes/stranger", token).problem == "not-found"
        again = two.node("stranger")
        assert again.config().problem == "pending"
        key = two.get("/v1/nodes/stranger", token).json()["key"]["text"]
        assert key == again.public != stranger.public


def test_a_forgotten_node_that_waits_is_let_go(site: Site) -> None:
    settings = "format: 1\nwalk_in: {groups: [Guests]}\n"
    guests = "params: {COLOR: green}\n"
    commit = site.with_nodes({}, **{"gitcfg.yaml": settings, "groups/Guests.yaml": guests})
    with Server(site) as server:
        server.accepted(commit)
        token, guest = server.token(), server.node("guest")
        digest = guest.obey().json()["digest"]
        ended: list[float] = []

        def wait() -> None:
            guest.config(60, digest)
            ended.append(time.monotonic())

        waiting = threading.Thread(target=wait)
        waiting.start()
        until(lambda: "gitcfg_long_polls 1" in server.get("/metrics", token).body.decode(), server.log)
        begun = time.monotonic()
        run(*GITCFG, "-C", str(site.bare), "node", "forget", "guest", cwd=site.work)
        waiting.join(40)
        assert ended[0] - begun < 30  # a second, and others load the machine
        until(lambda: "guest" not in _listed(server, token), server.log)
        assert server.node("guest").config().status == 200  # with another key, as if it were new


def _listed(server: Server, token: str) -> set[str]:
    return {one["node"] for one in server.get("/v1/nodes", token).json()["nodes"]}
