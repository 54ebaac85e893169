"""Deploys to real sshds, known afterwards to the server, or where it is away, to who deployed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.site import Server
from tests.system.sshd_fleet import FarFleet, far_fleet

pytestmark = pytest.mark.slow


@pytest.fixture
def three(tmp_path: Path) -> Iterator[FarFleet]:
    with far_fleet(tmp_path, 3) as fleet:
        yield fleet


def stands(fleet: FarFleet, *words: str) -> dict[str, tuple[str, str | None, str | None]]:
    """How nodes stand, by which way that is known, and what they run."""
    done = fleet.call("inventory", "-o", "json", *words)
    assert done.code == 0, done.err
    nodes = json.loads(done.out)["nodes"]
    return {node["name"]: (node["state"], node["via"], node["commit"]) for node in nodes}


def test_what_was_deployed_is_known_with_a_server_and_without(three: FarFleet) -> None:
    names = list(three.nodes)
    with Server(three) as server:
        server.accepted(three.first)
        asks = ("--server", server.url, "--token", server.token())
        done = three.deploy(*asks, names[0], names[1], "-o", "json")
        assert done.code == 0, done.err
        ok, never = ("ok", "deploy", three.first), ("never", None, None)
        wanted = dict(zip(names, (ok, ok, never), strict=True))
        assert stands(three, *asks) == wanted
        results = server.get(f"/v1/nodes/{names[0]}", asks[-1]).json()["results"]
        assert [(one["outcome"], one["run"]) for one in results] == [("ok", done.summary["run"])]
    second = three.change(MAX_JOBS="20")
    three.own(names[1], MAX_JOBS="many")
    done = three.deploy(*asks, "--at", second, *names, "-o", "json")
    assert done.code == 0, done.err
    assert f"{server.url} does not answer" in done.err
    later = f"`gitcfg deploys --send {done.summary['run']}` reports it later"
    assert later in done.err
    # Without a server its own record says it; the database beside the bare repository is of nobody here.
    new = ("ok", "deploy", second)
    assert stands(three, "--at", second) == dict.fromkeys(names, new)
    port = server.url.rpartition(":")[2]
    with Server(three, name="again", listen=f"127.0.0.1:{port}") as server:
        server.accepted(three.head())
        assert stands(three, *asks, "--at", second)[names[2]] == never
        done = three.deploy(*asks, names[1], "-o", "json")
        assert three.outcomes(done) == {names[1]: "reverted"}
        known = stands(three, *asks)
        assert known[names[1]] == ("reverted", "deploy", second)
        assert known[names[2]][2] == second
        listed = json.loads(three.call("deploys", "-o", "json").out)["deploys"]
        assert [one["told"]["place"] for one in listed] == [server.url] * 3
        assert [one["counts"] for one in listed] == [{"reverted": 1}, {"ok": 3}, {"ok": 2}]
