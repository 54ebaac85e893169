"""Commits on their way to nodes: stages, halts, fixes, ways back, holds, and tips that are invalid."""

import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.server.agent import Node
from tests.server.described import judge
from tests.server.site import FILES, GITCFG, Server, Site, run, until

STAGED = "format: 1\nrelease: {stages: [1, 10%, 100%], settle: 100ms, max_failures: 3}\n"


def colour(name: str) -> dict[str, str]:
    return {"groups/default.yaml": FILES["groups/default.yaml"].replace("red", name)}


class Fleet:
    """Simulated nodes: each takes what it is offered, but for commits that are bad."""

    def __init__(self, server: Server, nodes: dict[str, Node]) -> None:
        self.nodes = [server.node(name, node) for name, node in nodes.items()]
        self.runs: dict[str, str] = {}
        self.said: dict[str, dict[str, str]] = {}
        self.offered: dict[str, set[str]] = {}
        self.bad: set[str] = set()
        self._threads = ThreadPoolExecutor(8)

    def round(self) -> None:
        """Everybody asks once, and says how it went."""
        list(self._threads.map(self._turn, self.nodes))

    def _turn(self, node: Node) -> None:
        target = node.config().json()
        commit, digest = target["commit"], target["digest"]
        self.offered.setdefault(commit, set()).add(node.name)
        if self.runs.get(node.name) == digest:
            return
        if commit in self.bad:
            result = {"commit": commit, "outcome": "reverted", "output": "no"}
            node.checkin(running=self.said.get(node.name, {}), result=result)
            return
        self.runs[node.name] = digest
        self.said[node.name] = {"commit": commit, "digest": digest}
        node.checkin(running=self.said[node.name], result={"commit": commit, "outcome": "ok"})


def status(server: Server, token: str, commit: str) -> str:
    found = server.get("/v1/releases", token)
    judge("GET", "/v1/releases", found)
    return next((str(one["status"]) for one in found.json()["releases"] if one["commit"] == commit), "none")


def rounds(fleet: Fleet, server: Server, token: str, commit: str, wanted: str) -> None:
    """Until a release stands so."""

    def stands() -> bool:
        fleet.round()
        time.sleep(0.7)  # a node that asks all the time is held back
        return status(server, token, commit) == wanted

    until(stands, server.log, 240)


def begun(server: Server, token: str, commit: str) -> None:
    until(lambda: status(server, token, commit) != "none", server.log)


def offering(fleet: Fleet, server: Server, commit: str) -> None:
    """A release stands in the database a moment before nodes are told of it."""

    def offered() -> bool:
        fleet.round()
        return commit in fleet.offered

    until(offered, server.log)


def nodes(names: Iterable[str]) -> dict[str, Node]:
    return {name: Node(name, "") for name in names}


@pytest.mark.slow
def test_a_bad_commit_to_500_nodes_reaches_one_and_the_fix_all(site: Site) -> None:
    many = nodes(f"n{number}" for number in range(500))
    first = site.with_nodes(many, **{"gitcfg.yaml": STAGED})
    with Server(site, "--log-level", "warning") as server:
        server.accepted(first)
        token, fleet = server.token(), Fleet(server, many)
        fleet.round()
        assert len(fleet.runs) == 500
        bad = site.push(colour("mauve"))
        fleet.bad.add(bad)
        begun(server, token, bad)
        rounds(fleet, server, token, bad, "halted")
        fleet.round()
        assert len(fleet.offered[bad]) == 1
        fix = site.push(colour("blue"))
        begun(server, token, fix)
        rounds(fleet, server, token, fix, "done")
        assert status(server, token, bad) == "overtaken"
        assert fleet.offered[fix] == set(many)
        assert len(fleet.offered[bad]) == 1


