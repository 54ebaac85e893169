"""Secrets leave the server for the node itself alone, sealed to its key, where nobody reads along."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyrage
import pytest

from tests.server.agent import Node, plain
from tests.server.described import judge
from tests.server.sealed import FILE, WITH_SECRET, content, featured, package, secret
from tests.server.site import Server, Site, run, until

CANARY, NEXT = "canary-of-the-server", "canary-that-came-next"

LEFT_OVER = (
    f"beside\n-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\n{CANARY}\n-----END PRIVATE KEY-----\n"
)


def recipient(server: Server) -> str:
    """What the server prints: the line for a secret's recipients."""
    assert server.process.stdout is not None
    told = server.process.stdout.readline() + server.process.stdout.readline()
    assert told.startswith("To let the server read a secret, add this recipient to it:\n")
    return told.splitlines()[1]


class Pool:
    """A server with a node that has a secret, one that has none, and a token."""

    def __init__(self, site: Site, server: Server, nodes: dict[str, Node], **more: str) -> None:
        self.site, self.server, self.key = site, server, recipient(server)
        self.nodes = {name: server.node(name, node) for name, node in nodes.items()}
        self.n1, self.n2, self.token = self.nodes["n1"], self.nodes["n2"], server.token()
        self.commit = self.push({**WITH_SECRET, **featured(["n1"]), **secret(CANARY, self.key), **more})

    def push(self, files: Mapping[str, str | None]) -> str:
        commit = self.site.push(files)
        until(lambda: self.wanted("n2") == commit, self.server.log)
        return commit

    def wanted(self, name: str) -> str:
        found = self.server.get(f"/v1/nodes/{name}", self.token).json()
        return str((found.get("wanted") or {}).get("commit"))

    def logged(self, message: str) -> list[dict[str, str]]:
        found = [json.loads(line) for line in self.server.log.read_text().splitlines()]
        return [line for line in found if line["message"] == message]

    def metric(self, outcome: str) -> int:
        text = self.server.get("/metrics", self.token).body.decode()
        found = re.search(rf'gitcfg_secret_configurations_total{{outcome="{outcome}"}} (\d+)', text)
        return int(found[1]) if found else 0


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    site = Site(tmp_path_factory.mktemp("site"))
    nodes = {name: Node(name, "") for name in ("n1", "n2")}
    site.with_nodes(nodes)
    with Server(site, "--trusted-proxy", "127.0.0.2") as server:
        made = Pool(site, server, nodes, **{"files/key": LEFT_OVER})
        yield made
        assert "canary" not in server.log.read_text()


def test_a_node_gets_it_sealed_to_its_own_key(pool: Pool) -> None:
    before = pool.metric("sealed")
    answer = package(pool.n1, pool.commit)
    judge("GET", f"/v1/commits/{pool.commit}/nodes/n1", answer)
    assert content(pool.n1, answer) == f"PASSWORD={CANARY}\n"
    assert CANARY.encode() not in answer.body
    file = answer.json()["files"][FILE]
    assert (file["content"], file["mode"]) == ('PASSWORD="<secret pool v1>"\n', "0600")
    assert answer.json()["params"]["PASSWORD"] == {"$secret": "pool", "version": 1}
    assert "sealed" not in answer.json()["files"]["/etc/plain"]
    assert answer.headers["cache-control"] == "no-store"
    assert pool.metric("sealed") == before + 1
    again = package(pool.n1, pool.commit)
    assert again.json()["files"][FILE]["sealed"] != file["sealed"]
    assert again.headers["etag"] == answer.headers["etag"]


def test_a_node_that_has_it_asks_in_vain_as_ever(pool: Pool) -> None:
    tag = package(pool.n1, pool.commit).headers["etag"]
    answer = package(pool.n1, pool.commit, **{"If-None-Match": tag})
    assert (answer.status, answer.body) == (304, b"")


def test_who_has_a_token_sees_its_name_alone(pool: Pool) -> None:
    answer = pool.server.get(f"/v1/commits/{pool.commit}/nodes/n1", pool.token)
    judge("GET", f"/v1/commits/{pool.commit}/nodes/n1", answer)
    assert answer.json()["files"][FILE]["sealed"] is None
    assert "immutable" in answer.headers["cache-control"]
    cookie = pool.server.cookie(pool.token)
    for target in ("/nodes/n1", f"/commits/{pool.commit}", "/v1/nodes/n1/explain/PASSWORD"):
        answer = pool.server.get(target, pool.token, Cookie=cookie)
        assert answer.status == 200
        assert b"canary" not in answer.body


def test_a_search_does_not_tell_what_a_key_holds_that_was_left_in_a_file(pool: Pool) -> None:
    cookie = pool.server.cookie(pool.token)
    texts = ("beside", "MIIEv", "MIIEw")
    found = {text: pool.server.get(f"/search?q={text}", Cookie=cookie) for text in texts}
    assert {answer.status for answer in found.values()} == {200}
    assert {text for text, answer in found.items() if b"files/key" in answer.body} == {"beside"}
    assert b"MIIEvQ" not in found["MIIEv"].body


