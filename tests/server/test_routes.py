"""What each route answers, held to its description."""

import http.client
import json
from urllib.parse import urlsplit

import pytest

from gitcfg.server.routes import routes
from tests.server.agent import checkin, plain
from tests.server.conftest import Shared
from tests.server.described import DOCUMENT, judge
from tests.server.site import FILES, until

LOOK = (
    "/v1/commits",
    "/v1/nodes",
    "/v1/nodes/n1",
    "/v1/nodes/n1/config",
    "/v1/nodes/n1/changes",
    "/v1/nodes/n1/explain/COLOR",
    "/v1/nodes/n1/explain/COLOR?all=1",
    "/v1/diff",
    "/v1/releases",
    "/metrics",
)
OPEN = ("/healthz", "/readyz", "/openapi.json")


def test_what_is_described_is_what_there_is() -> None:
    there = {(route.method, route.path) for route in routes()}
    said = {(method.upper(), path) for path, item in DOCUMENT["paths"].items() for method in item}
    assert there == said


def test_every_problem_is_one_that_is_described() -> None:
    from gitcfg.server.http import KINDS, TYPE

    said = DOCUMENT["components"]["schemas"]["Problem"]["properties"]["type"]["enum"]
    assert sorted(said) == sorted(TYPE + kind for kind in KINDS)


@pytest.mark.parametrize("target", LOOK)
def test_who_holds_a_token_may_look(shared: Shared, target: str) -> None:
    answer = shared.server.get(target, shared.read)
    assert answer.status == 200, answer.body
    judge("GET", target, answer)
    assert "signature" not in answer.headers
    assert answer.headers["server"] == "gitcfg"


@pytest.mark.parametrize("target", LOOK)
def test_nobody_else_may(shared: Shared, target: str) -> None:
    for token in ("", "gitcfg_" + "A" * 43, "x" * 5000):
        answer = shared.server.get(target, token)
        assert answer.status == 401
        judge("GET", target, answer)
    other = shared.nodes["n2"].ask("GET", target)
    assert other.problem == "not-found"


@pytest.mark.parametrize("target", OPEN)
def test_some_things_anybody_may_ask(shared: Shared, target: str) -> None:
    answer = shared.server.get(target)
    assert answer.status == 200
    judge("GET", target, answer)


def test_a_node_fetches_what_it_is_to_run(shared: Shared) -> None:
    node = shared.nodes["n1"]
    answer = node.config()
    judge("GET", "/v1/nodes/n1/config", answer)
    target = answer.json()
    assert (target["node"], target["commit"], target["hold"]) == ("n1", shared.commit, None)
    assert answer.headers["gitcfg-commit"] == shared.commit
    assert answer.headers["gitcfg-digest"] == target["digest"] == answer.headers["etag"].strip('"')
    same = node.config(digest=target["digest"])
    assert (same.status, same.body, same.headers["gitcfg-commit"]) == (304, b"", shared.commit)

    path = f"/v1/commits/{shared.commit}/nodes/n1"
    package = node.ask("GET", path)
    judge("GET", path, package)
    assert package.json()["files"]["/etc/color.conf"]["content"] == "COLOR=red\n"
    assert package.json()["digest"] == target["digest"]
    assert "immutable" in package.headers["cache-control"]
    assert "private" in package.headers["cache-control"]
    assert node.ask("GET", path, more={"If-None-Match": package.headers["etag"]}).status == 304
    changes = node.ask("GET", f"/v1/nodes/n1/changes?to={shared.commit}")
    judge("GET", "/v1/nodes/n1/changes", changes)
    assert (changes.json()["from"], changes.json()["reload"]) == (None, ["painter"])