@pytest.mark.slow
def test_a_halted_release_goes_on_or_is_taken_back(site: Site) -> None:
    few = nodes(("n1", "n2", "n3"))
    first = site.with_nodes(few, **{"gitcfg.yaml": STAGED})
    with Server(site) as server:
        server.accepted(first)
        token, fleet = server.token(), Fleet(server, few)
        fleet.round()
        bad = site.push(colour("mauve"))
        fleet.bad.add(bad)
        begun(server, token, bad)
        rounds(fleet, server, token, bad, "halted")
        (one,) = fleet.offered[bad]
        said = run(*GITCFG, "-C", str(site.bare), "release", "status", cwd=site.work)
        assert "halted" in said
        assert "1 failed of the 1 in stage 1" in said
        waiting = ("wait", bad, "--timeout", "1s", "--server", server.url, "--token", token)
        with pytest.raises(AssertionError, match="not run it yet"):
            run(*GITCFG, "-C", str(site.bare), *waiting, cwd=site.work)

        target = f"/v1/releases/{bad[:8]}/resume"
        answer = server.get(target, token, "POST")
        assert answer.status == 200
        judge("POST", target, answer)
        failed = next(node for node in fleet.nodes if node.name == one)
        until(lambda: failed.config().json()["again"] is True, server.log)
        rounds(fleet, server, token, bad, "halted")
        assert (fleet.offered[bad], failed.config().json()["again"]) == ({one}, False)

        fleet.bad.clear()
        server.get(target, token, "POST")
        rounds(fleet, server, token, bad, "done")
        assert run(*GITCFG, "-C", str(site.bare), *waiting, cwd=site.work) == ""

        worse = site.push(colour("puce"))
        fleet.bad.add(worse)
        begun(server, token, worse)
        rounds(fleet, server, token, worse, "halted")
        (one,) = fleet.offered[worse]
        before = next(node for node in fleet.nodes if node.name == one).config().json()
        assert before["commit"] == worse
        run(*GITCFG, "-C", str(site.bare), "release", "abort", worse[:8], cwd=site.work)

        def back() -> bool:
            target = next(node for node in fleet.nodes if node.name == one).config().json()
            return bool(target["commit"] == bad and target["rollback"])

        until(back, server.log)
        after = next(node for node in fleet.nodes if node.name == one).config()
        assert after.json()["sequence"] > before["sequence"]
        assert after.headers["gitcfg-rollback"] == "true"


def test_an_invalid_tip_changes_nothing_and_is_told(site: Site) -> None:
    few = nodes(("n1",))
    first = site.with_nodes(few)
    with Server(site) as server:
        server.accepted(first)
        token, node = server.token(), server.node("n1", few["n1"])
        wrong = site.push({"nodes/n2.yaml": "groups: [Nowhere]\n"})
        server.tip(wrong)
        said = server.get("/v1/commits", token)
        judge("GET", "/v1/commits", said)
        assert (said.json()["tip"], said.json()["accepted"]) == (wrong, first)
        assert said.json()["errors"] == 1
        assert "Nowhere" in said.json()["message"]
        ready = server.get(
            "/readyz"
        )  # nobody is asked who wants to know that: it says nothing of what is in git
        judge("GET", "/readyz", ready)
        assert (ready.json()["errors"], b"Nowhere" in ready.body) == (1, False)
        assert node.config().json()["commit"] == first
        assert server.stop() == 0
        with Server(site) as again:
            again.tip(wrong)
            assert again.get("/readyz").json()["accepted"] == first
            fixed = site.push({"nodes/n2.yaml": None})
            again.accepted(fixed)


def test_the_first_start_on_an_invalid_tip_goes_back_to_what_was_good(site: Site) -> None:
    first = site.with_nodes(nodes(("n1",)))
    wrong = site.push({"nodes/n2.yaml": "groups: [Nowhere]\n"})
    with Server(site) as server:
        server.tip(wrong)
        assert server.get("/readyz").json()["accepted"] == first


def test_a_hold_keeps_nodes_where_they_are(site: Site) -> None:
    few = nodes(("n1", "n2"))
    first = site.with_nodes(few)
    hold = f"nodes: n1\nreason: busy\nuntil: 2999-01-01\ncommit: '{first[:9]}'\n"
    with Server(site) as server:
        server.accepted(first)
        commit = site.push({**colour("blue"), "holds/busy.yaml": hold})
        server.accepted(commit)
        held, free = server.node("n1", few["n1"]), server.node("n2", few["n2"])
        until(lambda: free.config().json()["commit"] == commit, server.log)
        target = held.config().json()
        assert target["commit"] == first
        assert target["hold"] == {"name": "busy", "reason": "busy", "until": "2999-01-01"}
        lifted = site.push({"holds/busy.yaml": hold.replace("2999", "2020")})
        server.accepted(lifted)
        until(lambda: held.config().json()["commit"] == lifted, server.log)


def test_a_commit_means_the_same_on_another_day(site: Site) -> None:
    """An override past its end still applies, on a server that starts anew as well."""
    few = nodes(("n1",))
    site.with_nodes(few)
    override = "nodes: n1\nuntil: 2020-01-01\nreason: once\nparams: {COLOR: pink}\n"
    late = site.push({"overrides/once.yaml": override})
    with Server(site) as server:
        server.accepted(late)
        assert server.node("n1", few["n1"]).config().json()["commit"] == late