def test_a_difference_tells_whom_secrets_are_for(pool: Pool) -> None:
    first = run("git", "rev-parse", f"{pool.commit}~1", cwd=pool.site.work).strip()
    target = f"/v1/diff?from={first}&to={pool.commit}"
    answer = pool.server.get(target, pool.token)
    judge("GET", target, answer)
    (told,) = answer.json()["secrets"]
    assert (told["name"], CANARY.encode() in answer.body) == ("pool", False)


def test_a_node_without_secrets_is_answered_as_ever(pool: Pool) -> None:
    answer = package(pool.n2, pool.commit)
    assert answer.status == 200
    assert "sealed" not in answer.body.decode()
    assert "immutable" in answer.headers["cache-control"]
    assert package(pool.n2, pool.commit.replace(pool.commit[:4], "0000")).status == 404


@pytest.mark.parametrize("headers", [{"X-Forwarded-For": "10.0.0.7"}, {"X-Forwarded-Proto": "https"}])
def test_what_others_may_have_carried_is_refused(pool: Pool, headers: dict[str, str]) -> None:
    """A proxy that is not trusted: nobody knows whether it was TLS on its other side."""
    answer = package(pool.n1, pool.commit, **headers)
    judge("GET", f"/v1/commits/{pool.commit}/nodes/n1", answer)
    assert (answer.status, answer.problem) == (503, "secrets")
    assert "TLS" in answer.json()["detail"]
    assert answer.headers["cache-control"] == "no-store"
    assert package(pool.n2, pool.commit, **headers).status == 200


def test_a_trusted_proxys_word_counts(tmp_path: Path) -> None:
    site, nodes = Site(tmp_path), {name: Node(name, "") for name in ("n1", "n2")}
    site.with_nodes(nodes)
    with Server(site, "--trusted-proxy", "127.0.0.1") as server:
        pool = Pool(site, server, nodes)
        for headers, status in (
            ({"X-Forwarded-For": "10.0.0.7", "X-Forwarded-Proto": "https"}, 200),
            ({"X-Forwarded-For": "10.0.0.7", "X-Forwarded-Proto": "http"}, 503),
            ({"X-Forwarded-For": "127.0.0.1"}, 503),
            ({"X-Forwarded-For": "10.0.0.7"}, 503),
            ({}, 503),
        ):
            assert package(pool.n1, pool.commit, **headers).status == status, headers


def test_what_cannot_be_opened_is_told_and_keeps_nobody_else(pool: Pool) -> None:
    other = str(pyrage.x25519.Identity.generate().to_public())
    commit = pool.push(secret(CANARY, other, version=2))
    before = pool.metric("refused")
    for _ in range(3):
        answer = package(pool.n1, commit)
        assert (answer.status, answer.problem) == (503, "secrets")
        assert "No key here can decrypt the secret pool" in answer.json()["detail"]
    assert package(pool.n2, commit).status == 200
    assert pool.n1.config().json()["commit"] == commit
    assert pool.metric("refused") == before + 3
    told = pool.logged("cannot deliver secrets")
    assert len([line for line in told if line["commit"] == commit]) == 1
    assert told[-1]["node"] == "n1"
    assert "the server's own key" in told[-1]["hint"]
    assert "Tried" not in answer.body.decode()
    commit = pool.push(secret(NEXT, pool.key, version=3))
    assert content(pool.n1, package(pool.n1, commit)) == f"PASSWORD={NEXT}\n"


def test_a_new_version_is_another_digest_and_new_recipients_are_not(pool: Pool) -> None:
    other = str(pyrage.x25519.Identity.generate().to_public())
    pool.push(secret(CANARY, pool.key, version=4))
    digest = pool.n1.config().json()["digest"]
    commit = pool.push(secret(CANARY, pool.key, other, version=4))
    assert pool.n1.config().json()["digest"] == digest
    assert content(pool.n1, package(pool.n1, commit)) == f"PASSWORD={CANARY}\n"
    pool.push(secret(CANARY, pool.key, version=5))
    assert pool.n1.config().json()["digest"] != digest


def test_a_commit_that_does_not_count_gives_nobody_a_secret(pool: Pool) -> None:
    """n2 is not one of those that may have it; the commit that says otherwise has errors."""
    limited = {**secret(CANARY, pool.key, version=6, where='node.name == "n1"'), **featured(["n1"])}
    good = pool.push(limited)
    bad = pool.site.push(featured(["n2"]))
    pool.server.tip(bad)
    answer = package(pool.n2, bad)
    assert (answer.status, answer.problem) == (503, "secrets")
    assert "no longer for n2" in answer.json()["detail"]
    assert package(pool.n1, bad).status == 200
    pool.push({"nodes/n2.yaml": "groups: []\n"})
    assert package(pool.n1, good).status == 200


