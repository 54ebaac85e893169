"""What is away for a while, and comes back: the database, a server that was killed, all servers."""

import signal
import time
from pathlib import Path

import pytest

from gitcfg.state.state import connect
from tests import postgres
from tests.server.agent import Node
from tests.server.site import until
from tests.system.described import NAMES
from tests.system.node import CONFIG
from tests.system.pool import Pool
from tests.system.talker import Talker

pytestmark = pytest.mark.slow

HOUR = 3600.0
SKIPPING = """
import time
_sleep, _monotonic, _skipped = time.sleep, time.monotonic, [0.0]
def sleep(seconds):
    with open({log!r}, "a") as log:
        log.write(f"{{seconds}}\\n")
    _sleep(seconds / 1000)
    _skipped[0] += seconds * 999 / 1000
time.sleep, time.monotonic = sleep, lambda: _monotonic() + _skipped[0]
"""
"""What an agent sleeps takes a thousandth of it: hours pass in seconds, and what it does takes its time."""


def test_postgresql_is_restarted_while_everybody_talks(pool: Pool, database: postgres.Server) -> None:
    talker = Node("talker", "")
    keys = (pool.work / "keys" / "all.txt").read_text() + f"talker {talker.public}\n"
    known = pool.push({"nodes/talker.yaml": "groups: []\n", "keys/all.txt": keys})
    pool.first = known
    pool.start()
    desks = [server.node("talker", talker) for server in pool.servers]
    with Talker(desks, known) as talking:
        until(lambda: talking.answers.count(200) > 4)
        processes = [node.daemon.pid for node in pool.nodes.values()]
        database.stop()
        try:
            commit = pool.change(LABEL="meanwhile")
            before = len(talking.answers)
            until(lambda: len(talking.answers) > before + 4)
            assert set(talking.answers[before + 1 :]) == {503}
            for server in pool.servers:
                until(lambda server=server: server.get("/readyz").status == 503, server.log)
            assert [node.daemon.pid for node in pool.nodes.values()] == processes
        finally:
            database.start()
        for server in pool.servers:
            until(lambda server=server: server.get("/readyz").status == 200, server.log)
        after = len(talking.answers)
        until(lambda: talking.answers[after:].count(200) > 4)
    assert all(server.process.poll() is None for server in pool.servers)
    assert set(talking.answers) == {200, 503}
    assert set(talking.told) == {200}
    pool.arrived(commit)
    assert {node.daemon.values["LABEL"] for node in pool.nodes.values()} == {"meanwhile"}
    state = connect(pool.database)
    try:
        kept = {result.output for result in state.checkins.results("talker", len(talking.answers))}
    finally:
        state.close()
    assert talking.taken <= kept


def test_a_server_is_killed_in_the_middle_of_requests_and_of_a_release(pool: Pool) -> None:
    pool.start()
    gates = [node.daemon.block("check") for node in pool.nodes.values()]
    commit = pool.change(LABEL="one", MEMORY="2048")
    first, *others = pool.order(commit)
    first.daemon.asked("check")
    server = pool.servers[0]
    waiting = [node for node in others if node.name in pool.askers(0)]
    server.process.send_signal(signal.SIGSTOP)
    # Who is not answered for longer than its interval is in the middle of a request.
    until(lambda: any(time.time() - node.status()["contact"] > 4 for node in waiting))
    server.process.kill()
    server.process.wait()
    for gate in gates:
        gate.unlink()
    pool.arrived(commit)
    assert pool.askers(1) == set(NAMES)
    assert [node.daemon.verbs() for node in pool.nodes.values()] == [["validate", "restart", "check"]] * 4
    again = pool.serve(0)
    again.accepted(commit)
    until(lambda: again.get("/v1/releases", pool.token).json()["releases"][0]["status"] == "done")
    pool.arrived(pool.change(LABEL="two"))


def test_no_server_for_hours(pool: Pool) -> None:
    hasty, *others = pool.nodes.values()
    pool.configure([hasty], more='interval = "5m"\nwait = "0s"')
    slept = hasty.daemon.home / "slept"
    hasty.start(SKIPPING.format(log=str(slept)))
    for node in others:
        node.start()
    pool.arrived(pool.first)
    for server in pool.servers:
        assert server.stop() == 0
    before = {name: node.daemon.values for name, node in pool.nodes.items()}
    started = len(slept.read_text().splitlines())
    commit = pool.change(LABEL="missed")
    until(lambda: sum(_since(slept, started)) > 3 * HOUR)
    pauses = _since(slept, started)[2:]  # one may have begun before, and be the last of a good round
    assert {name: node.daemon.values for name, node in pool.nodes.items()} == before
    assert max(pauses) <= 300
    assert min(pauses[-20:]) >= 150
    assert len(set(pauses[-20:])) == 20  # never in step with others
    assert len(pauses) < 100
    by_hand = hasty.world.write(f"{CONFIG}/50-params.config", "LABEL = by hand\n")
    until(lambda: "by hand" not in by_hand.read_text())
    for number in range(2):
        pool.serve(number)
    pool.arrived(commit)
    assert {node.daemon.values["LABEL"] for node in pool.nodes.values()} == {"missed"}
    assert all(node.agent is not None and node.agent.poll() is None for node in pool.nodes.values())


def _since(slept: Path, started: int) -> list[float]:
    """How long an agent has slept each time since then; the line that is being written counts next time."""
    return [float(line) for line in slept.read_text().split("\n")[started:-1]]
