"""Too much of everything: nothing falls, who is known is answered meanwhile, and memory is bounded."""

import gzip
import http.client
import re
import socket
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gitcfg.state.nodes import USUAL
from gitcfg.state.records import Event
from gitcfg.state.state import connect
from tests.server.agent import Node, checkin
from tests.server.conftest import Shared
from tests.server.site import Server, Site, until

POST = "/v1/nodes/n1/checkin"
STRANGERS = 10_000
SLOW = 300
MIB = 1024


def memory(server: Server, what: str = "VmRSS") -> int:
    """How much memory a server has, in KiB."""
    said = Path(f"/proc/{server.process.pid}/status").read_text()
    found = re.search(rf"{what}:\s+(\d+)", said)
    assert found is not None
    return int(found[1])


def ask(server: Server, nodes: list[Node]) -> set[int]:
    """What nodes are answered that ask over one connection, one after the other."""
    where = urlsplit(server.url)
    connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=60)
    found = set()
    for node in nodes:
        target = f"/v1/nodes/{node.name}/config"
        connection.request("GET", target, None, node.signed("GET", target))
        response = connection.getresponse()
        response.read()
        found.add(response.status)
    connection.close()
    return found


@pytest.mark.slow
def test_many_strangers_leave_few_traces(site: Site) -> None:
    """Each has a key of its own: what is kept of those that are turned away is bounded, too."""
    known = Node("n1", "")
    commit = site.with_nodes({"n1": known}, **{"nodes/new.yaml": "{}\n"})
    with Server(site, "--log-level", "warning") as server:
        server.accepted(commit)
        sizes = []
        for start in range(0, STRANGERS, STRANGERS // 5):
            names = [f"stranger{number}" for number in range(start, start + STRANGERS // 5)]
            with ThreadPoolExecutor(4) as pool:
                parts = [[server.node(name) for name in names[part::4]] for part in range(4)]
                answers = list(pool.map(lambda part: ask(server, part), parts))
            assert answers == [{403}] * 4
            assert server.node("n1", known).config().status == 200
            sizes.append(memory(server))
        assert sizes[-1] - sizes[0] < 40 * MIB, sizes  # 8,000 keys; 200 MiB would be 25 kB a stranger
        assert server.node("n1", known).checkin().status == 200
        # Nobody keeps a node out that git describes by inventing names.
        assert server.node("new").config().problem == "pending"
        found = server.get("/v1/nodes/new", server.token()).json()
        assert found["state"] == "pending"
        assert found["key"]
        assert server.stop() == 0
    state = connect(f"sqlite:///{site.bare}/gitcfg-server/state.db")
    assert len(state.checkins.nodes()) == USUAL.each + 1  # the described one among those of this address
    assert len(state.events.after(0, 10_000)) < 500
    state.close()


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("gzip", gzip.compress(bytes(60_000_000))),
        ("gzip", gzip.compress(gzip.compress(bytes(500_000_000), 1))),
        ("deflate", zlib.compress(bytes(60_000_000))),
    ],
)
def test_a_small_body_that_becomes_a_huge_one(shared: Shared, kind: str, body: bytes) -> None:
    node = shared.nodes["n1"]
    before = memory(shared.server, "VmHWM")
    headers = {**node.signed("POST", POST, body), "Content-Encoding": kind}
    assert node.send("POST", POST, body, headers).problem == "too-large"
    assert memory(shared.server, "VmHWM") - before < 20 * MIB


@pytest.mark.parametrize("kind", ["gzip", "deflate"])
def test_a_body_that_is_not_what_its_headers_say(shared: Shared, kind: str) -> None:
    node, body = shared.nodes["n1"], b"no such thing at all"
    headers = {**node.signed("POST", POST, body), "Content-Encoding": kind}
    assert node.send("POST", POST, body, headers).problem == "malformed"
    packed = gzip.compress(checkin("n1"))  # it is sound, but not the one whose digest was signed
    headers = {**node.signed("POST", POST, packed), "Content-Encoding": "gzip"}
    assert node.send("POST", POST, packed, headers).problem == "unauthorized"


def test_a_chunk_that_is_none(shared: Shared) -> None:
    head = b"POST " + POST.encode() + b" HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    for chunk in (b"zz\r\n", b"-5\r\n{}\r\n", b"ffffffffffffffffff\r\n"):
        with opened(shared.server) as connection:
            connection.sendall(head + chunk)
            assert b" 400 " in connection.recv(65536).partition(b"\r\n")[0]
    assert shared.nodes["n1"].config().status == 200


def test_huge_heads(shared: Shared) -> None:
    for head in (
        b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Huge: " + b"x" * 100_000 + b"\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"X-Many: 1\r\n" * 100_000 + b"\r\n",
    ):
        with opened(shared.server) as connection:
            try:
                connection.sendall(head)
                said = connection.recv(65536)
            except ConnectionError:  # it was closed before all was sent
                said = b""
            assert not said or b" 400 " in said.partition(b"\r\n")[0]
    assert shared.nodes["n1"].config().status == 200


@pytest.mark.slow
def test_many_slow_bodies_at_once(site: Site) -> None:
    known = Node("n1", "")
    commit = site.with_nodes({"n1": known})
    with Server(site, "--log-level", "warning") as server, ExitStack() as stack:
        server.accepted(commit)
        before = memory(server)
        head = b"POST " + POST.encode() + b" HTTP/1.1\r\nHost: x\r\nContent-Length: 65000\r\n\r\n"
        slow = [stack.enter_context(opened(server)) for _ in range(SLOW)]
        for connection in slow:
            connection.sendall(head + b"{" * 60_000)
        begun = time.monotonic()
        assert server.node("n1", known).config().status == 200
        assert time.monotonic() - begun < 10
        assert memory(server) - before < 100 * MIB  # 60 kB of each are there: 18 MiB
        for connection in slow:
            assert b" 408 " in connection.recv(65536).partition(b"\r\n")[0]
        assert server.node("n1", known).checkin().status == 200


@pytest.mark.slow
def test_a_watcher_that_takes_nothing_is_let_go(site: Site) -> None:
    commit = site.with_nodes({"n1": Node("n1", "")})
    with Server(site, "--log-level", "warning") as server:
        server.accepted(commit)
        token = server.token()
        state = connect(f"sqlite:///{site.bare}/gitcfg-server/state.db")
        state.events.extend([Event(0, 1.0, "checkin", "n1", {"x": "x" * 2000})] * 20_000)
        state.close()
        with opened(server) as connection:
            head = (
                "GET /v1/events HTTP/1.1",
                "Host: x",
                f"Authorization: Bearer {token}",
                "Last-Event-ID: 1",
            )
            connection.sendall("\r\n".join((*head, "", "")).encode())
            until(lambda: "gitcfg_event_streams 1" in figures(server, token), server.log)
            until(lambda: "gitcfg_event_streams 0" in figures(server, token), server.log, 90)
        assert server.stop() == 0


def figures(server: Server, token: str) -> str:
    return server.get("/metrics", token).body.decode()


def opened(server: Server) -> socket.socket:
    """A connection on which anything may be said."""
    where = urlsplit(server.url)
    return socket.create_connection((where.hostname or "", where.port or 0), timeout=60)