def test_an_old_commit_gives_no_node_what_is_no_longer_its_own(pool: Pool) -> None:
    old = pool.push({**secret(CANARY, pool.key, version=7), **featured(["n1", "n2"])})
    assert package(pool.n2, old).status == 200
    pool.push(
        {**secret(CANARY, pool.key, version=7, where='node.name == "n1"'), "nodes/n2.yaml": "groups: []\n"}
    )
    answer = package(pool.n2, old)
    assert (answer.status, answer.problem) == (503, "secrets")
    assert "no longer" in answer.json()["detail"]
    assert package(pool.n1, old).status == 200


def test_another_node_gets_nothing(pool: Pool) -> None:
    answer = pool.n2.ask("GET", f"/v1/commits/{pool.commit}/nodes/n1")
    assert answer.status == 404
    assert plain(pool.server.url, "GET", f"/v1/commits/{pool.commit}/nodes/n1").status == 401


def test_a_node_with_a_new_key_gets_it_sealed_to_that(pool: Pool) -> None:
    new = pool.server.node("n1")
    keys = f"n1 {new.public}\nn2 {pool.n2.public}\n"
    commit = pool.push({**secret(NEXT, pool.key, version=8), "keys/all.txt": keys})
    assert content(new, package(new, commit)) == f"PASSWORD={NEXT}\n"
    assert package(pool.n1, commit).status == 401
    pool.push({"keys/all.txt": f"n1 {pool.n1.public}\nn2 {pool.n2.public}\n"})


def test_a_retired_node_is_sent_none(pool: Pool) -> None:
    commit = pool.push({"nodes/n1.yaml": "features: [Secret]\nstate: retired\n"})
    answer = package(pool.n1, commit)
    assert answer.status == 200
    assert answer.json()["files"].get(FILE, {"sealed": None})["sealed"] is None
    pool.push(featured(["n1"]))


def test_guests_get_none(tmp_path: Path) -> None:
    """Whoever comes may walk in; git has no key of theirs."""
    site, nodes = Site(tmp_path), {name: Node(name, "") for name in ("n1", "n2")}
    site.with_nodes(
        nodes, **{"gitcfg.yaml": "format: 1\nwalk_in: {groups: [Guests]}\n", "groups/Guests.yaml": "{}\n"}
    )
    with Server(site) as server:
        pool = Pool(site, server, nodes, **{"groups/Guests.yaml": "features: [Secret]\n"})
        guest = server.node("guest")
        assert guest.config().status == 200
        answer = package(guest, pool.commit)
        assert (answer.status, answer.problem) == (503, "secrets")
        assert "no key for this node" in answer.json()["detail"]
        assert content(pool.n1, package(pool.n1, pool.commit)) == f"PASSWORD={CANARY}\n"


@pytest.mark.slow
def test_keys_of_its_own_and_others(tmp_path: Path) -> None:
    mine = pyrage.x25519.Identity.generate()
    file = tmp_path / "identity.txt"
    file.write_text(f"# a key\n{mine}\n")
    site, nodes = Site(tmp_path / "site"), {name: Node(name, "") for name in ("n1", "n2")}
    site.with_nodes(nodes)
    file.chmod(0o644)
    for path, why in ((file, "Other users can read"), (tmp_path / "no", "Cannot read the key")):
        with pytest.raises(AssertionError, match=why):
            Server(site, "--identity", str(path))
    file.chmod(0o600)
    with Server(site, "--identity", str(file)) as server:
        pool = Pool(site, server, nodes)
        assert content(pool.n1, package(pool.n1, pool.commit)) == f"PASSWORD={CANARY}\n"
        commit = pool.push(secret(NEXT, str(mine.to_public()), version=2))
        assert content(pool.n1, package(pool.n1, commit)) == f"PASSWORD={NEXT}\n"
        limits = Path(f"/proc/{server.process.pid}/limits").read_text()
        assert re.search(r"Max core file size +0 +0", limits)
        assert "canary" not in server.log.read_text()
        for found in (site.bare / "gitcfg-server").iterdir():
            assert b"canary" not in found.read_bytes()


def test_several_servers_open_with_their_own_keys(tmp_path: Path) -> None:
    site, nodes = Site(tmp_path / "site"), {name: Node(name, "") for name in ("n1", "n2")}
    site.with_nodes(nodes)
    with Server(site) as one, Server(site, "--state", str(tmp_path / "two"), name="two") as two:
        pool = Pool(site, one, nodes)
        two.accepted(pool.commit)
        other = two.node("n1", nodes["n1"])
        assert package(other, pool.commit).problem == "secrets"
        commit = pool.push(secret(NEXT, pool.key, recipient(two), version=2))
        two.accepted(commit)
        for node in (pool.n1, other):
            assert content(node, package(node, commit)) == f"PASSWORD={NEXT}\n"