def test_a_node_says_how_it_stands(shared: Shared) -> None:
    node = shared.nodes["n2"]
    drift = [{"path": "/etc/color.conf", "kind": "changed", "diff": "-red\n+mauve\n"}]
    runs = {"commit": shared.commit, "digest": node.config().json()["digest"], "since": 12.5}
    result = {"commit": shared.commit, "outcome": "ok", "step": "reload", "output": "\0fine", "seconds": 1}
    said = {"running": runs, "result": result, "drift": drift, "facts": {"os": "x\0y"}, "version": "0.1.0"}
    answer = node.checkin(**said, interval=30, clock_offset=-2)
    judge("POST", "/v1/nodes/n2/checkin", answer)
    assert answer.json() == {**node.config().json(), "date": answer.json()["date"]}
    found = shared.server.get("/v1/nodes/n2", shared.read)
    judge("GET", "/v1/nodes/n2", found)
    known = found.json()
    assert known["state"] == "drifted"
    assert known["running"] == runs
    assert known["drift"] == drift
    assert known["facts"] == {"os": "x\0y"}
    for target, facts in (("/v1/nodes", None), ("/v1/nodes?facts=1", {"os": "x\0y"})):
        every = shared.server.get(target, shared.read)
        judge("GET", target, every)
        assert next(one for one in every.json()["nodes"] if one["node"] == "n2").get("facts") == facts
    assert known["results"][0]["output"] == "\0fine"
    assert known["key"]["text"] == node.public
    metrics = shared.server.get("/metrics", shared.read).body.decode()
    assert 'gitcfg_nodes{state="drifted"} ' in metrics
    assert metrics.endswith("# EOF\n")


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b"[]",
        b"\xff",
        b"[" * 50_000,
        checkin("n2"),
        checkin("n1", running={"commit": "HEAD"}),
        checkin("n1", result={"commit": "a" * 40, "outcome": "fine"}),
        checkin("n1", version="a\0b"),
        checkin("n1", interval=-1),
        checkin("n1", clock_offset=1e300),
        b'{"schema": "gitcfg.checkin/1", "node": "n1", "facts": {"a": "\\ud800"}}',
        b'{"schema": "gitcfg.checkin/1", "node": "n1", "interval": NaN}',
    ],
)
def test_a_check_in_that_is_none_is_refused(shared: Shared, body: bytes) -> None:
    answer = shared.nodes["n1"].ask("POST", "/v1/nodes/n1/checkin", body)
    assert answer.problem == "malformed"
    judge("POST", "/v1/nodes/n1/checkin", answer)


def test_commits_that_no_protected_branch_has_are_unknown(shared: Shared) -> None:
    work = shared.site.work
    from tests.server.site import run

    run("git", "checkout", "-q", "-b", "side", cwd=work)
    run("git", "commit", "-q", "--allow-empty", "-m", "side", cwd=work)
    run("git", "push", "-q", "origin", "side", cwd=work)
    side = shared.site.head()
    run("git", "checkout", "-q", "main", cwd=work)
    node = shared.nodes["n1"]
    said = [node.ask("GET", f"/v1/commits/{commit}/nodes/n1") for commit in (side, "f" * 40, "main", "x")]
    assert {(answer.status, answer.body) for answer in said} == {(404, said[0].body)}
    assert shared.server.get(f"/v1/diff?from={side}", shared.read).problem == "not-found"


def test_the_same_answer_for_what_is_not_there_and_what_one_may_not_see(shared: Shared) -> None:
    node = shared.nodes["n1"]
    there = [f"/v1/commits/{shared.commit}/nodes/n2", "/v1/nodes/n2/config", "/v1/nodes", "/v1/nodes/n2"]
    gone = [f"/v1/commits/{shared.commit}/nodes/zz", "/v1/nodes/zz/config", "/v1/nowhere", "/v1/nodes/zz"]
    answers = [node.ask("GET", target) for target in (*there, *gone)]
    assert {(answer.status, answer.body) for answer in answers} == {(404, answers[0].body)}


def test_what_aiohttp_refuses_is_a_problem_too(shared: Shared) -> None:
    assert shared.server.get("/nowhere").problem == "not-found"
    wrong = shared.server.get("/v1/nodes", method="DELETE")
    assert wrong.problem == "method"
    assert wrong.headers["allow"] == "GET"
    assert shared.server.get("/v1/nodes", method="HEAD").status == 405
    where = urlsplit(shared.server.url)
    connection = http.client.HTTPConnection(where.hostname or "", where.port)
    connection.connect()
    connection.sock.sendall(b"GARBAGE /secret\r\n\r\n")
    answer = connection.sock.recv(65536)
    assert b"400" in answer
    assert b"application/problem+json" in answer
    assert b"secret" not in answer
    connection.close()


