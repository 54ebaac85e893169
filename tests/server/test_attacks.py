"""What attackers try: nothing leaks, nothing falls, nothing grows without bound."""

import socket
import time
from urllib.parse import quote, urlsplit

import pytest

from tests.server.agent import checkin, plain
from tests.server.conftest import Shared

POST = "/v1/nodes/n1/checkin"


def test_another_nodes_key(shared: Shared) -> None:
    thief = shared.server.node("n1", shared.nodes["n2"])
    assert thief.config().problem == "unauthorized"
    assert thief.checkin().problem == "unauthorized"


def test_no_key(shared: Shared) -> None:
    for target in ("/v1/nodes/n1/config", "/v1/nodes/zz/config"):
        answer = plain(shared.server.url, "GET", target)
        assert (answer.status, answer.problem) == (401, "unauthorized")
    assert plain(shared.server.url, "POST", POST, checkin("n1")).problem == "unauthorized"


def test_a_wrong_key_says_nothing_of_who_there_is(shared: Shared) -> None:
    answers = []
    for name in ("n1", "zz"):
        node = shared.server.node(name)
        headers = node.signed("GET", f"/v1/nodes/{name}/config")
        del headers["Gitcfg-Key"]
        answers.append(node.send("GET", f"/v1/nodes/{name}/config", b"", headers))
    assert answers[0].status == 401
    assert answers[0].body == answers[1].body


def test_a_replay(shared: Shared) -> None:
    node, body = shared.nodes["n1"], checkin("n1")
    headers = node.signed("POST", POST, body)
    assert node.send("POST", POST, body, headers).status == 200
    assert node.send("POST", POST, body, headers).problem == "replay"
    nonce = "once-and-only-once"
    for expected in (200, 401):
        assert node.send("POST", POST, body, node.signed("POST", POST, body, nonce)).status == expected


def test_an_altered_body(shared: Shared) -> None:
    node, body = shared.nodes["n1"], checkin("n1", version="1")
    headers = node.signed("POST", POST, body)
    altered = checkin("n1", version="2")
    assert node.send("POST", POST, altered, headers).problem == "unauthorized"


def test_a_clock_that_is_off_is_told_the_time(shared: Shared) -> None:
    node = shared.server.node("n1", shared.nodes["n1"])
    node.offset = -365 * 86400.0
    answer = node.config()
    assert (answer.status, answer.problem) == (401, "clock")
    assert answer.headers["date"].endswith("GMT")


def test_a_huge_body(shared: Shared) -> None:
    node = shared.nodes["n1"]
    body = checkin("n1", facts={"a": "x" * 70_000})
    assert node.ask("POST", POST, body).problem == "too-large"
    with _raw(shared.server.url) as connection:
        head = b"POST " + POST.encode() + b" HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head)
        assert _poured(connection) < 30
    assert shared.nodes["n1"].config().status == 200


@pytest.mark.slow
def test_a_slow_body_and_a_silent_connection(shared: Shared) -> None:
    with _raw(shared.server.url) as slow, _raw(shared.server.url) as silent:
        slow.sendall(b"POST " + POST.encode() + b" HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")
        silent.sendall(b"GET /healthz HTTP/1.1\r\nX-Slow: ")
        slow.settimeout(40)
        assert b" 408 " in slow.recv(65536).partition(b"\r\n")[0]
        silent.settimeout(60)
        begun = time.monotonic()
        while silent.recv(65536):
            assert time.monotonic() - begun < 60


@pytest.mark.parametrize(
    "name",
    ["..", "../n2", "n1/../n2", "n1%2f..%2fn2", "%2e%2e", "n1\0", "%00", "N1", "n1.", "ö", "x" * 3000, "*"],
)
def test_path_tricks(shared: Shared, name: str) -> None:
    node = shared.nodes["n1"]
    for text in (quote(name, safe=""), quote(name, safe="%/*.")):
        for target in (
            f"/v1/nodes/{text}/config",
            f"/v1/commits/{shared.commit}/nodes/{text}",
            f"/v1/commits/{text}/nodes/n1",
        ):
            answer = node.ask("GET", target)
            assert answer.status in (400, 401, 404), (target, answer.body)
            assert b"COLOR" not in answer.body
            assert b"Traceback" not in answer.body


@pytest.mark.parametrize("name", ["a%0d%0aX-Forged:%20yes", "%1b", "%C3%BC", "a%0ab", "%00", "%ff"])
def test_a_name_that_no_header_can_hold(shared: Shared, name: str) -> None:
    """Who has a token asks for any name, and may say to have signed that."""
    for target in (f"/v1/nodes/{name}/config", f"/v1/nodes/{name}/changes", f"/v1/nodes/{name}"):
        answer = shared.server.get(target, shared.read, Signature="a=:AAAA:")
        assert answer.problem in ("not-found", "malformed"), target
        assert "x-forged" not in answer.headers


def test_an_absolute_target_is_not_taken_for_another(shared: Shared) -> None:
    node = shared.nodes["n1"]
    target = "http://elsewhere/v1/nodes/n1/config"
    headers = node.signed("GET", "/v1/nodes/n1/config")
    assert plain(shared.server.url, "GET", target, b"", headers).status in (400, 401, 404)


def test_a_node_that_asks_too_often_is_held_back_alone(shared: Shared) -> None:
    eager = shared.nodes["n3"]
    answers = [eager.config() for _ in range(200)]
    assert answers[-1].problem == "too-many"
    assert answers[-1].headers["retry-after"]
    assert shared.nodes["n2"].config().status == 200


def test_a_stranger_is_pending_and_is_told_its_fingerprint(shared: Shared) -> None:
    stranger = shared.server.node("stranger")
    answer = stranger.config()
    assert (answer.status, answer.problem) == (403, "pending")
    assert answer.json()["fingerprint"].startswith("SHA256:")
    assert stranger.checkin(facts={"big": "x" * 60_000}).problem == "pending"
    assert stranger.ask("GET", "/v1/nodes/n1/config").problem == "not-found"
    found = shared.server.get("/v1/nodes/stranger", shared.read).json()
    assert found["state"] == "pending"
    assert found["key"] == {"text": stranger.public, "fingerprint": answer.json()["fingerprint"]}
    assert found["facts"] == {}
    assert found["address"] == "127.0.0.1"
    assert shared.server.node("stranger").config().problem == "pending"
    assert shared.server.get("/v1/nodes/stranger", shared.read).json()["key"]["text"] == stranger.public


def _poured(connection: socket.socket) -> float:
    """For how many seconds the other side takes whatever is sent."""
    begun = time.monotonic()
    while time.monotonic() - begun < 30:
        try:
            connection.sendall(b"1000\r\n" + b"x" * 4096 + b"\r\n")
        except OSError:
            break
    return time.monotonic() - begun


def _raw(url: str) -> socket.socket:
    where = urlsplit(url)
    return socket.create_connection((where.hostname or "", where.port or 0), timeout=30)


@pytest.mark.parametrize(
    "asked",
    [
        b"NONSENSE\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n\r\n",
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /no/such/place HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
)
def test_every_answer_names_gitcfg_and_no_version(shared: Shared, asked: bytes) -> None:
    with _raw(shared.server.url) as connection:
        connection.sendall(asked)
        head = connection.recv(65536).partition(b"\r\n\r\n")[0].lower()
    assert b"\r\nserver: gitcfg\r\n" in head + b"\r\n"
    assert b"aiohttp" not in head
