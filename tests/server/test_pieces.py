"""The pieces by themselves: who waits, who writes, who asks too often, and what a server's key is."""

import asyncio
import logging
import os
import shutil
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

import gitcfg
from gitcfg.cli.serve import boundary
from gitcfg.model import GitcfgError
from gitcfg.model.secrets import PLAIN
from gitcfg.server.checkins import CheckinWriter
from gitcfg.server.controller import Controller, Polls, Streams, report_lifted_holds
from gitcfg.server.fleets import FleetCache, FleetWorker
from gitcfg.server.http import BURST, Problem, RateLimiter, problem_response
from gitcfg.server.metrics import Metrics, sample
from gitcfg.server.pages.commits import read_lines
from gitcfg.server.signatures import load_server_key
from gitcfg.server.status import NodeRegistry
from gitcfg.server.view import OutlineHold
from gitcfg.state.records import Checkin, Event, Result
from gitcfg.state.state import connect
from tests.gate.server import commit, git

UNIT = Path(__file__).parent.parent.parent / "hooks/systemd/gitcfg-serve.service"


def test_who_waits_is_woken_when_it_is_concerned_and_leaves_nothing_behind() -> None:
    async def work() -> None:
        polls = Polls()
        one, two = (asyncio.create_task(polls.wait(name, 30)) for name in ("one", "two"))
        await asyncio.sleep(0)
        assert polls.count == 2
        await polls.wake(lambda name: name == "one")
        await asyncio.wait_for(one, 5)
        assert not two.done()
        assert polls.count == 1
        two.cancel()
        await asyncio.wait([two])
        assert polls.count == 0
        await asyncio.wait_for(polls.wait("three", 0.01), 5)
        late = asyncio.create_task(polls.wait("four", 30))
        await asyncio.sleep(0)
        polls.close()
        await asyncio.wait_for(late, 5)
        await asyncio.wait_for(polls.wait("five", 30), 5)

    asyncio.run(work())


def test_check_ins_that_come_together_are_written_together() -> None:
    batches: list[int] = []

    def record(said: Sequence[Checkin]) -> tuple[bool, ...]:
        batches.append(len(said))
        return tuple(one.nonce != "old" for one in said)

    async def work() -> list[bool]:
        writer = CheckinWriter(ThreadPoolExecutor(1), record)
        said = [Checkin(f"n{number}", 1.0, nonce="old" if number == 3 else "") for number in range(20)]
        return list(await asyncio.gather(*map(writer.write, said)))

    found = asyncio.run(work())
    assert found == [number != 3 for number in range(20)]
    assert batches == [20]


def test_a_database_that_fails_is_told_to_everybody_and_the_next_are_written() -> None:
    failing = [True]

    def record(said: Sequence[Checkin]) -> tuple[bool, ...]:
        if failing.pop():
            raise GitcfgError("away")
        return tuple(True for _ in said)

    async def work() -> None:
        failing.insert(0, False)
        writer = CheckinWriter(ThreadPoolExecutor(1), record)
        both = [writer.write(Checkin(name, 1.0)) for name in ("a", "b")]
        assert [type(one) for one in await asyncio.gather(*both, return_exceptions=True)] == [GitcfgError] * 2
        assert await writer.write(Checkin("a", 2.0))

    asyncio.run(work())


def test_who_asks_too_often_waits_and_nobody_else_does() -> None:
    limits = RateLimiter()
    for _ in range(int(BURST)):
        limits.count("eager", 100.0)
    with pytest.raises(Problem, match="too-many"):
        limits.count("eager", 100.0)
    limits.count("other", 100.0)
    limits.count("eager", 101.0)


def test_a_watcher_that_does_not_keep_up_is_let_go() -> None:
    async def work() -> None:
        streams = Streams()
        slow, quick = streams.subscribe(), streams.subscribe()
        for number in range(5000):
            streams.publish([Event(number, 0.0, "checkin", "n", {})])
            found = quick.get_nowait()
            assert found is not None
            assert found.number == number
        assert streams.count == 1
        while (event := slow.get_nowait()) is not None:
            assert event.number < 5000

    asyncio.run(work())


def test_the_registry_says_what_a_release_wants_to_know() -> None:
    registry = NodeRegistry()
    assert registry.observe("n", "c", "d") is None
    assert registry.update(Checkin("n", 10.0, "k", commit="b", digest="e"))
    assert not registry.update(Checkin("n", 40.0, "k", commit="b", digest="e"))
    failed = Result("c", "reverted", 50.0)
    assert registry.update(Checkin("n", 50.0, "k", commit="b", digest="e", result=failed))
    seen = registry.observe("n", "c", "d")
    assert seen is not None
    assert (seen.last, seen.present, seen.runs, seen.failed) == (50.0, 10.0, False, 50.0)
    same = registry.observe("n", "x", "e")
    assert same is not None
    assert same.runs
    assert registry.update(Checkin("n", 5000.0, "k", commit="b", digest="e"))
    back = registry.observe("n", "x", None)
    assert back is not None
    assert back.present == 5000.0