def test_who_may_only_look_cannot_operate(shared: Shared) -> None:
    target = f"/v1/releases/{shared.commit}/abort"
    assert shared.server.get(target, shared.read, "POST").problem == "not-found"
    assert shared.nodes["n1"].ask("POST", target).problem == "not-found"
    done = shared.server.get(target, shared.operate, "POST")
    assert done.problem == "conflict"
    judge("POST", target, done)
    assert shared.server.get("/v1/releases/ffffff/resume", shared.operate, "POST").problem == "not-found"


def test_a_token_that_is_revoked_counts_no_more(shared: Shared) -> None:
    from tests.server.site import GITCFG, run

    token = shared.server.token("brief", "read")
    words = ("-C", str(shared.site.bare), "serve", "token")
    assert "brief  read" in run(*GITCFG, *words, "list", cwd=shared.site.work)
    assert token not in run(*GITCFG, *words, "list", cwd=shared.site.work)
    run(*GITCFG, *words, "revoke", "brief", cwd=shared.site.work)
    assert shared.server.get("/v1/nodes", token).problem == "unauthorized"


def test_events_are_streamed_and_resumed(shared: Shared) -> None:
    where = urlsplit(shared.server.url)

    def stream(last: str) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=20)
        said = {"Authorization": f"Bearer {shared.read}", "Last-Event-ID": last}
        connection.request("GET", "/v1/events", headers=said)
        return connection, connection.getresponse()

    def event(response: http.client.HTTPResponse) -> dict[str, str]:
        found: dict[str, str] = {}
        while True:
            line = response.readline().decode().rstrip("\n")
            if not line and "data" in found:
                return found
            name, _, value = line.partition(": ")
            if name in ("id", "event", "data"):
                found[name] = value

    connection, response = stream("0")
    first = event(response)
    assert response.headers["content-type"].startswith("text/event-stream")
    assert first["event"] == "commit"
    assert json.loads(first["data"])["commit"] == shared.commit
    shared.nodes["n3"].obey()
    seen = [event(response)]
    while seen[-1]["event"] != "checkin" or json.loads(seen[-1]["data"])["node"] != "n3":
        seen.append(event(response))
    numbers = [int(one["id"]) for one in seen]
    assert numbers == sorted(set(numbers))
    connection.close()
    again, response = stream(seen[-2]["id"] if len(seen) > 1 else first["id"])
    assert event(response) == seen[-1]
    again.close()


def test_a_new_commit_is_noticed_at_once_and_wakes_who_waits(shared: Shared) -> None:
    import threading
    import time

    node = shared.nodes["n1"]
    digest = node.config().json()["digest"]
    found = []
    waiting = threading.Thread(target=lambda: found.append((node.config(60, digest), time.monotonic())))
    waiting.start()
    until(lambda: "gitcfg_long_polls 1" in shared.server.get("/metrics", shared.read).body.decode())
    commit = shared.site.push({"groups/default.yaml": FILES["groups/default.yaml"].replace("red", "green")})
    pushed = time.monotonic()
    waiting.join(30)
    answer, at = found[0]
    assert answer.json()["commit"] == commit
    assert at - pushed < 5  # 1 s and the check; others load the machine
    assert answer.json()["sequence"] > 0
    diff = shared.server.get(f"/v1/diff?from={shared.commit}&to={commit}", shared.read)
    judge("GET", "/v1/diff", diff)
    assert diff.json()["changes"][0]["nodes"] == ["n1", "n2", "n3"]
    changes = node.ask("GET", f"/v1/nodes/n1/changes?from={shared.commit}&to={commit}")
    assert changes.json()["params"] == {"COLOR": {"old": "red", "new": "green"}}


def test_a_wait_that_is_no_number_is_refused(shared: Shared) -> None:
    answer = plain(shared.server.url, "GET", "/v1/nodes/n1/config?wait=1e9", b"", _bearer(shared.read))
    assert answer.problem == "malformed"


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize("target", ["/healthz", "/readyz"])
def test_balancers_ask_for_heads(shared: Shared, target: str) -> None:
    answer = shared.server.get(target, method="HEAD")
    assert (answer.status, answer.body) == (200, b"")
