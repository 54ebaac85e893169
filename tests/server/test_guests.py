"""Nodes that walked in have their turn in releases as all others."""

import pytest

from tests.server.agent import Node
from tests.server.site import FILES, Server, Site, until
from tests.server.test_releases import Fleet, begun, nodes, rounds

GUESTS = [f"guest{number}" for number in range(4)]
WALK = "format: 1\nwalk_in: {groups: [Guests]}\nrelease: {stages: [1, 100%], settle: 100ms}\n"
GREY = "params: {COLOR: grey}\n"


@pytest.mark.slow
def test_a_bad_commit_reaches_one_guest(site: Site) -> None:
    few = nodes(("n1",))
    files = {"groups/Guests.yaml": GREY, "gitcfg.yaml": WALK}
    first = site.with_nodes(few, **files)
    with Server(site) as server:
        server.accepted(first)
        token = server.token()
        fleet = Fleet(server, {**few, **{name: Node(name, "") for name in GUESTS}})
        fleet.round()
        assert set(fleet.runs) == {"n1", *GUESTS}
        until(lambda: all(one["last"] for one in server.get("/v1/nodes", token).json()["nodes"]), server.log)

        bad = site.push({"groups/Guests.yaml": GREY.replace("grey", "mauve")})
        fleet.bad.add(bad)
        begun(server, token, bad)
        rounds(fleet, server, token, bad, "halted")
        assert len(fleet.offered[bad] & set(GUESTS)) == 1
        late = server.node("late")  # it comes when it is known to be bad
        assert late.config().json()["commit"] == first
        assert server.get("/v1/nodes/late", token).json()["running"]["commit"] is None

        fix = site.push({"groups/Guests.yaml": GREY.replace("grey", "white")})
        begun(server, token, fix)
        rounds(fleet, server, token, fix, "done")
        assert fleet.offered[fix] >= set(GUESTS)
        (one,) = [one for one in server.get("/v1/releases", token).json()["releases"] if one["commit"] == fix]
        assert one["nodes"] == len(GUESTS)

        described = site.push({"groups/default.yaml": FILES["groups/default.yaml"].replace("red", "blue")})
        begun(server, token, described)
        rounds(fleet, server, token, described, "done")