def test_a_server_keeps_its_key_and_refuses_one_that_others_can_read(tmp_path: Path) -> None:
    file = tmp_path / "server.key"
    first = load_server_key(file).public
    assert first.startswith("ed25519:")
    assert load_server_key(file).public == first
    assert file.stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ["server.key"]
    file.chmod(0o644)
    with pytest.raises(GitcfgError, match="Other users can read"):
        load_server_key(file)
    file.chmod(0o600)
    file.write_bytes(b"short")
    with pytest.raises(GitcfgError, match="is not a valid key"):
        load_server_key(file)


def test_a_hold_that_ends_is_told_once(tmp_path: Path) -> None:
    state = connect(f"sqlite:///{tmp_path}/state.db")
    holds = [
        OutlineHold("old", "r", date(2026, 1, 1), "a", ()),
        OutlineHold("new", "r", date(2026, 1, 2), "b", ()),
    ]

    async def work() -> None:
        log = logging.getLogger("test")
        unused = FleetWorker("unused", lambda: pytest.fail("it is not asked"), 1)
        conductor = Controller(state, unused, Polls(), Streams(), lambda: 5.0, lambda: date(2026, 1, 3), log)
        await report_lifted_holds(conductor, holds, date(2026, 1, 2), date(2026, 1, 3))
        await report_lifted_holds(conductor, holds, date(2026, 1, 3), date(2026, 1, 4))

    asyncio.run(work())
    (event,) = state.events.after(0)
    assert (event.kind, event.data["hold"]) == ("hold", "new")
    state.close()


def test_a_page_of_a_file_shows_no_secret_in_plain_text(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "desk")
    desk = tmp_path / "desk"
    parameters = "parameters:\n  P: {type: string, description: d, secret: true}\n"
    group = "description: near\nparams:\n  P: hunter2\n"
    commit(desk, {"parameters/p.yaml": parameters, "groups/g.yaml": group, "gitcfg.yaml": "format: 1\n"}, "x")
    head = git(desk, "rev-parse", "HEAD").strip()
    fleets = FleetCache(lambda: gitcfg.open(desk), 1)
    assert read_lines(head, "groups/g.yaml", fleets) == ("description: near", "params:", PLAIN)
    assert read_lines(head, "gitcfg.yaml", fleets) == ("format: 1",)
    assert read_lines(head, "secrets/p.age", fleets) is None


def test_figures_are_escaped_and_add_up() -> None:
    assert sample("a", (("b", 'x"\n\\'),), 2) == 'a{b="x\\"\\n\\\\"} 2'
    metrics = Metrics()
    metrics.answered("GET", "/a", 200, 0.01)
    metrics.answered("GET", "/a", 200, 30.0)
    metrics.answered("GET", "/a", 304, None)
    lines = list(metrics.lines())
    assert 'gitcfg_requests_total{method="GET",route="/a",status="200"} 2' in lines
    assert 'gitcfg_request_seconds_bucket{route="/a",le="0.025"} 1' in lines
    assert 'gitcfg_request_seconds_bucket{route="/a",le="+Inf"} 2' in lines
    assert 'gitcfg_request_seconds_count{route="/a"} 2' in lines


def test_a_fault_is_logged_and_says_nothing_of_itself(caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> web.StreamResponse:
        async def faulty(request: web.Request) -> web.StreamResponse:
            raise ZeroDivisionError("secret")

        guarded = boundary(logging.getLogger("test"))
        try:
            found: web.StreamResponse = await guarded(make_mocked_request("GET", "/x"), faulty)
        except Problem as problem:
            return problem_response(problem)
        return found

    response = asyncio.run(work())
    assert isinstance(response, web.Response)
    assert response.status == 500
    assert isinstance(response.body, bytes)
    assert b"secret" not in response.body
    assert "secret" in caplog.text


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_the_unit_is_sound_and_may_do_little() -> None:
    done = subprocess.run(["systemd-analyze", "verify", str(UNIT)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    words = ["systemd-analyze", "security", "--offline=true", "--threshold=20", str(UNIT)]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(("outcome", "runs"), [("failed", False), ("reverted", True), ("unchanged", True)])
def test_a_release_does_not_count_who_may_run_anything(outcome: str, runs: bool) -> None:
    """Even the way back failed: the record says what is in force, and daemons may have something else."""
    registry, commit, digest = NodeRegistry(), "a" * 40, "d" * 64
    result = Result(commit, outcome, 5.0)
    registry.update(Checkin("n1", 5.0, "k", "x", commit, digest, 1.0, result))
    seen = registry.observe("n1", commit, digest)
    assert seen is not None
    assert (seen.runs, seen.failed is None) == (runs, outcome == "unchanged")
