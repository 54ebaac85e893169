"""Requests that schemathesis makes of the OpenAPI description: everybody asks a real server all of them."""

from collections.abc import Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, settings
from requests.auth import AuthBase
from schemathesis import Case
from schemathesis.checks import CHECKS, load_all_checks

from tests.seeds import TIMES
from tests.server.agent import Node
from tests.server.described import DOCUMENT
from tests.server.site import Server, Site

pytestmark = pytest.mark.slow

EXAMPLES = 5
"""Drawn by chance for each operation and each who asks; 20 to 200 more are made of what is described."""
NODES = 30
"""One that asks too often is held back: they take turns."""
STREAM = "/v1/events"
load_all_checks()
JUDGED: list[Any] = CHECKS.get_by_names(
    [
        *("not_a_server_error", "status_code_conformance", "content_type_conformance"),
        *("response_headers_conformance", "response_schema_conformance"),
        *("unsupported_method", "allow_header_conformance"),
    ]
)
SEEN = {
    ("nobody", "GET /v1/nodes"): {401, 405},
    ("read", "GET /v1/diff"): {200, 404},
    ("read", "GET /v1/events"): {200, 400},
    ("read", "GET /v1/nodes/{node}"): {200, 404},
    ("read", "GET /v1/nodes/{node}/explain/{param}"): {200, 404},
    ("read", "GET /v1/releases"): {200},
    ("read", "POST /v1/releases/{commit}/abort"): {404},
    ("operate", "GET /v1/nodes/{node}/config"): {200, 400, 404},
    ("read", "POST /v1/deploys"): {404},
    ("operate", "POST /v1/deploys"): {200, 400},
    ("operate", "POST /v1/releases/{commit}/abort"): {404, 409},
    ("node", "GET /v1/commits/{commit}/nodes/{node}"): {200, 404},
    ("node", "GET /v1/nodes/{node}/changes"): {200, 404},
    ("node", "GET /v1/nodes/{node}/config"): {200, 400, 404},
    ("node", "POST /v1/nodes/{node}/checkin"): {200, 400, 404},
    ("stranger", "GET /v1/nodes/{node}/config"): {404},
}
"""What a test sees at least, else it was not one."""
WHO = ("nobody", "read", "operate", "node", "stranger")

schema = schemathesis.openapi.from_dict(DOCUMENT)
schema.config.phases.coverage.generate_duplicate_query_parameters = True


class Place:
    """A server, its nodes, a token of each role, and two commits."""

    def __init__(self, server: Server, nodes: list[Node], commits: tuple[str, str]) -> None:
        self.server, self.nodes, self.commits = server, nodes, commits
        self.tokens = {"read": server.token("eyes", "read"), "operate": server.token("ops")}
        self.stranger = server.node("stranger")


class Turns:
    """The requests of one test: every other one is of what there is, one after the other of it."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.seen: set[int] = set()
        self.asked = ("", "")
        self._count = 0
        self._real = {
            "commit": (*place.commits, place.commits[1][:8]),
            "from": place.commits,
            "to": place.commits,
            "node": tuple(node.name for node in place.nodes),
            "param": ("COLOR", "SIZE"),
        }

    def take(self, case: "Case[Any]") -> None:
        """Let a request be of what there is, if that is its turn."""
        self._count += 1
        if self._count % 2:
            return
        for said in (case.path_parameters or {}, case.query or {}):
            for name, known in self._real.items():
                if name in said:
                    said[name] = known[self._count // 2 % len(known)]
        if isinstance(case.body, dict) and "node" in case.body:
            case.body["node"] = (case.path_parameters or {}).get("node")

    def node(self, target: str) -> Node:
        """The node that a target is about; if that is none of them, one after the other."""
        nodes = self.place.nodes
        named = [node for node in nodes if f"/nodes/{node.name}/" in f"{target.partition('?')[0]}/"]
        return named[0] if named else nodes[self._count % NODES]


class Signing(AuthBase):
    """Signs what is sent, as the node does that it is about."""

    def __init__(self, turns: Turns, who: str) -> None:
        self._turns, self._who = turns, who

    def __call__(self, asked: requests.PreparedRequest) -> requests.PreparedRequest:
        body, target = asked.body or b"", asked.path_url
        node = self._turns.node(target) if self._who == "node" else self._turns.place.stranger
        assert isinstance(body, str | bytes)
        signed = node.signed(str(asked.method), target, body.encode() if isinstance(body, str) else body)
        kind = asked.headers.get("Content-Type")
        asked.headers.update({**signed, "Content-Type": kind} if kind else signed)
        return asked


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    site = Site(tmp_path_factory.mktemp("site"))
    nodes = {f"n{number}": Node(f"n{number}", "") for number in range(NODES)}
    first = site.with_nodes(nodes)
    with Server(site, "--log-level", "warning") as server:
        server.accepted(first)
        second = site.push({"groups/default.yaml": "params: {COLOR: blue}\n"})
        server.accepted(second)
        yield Place(server, [server.node(name, node) for name, node in nodes.items()], (first, second))
        assert server.process.poll() is None
        assert "Traceback" not in server.log.read_text()


@pytest.fixture
def turns(place: Place) -> Iterator[Turns]:
    """AssertionError: a test did not see all that it is to see."""
    found = Turns(place)
    yield found
    assert found.seen >= SEEN.get(found.asked, set())


@pytest.mark.parametrize("who", WHO)
@schema.parametrize()
@settings(max_examples=EXAMPLES * TIMES, suppress_health_check=list(HealthCheck))
def test_every_answer_is_as_it_is_described(case: "Case[Any]", turns: Turns, who: str) -> None:
    turns.take(case)
    turns.asked = (who, case.operation.label)
    more: dict[str, Any] = {}
    if who in turns.place.tokens:
        more["headers"] = {"Authorization": f"Bearer {turns.place.tokens[who]}"}
    elif who != "nobody":
        more["auth"] = Signing(turns, who)
    if case.path == STREAM:
        _look(case, turns, more)
        return
    response = case.call(base_url=turns.place.server.url, timeout=30, **more)
    turns.seen.add(response.status_code)
    case.validate_response(response, checks=JUDGED)


def _look(case: "Case[Any]", turns: Turns, more: dict[str, Any]) -> None:
    """Ask for a stream, which never ends: its head is judged."""
    said = case.as_transport_kwargs(turns.place.server.url, headers=more.pop("headers", None))
    with requests.request(**said, **more, stream=True, timeout=30) as response:
        turns.seen.add(response.status_code)
        if response.status_code == 200:
            assert response.headers["Content-Type"].startswith("text/event-stream")
        else:
            case.validate_response(response, checks=JUDGED)


def test_it_is_what_the_server_serves(place: Place) -> None:
    assert place.server.get("/openapi.json").json() == DOCUMENT
