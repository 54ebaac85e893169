"""A node that was set up anew comes with another key: it is told apart, and can be accepted."""

import json

from tests.server.agent import Node
from tests.server.site import GITCFG, Server, Site, run


def test_another_key_is_kept_for_whoever_accepts_it(site: Site) -> None:
    known = Node("n1", "")
    commit = site.with_nodes({"n1": known, "n2": Node("n2", "")})
    with Server(site) as server:
        server.accepted(commit)
        token = server.token()
        assert server.node("n1", known).obey().status == 200
        assert server.get("/v1/nodes/n1", token).json()["other"] is None

        anew = server.node("n1")
        assert (anew.config().status, anew.config().problem) == (401, "unauthorized")
        found = server.get("/v1/nodes/n1", token).json()
        assert found["other"]["text"] == anew.public
        assert found["other"]["address"] == "127.0.0.1"
        assert found["key"]["text"] == known.public
        assert found["running"]["commit"] == commit
        assert server.node("n1", known).config().status == 200

        accepted = site.push({"keys/all.txt": f"n1 {anew.public}\n"})
        server.accepted(accepted)
        assert server.get("/v1/nodes/n1", token).json()["other"] is None
        assert anew.config().status == 200


def test_who_cannot_sign_with_the_key_it_presents_leaves_no_trace(site: Site) -> None:
    known = Node("n1", "")
    commit = site.with_nodes({"n1": known})
    with Server(site) as server:
        server.accepted(commit)
        node, other = server.node("n1"), Node("n1", "")
        target = "/v1/nodes/n1/config"
        headers = {**node.signed("GET", target), "Gitcfg-Key": other.public}
        assert node.send("GET", target, b"", headers).status == 401
        assert server.get("/v1/nodes/n1", server.token()).json()["other"] is None


def test_keys_that_compete_for_a_name_are_all_shown(site: Site) -> None:
    """Whoever is first does not keep the others away."""
    (site.bare / "gitcfg-server").mkdir(mode=0o700)
    database = f"sqlite:///{site.bare}/gitcfg-server/state.db"
    commit = site.with_nodes({"n1": Node("n1", "")}, **{"nodes/new.yaml": "{}\n", "nodes/late.yaml": "{}\n"})
    limits = ("--max-pending-per-address", "3")
    one, two = (Server(site, "--database", database, *limits, name=name) for name in ("one", "two"))
    with one, two:
        for server in (one, two):
            server.accepted(commit)
        token = one.token()
        first, own = one.node("new"), two.node("new")
        for node in (first, own):
            assert node.config().problem == "pending"
        for number in range(5):  # of one address no more than three are kept, described ones first
            one.node(f"stranger{number}").config()
        late = one.node("late")
        assert late.config().problem == "pending"
        (claim,) = one.get("/v1/nodes/late", token).json()["claims"]
        assert claim["text"] == late.public
        found = two.get("/v1/nodes/new", token).json()
        assert found["state"] == "pending"
        keys = [each["text"] for each in found["claims"]]
        assert keys == [first.public, own.public]
        assert all(each["address"] == "127.0.0.1" for each in found["claims"])
        call = (*GITCFG, "-C", str(site.work), "node", "list", "--pending", "-o", "json")
        said = json.loads(run(*call, "--database", database, cwd=site.work))
        waits = [each for each in said["keys"] if each["node"] == "new"]
        assert [(each["state"], each["key"]) for each in waits] == [("pending", key) for key in keys]
        assert {each["node"] for each in said["keys"]} == {"new", "late"}  # no stranger is left
