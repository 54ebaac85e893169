"""A node that was set up anew comes with another key: it is told apart, and can be accepted."""

from tests.server.agent import Node
from tests.server.site import Server, Site


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