def test_who_walks_in_gets_its_groups_and_who_is_gone_is_told(site: Site) -> None:
    few = nodes(("n1", "n2"))
    walk = "format: 1\nwalk_in: {groups: [Guests]}\n"
    guests = "params: {COLOR: grey}\n"
    first = site.with_nodes(few, **{"groups/Guests.yaml": guests, "gitcfg.yaml": walk})
    with Server(site) as server:
        server.accepted(first)
        guest = server.node("guest1")
        target = guest.config().json()
        assert target["commit"] == first
        package = guest.ask("GET", f"/v1/commits/{first}/nodes/guest1").json()
        assert package["params"] == {"COLOR": "grey"}
        assert package["groups"] == ["Guests"]
        assert package["digest"] == target["digest"]
        assert guest.obey().status == 200
        assert server.node("guest1").config().problem == "unauthorized"

        leaving = server.node("n2", few["n2"])
        assert leaving.obey().status == 200
        commit = site.push(
            {"gitcfg.yaml": "format: 1\n", "nodes/n2.yaml": None, "keys/all.txt": f"n1 {few['n1'].public}\n"}
        )
        server.accepted(commit)
        until(lambda: leaving.config().status == 410, server.log)  # accepted, and a moment later released
        assert leaving.config().problem == "gone"
        assert guest.config().problem == "gone"


def test_who_waits_is_answered_when_the_server_ends(site: Site) -> None:
    import threading

    few = nodes(("n1",))
    first = site.with_nodes(few)
    with Server(site) as server:
        server.accepted(first)
        node, token = server.node("n1", few["n1"]), server.token()
        digest = node.config().json()["digest"]
        found: list[int] = []
        waiting = threading.Thread(target=lambda: found.append(node.config(60, digest).status))
        waiting.start()
        until(lambda: "gitcfg_long_polls 1" in server.get("/metrics", token).body.decode(), server.log)
        assert server.stop() == 0
        waiting.join(10)
        assert found == [304]


def test_a_way_back_waits_for_nothing(site: Site) -> None:
    few = nodes(("n1", "n2", "n3"))
    slow = "format: 1\nrelease: {stages: [1, 100%], settle: 1h, max_failures: 0}\n"
    first = site.with_nodes(few, **{"gitcfg.yaml": slow})
    with Server(site) as server:
        server.accepted(first)
        token, fleet = server.token(), Fleet(server, few)
        fleet.round()
        second = site.push(colour("blue"))
        begun(server, token, second)
        offering(fleet, server, second)
        assert len(fleet.offered[second]) == 1
        third = site.push(colour("red"))
        begun(server, token, third)
        release = server.get("/v1/releases", token).json()["releases"][0]
        assert (release["back"], release["settle"], release["nodes"]) == (True, 0.0, 1)
        rounds(fleet, server, token, third, "done")
        fleet.round()
        assert fleet.offered[third] == set(few)

        # The branch itself is set back, as its administrator may.
        run("git", "reset", "-q", "--hard", second, cwd=site.work)
        run("git", "push", "-q", "--force", "origin", "HEAD:main", cwd=site.work)
        server.accepted(second)
        until(lambda: server.get("/v1/releases", token).json()["releases"][0]["commit"] == second)
        release = server.get("/v1/releases", token).json()["releases"][0]
        assert (release["back"], release["settle"], release["nodes"]) == (True, 0.0, 3)
        rounds(fleet, server, token, second, "done")


@pytest.mark.slow
def test_a_server_that_is_killed_goes_on_where_it_was(site: Site) -> None:
    few = nodes(("n1", "n2", "n3"))
    first = site.with_nodes(few, **{"gitcfg.yaml": STAGED})
    with Server(site) as server:
        server.accepted(first)
        token, fleet = server.token(), Fleet(server, few)
        fleet.round()
        second = site.push(colour("blue"))
        begun(server, token, second)
        until(lambda: any(node.config().json()["commit"] == second for node in fleet.nodes), server.log)
        canary = {node.name for node in fleet.nodes if node.config().json()["commit"] == second}
        assert len(canary) == 1
        server.process.kill()
        server.process.wait()
        with Server(site, name="again") as again:
            assert again.key == server.key
            again.accepted(second)
            there = {name: again.node(name, node) for name, node in few.items()}
            runs = {name for name, node in there.items() if node.config().json()["commit"] == second}
            assert runs == canary
            after = Fleet(again, few)
            rounds(after, again, token, second, "done")
            assert after.offered[second] == set(few)
