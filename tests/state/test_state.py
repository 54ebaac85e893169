"""The state database, with SQLite and with PostgreSQL: what is written is read, by whomever, once."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace
from sqlalchemy import text

from gitcfg.model import GitcfgError
from gitcfg.rollout import LEAST, Plan, Progress, Status
from gitcfg.state.database import changing, open_engine
from gitcfg.state.records import Checkin, Event, NodeState, Result, Role, StoredRelease
from gitcfg.state.state import State, connect

NOW = 1_700_000_000.0


def release(commit: str, base: str | None = None, created: float = NOW) -> StoredRelease:
    return StoredRelease(
        commit, base, created, Plan(("n1", "n2"), (1, 2), 600.0, 3), Progress(commit, created)
    )


def test_what_a_node_says_is_known_of_it(state: State) -> None:
    result = Result("c1", "reverted", NOW - 5, "check", "it died\n\0\u2028", 1.5)
    drift = ({"path": "/etc/a", "kind": "changed"},)
    said = Checkin(
        "n1", NOW, "k", "1", "c0", "d0", NOW - 60, result, drift, {"os": "x"}, "0.1", 3.5, 60.0, "::1"
    )
    assert state.checkins.record([said]) == (True,)
    wanted = NodeState(
        "n1",
        NOW,
        NOW,
        NOW,
        "k",
        "c0",
        "d0",
        NOW - 60,
        result,
        "c1",
        NOW - 5,
        drift,
        {"os": "x"},
        "0.1",
        3.5,
        60.0,
        "::1",
    )
    assert state.checkins.node("n1") == wanted
    assert state.checkins.nodes() == [wanted]
    assert state.checkins.results("n1") == [result]
    assert state.checkins.node("n2") is None


def test_results_stay_until_there_are_others(state: State) -> None:
    bad, good = Result("c1", "failed", NOW), Result("c2", "ok", NOW + 60)
    state.checkins.record([Checkin("n1", NOW, result=bad), Checkin("n1", NOW + 30)])
    state.checkins.record([Checkin("n1", NOW + 60, result=good)])
    found = state.checkins.node("n1")
    assert found is not None
    assert (found.first, found.last, found.result, found.failed_commit) == (NOW, NOW + 60, good, "c1")
    assert state.checkins.results("n1") == [good, bad]
    assert state.checkins.results("n1", limit=1) == [good]


def test_silence_is_a_gap(state: State) -> None:
    for at in (NOW, NOW + LEAST - 1, NOW + 3 * LEAST, NOW + 3 * LEAST + 60):
        state.checkins.record([Checkin("n1", at)])
    found = state.checkins.node("n1")
    assert found is not None
    assert (found.first, found.present, found.last) == (NOW, NOW + 3 * LEAST, NOW + 3 * LEAST + 60)


def test_what_comes_late_does_not_undo_what_is_newer(state: State) -> None:
    state.checkins.record([Checkin("n1", NOW, commit="new")])
    state.checkins.record([Checkin("n1", NOW - 10, commit="old")])
    found = state.checkins.node("n1")
    assert found is not None
    assert found.commit == "new"


def test_a_nonce_counts_once(state: State) -> None:
    one, two, other = (
        Checkin("n1", NOW, "k", "x"),
        Checkin("n1", NOW, "k", "x"),
        Checkin("n2", NOW, "l", "x"),
    )
    assert state.checkins.record([one, two, other]) == (True, False, True)
    assert state.checkins.record([one, other]) == (False, False)
    assert state.checkins.record([Checkin("n1", NOW), Checkin("n1", NOW)]) == (True, True)
    state.checkins.prune(NOW + 601, keep=10.0)
    assert state.checkins.record([replace(one, at=NOW + 700)]) == (True,)


def test_a_replay_among_many_writers_counts_once(url: str) -> None:
    """Servers race with the same check-in: exactly one takes it."""
    states = [connect(url) for _ in range(4)]
    said = [Checkin(f"n{number}", NOW, "k", str(number)) for number in range(40)]

    def record(number: int) -> tuple[bool, ...]:
        mixed = Random(number).sample(said, len(said))
        found = dict(zip([one.node for one in mixed], states[number].checkins.record(mixed), strict=True))
        return tuple(found[one.node] for one in said)

    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(record, range(4)))
    assert [sum(column) for column in zip(*taken, strict=True)] == [1] * len(said)
    assert len(states[0].checkins.nodes()) == 40
    for each in states:
        each.close()


def test_nodes_can_be_forgotten(state: State) -> None:
    state.checkins.record([Checkin("n1", NOW, result=Result("c", "ok", NOW)), Checkin("n2", NOW)])
    state.checkins.forget(["n1"])
    assert [found.node for found in state.checkins.nodes()] == ["n2"]
    assert state.checkins.results("n1") == []
    assert state.checkins.nodes(seen_after=NOW + 1) == []


def test_a_newer_release_overtakes(state: State) -> None:
    first, second = release("c1"), release("c2", "c1", NOW + 60)
    assert state.releases.begin(first)
    assert not state.releases.begin(replace(first, created=NOW + 5))
    assert state.releases.begin(second)
    newest, before = state.releases.latest()
    assert (newest.commit, newest.progress.status) == ("c2", Status.RUNNING)
    assert (before.commit, before.progress.status, before.plan) == ("c1", Status.OVERTAKEN, first.plan)


def test_who_has_not_seen_a_change_cannot_change(state: State) -> None:
    state.releases.begin(release("c1"))
    (known,) = state.releases.latest()
    assert state.releases.advance(known, replace(known.progress, stage=1))
    assert not state.releases.advance(known, replace(known.progress, status=Status.ABORTED))
    (now,) = state.releases.latest()
    assert (now.progress.stage, now.progress.status, now.revision) == (1, Status.RUNNING, 1)


def test_what_is_before_the_last_done_one_is_of_no_interest(state: State) -> None:
    for number in range(3):
        state.releases.begin(release(f"c{number}", None, NOW + number))
        known = state.releases.latest()[0]
        state.releases.advance(known, replace(known.progress, status=Status.DONE))
    state.releases.begin(release("c9", "c2", NOW + 9))
    assert [found.commit for found in state.releases.latest()] == ["c9", "c2"]


def test_of_servers_that_begin_one_at_once_one_does(url: str) -> None:
    states = [connect(url) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda each: each.releases.begin(release("c1")), states))
    assert sum(done) == 1
    assert len(states[0].releases.latest()) == 1
    for each in states:
        each.close()


def test_a_token_is_shown_once_and_kept_as_a_hash(state: State, url: str) -> None:
    token = state.tokens.create("ann", Role.OPERATE, NOW)
    found = state.tokens.find_holder(token, NOW + 5)
    assert found is not None
    assert (found.name, found.role) == ("ann", Role.OPERATE)
    assert state.tokens.all()[0].used == NOW + 5
    assert state.tokens.find_holder(token + "x", NOW) is None
    with pytest.raises(GitcfgError, match="The token ann already exists"):
        state.tokens.create("ann", Role.READ, NOW)
    with pytest.raises(GitcfgError, match="is not a valid token name"):
        state.tokens.create("", Role.READ, NOW)
    state.tokens.revoke("ann")
    assert state.tokens.find_holder(token, NOW) is None
    with pytest.raises(GitcfgError, match="There is no token ann"):
        state.tokens.revoke("ann")


def test_a_token_stands_nowhere_in_the_database(tmp_path: Path) -> None:
    state = connect(f"sqlite:///{tmp_path}/state.db")
    token = state.tokens.create("ann", Role.READ, NOW)
    state.close()
    held = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"ann" in held
    assert token.encode() not in held


def test_events_are_read_in_their_order_each_once(url: str) -> None:
    writers = [connect(url) for _ in range(3)]

    def write(number: int) -> None:
        for count in range(20):
            writers[number].events.add(NOW, "seen", {"count": count}, f"n{number}")

    found: list[Event] = []
    reader = connect(url)
    with ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(write, number) for number in range(3)]
        while not all(each.done() for each in waiting) or len(found) < reader.events.newest():
            new = reader.events.after(found[-1].number if found else 0, limit=7)
            found += new
            for each in waiting:
                assert not each.done() or each.exception() is None
    assert len(found) == 60 == len({event.number for event in found})
    for number in range(3):
        assert [event.data["count"] for event in found if event.node == f"n{number}"] == list(range(20))
    reader.events.prune(NOW + 1)
    assert reader.events.after(0) == []
    for state in (*writers, reader):
        state.close()


def test_a_sequence_only_rises(url: str) -> None:
    states = [connect(url) for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda number: states[number % 3].events.next_sequence(100.5), range(30)))
    assert sorted(found) == list(range(100, 130))
    assert states[0].events.next_sequence(5000.0) == 5000
    for each in states:
        each.close()


@pytest.mark.parametrize("change", ["event", "checkin"])
def test_who_listens_is_woken(url: str, change: str) -> None:
    """An event wakes at once, wherever it was written; SQLite tells of anything else, too."""
    listener, writer = connect(url), connect(url)
    if change == "checkin" and url.startswith("postgresql"):
        pytest.skip("check-ins come too often to wake anybody")
    woken = threading.Event()
    waking = listener.listen(woken.set)
    try:
        time.sleep(0.3)
        assert until(lambda: True)
        woken.clear()
        if change == "event":
            writer.events.add(NOW, "ref", {})
        else:
            writer.checkins.record([Checkin("n1", NOW)])
        assert woken.wait(20)
    finally:
        waking.close()
        listener.close()
        writer.close()


def until(holds: Callable[[], bool], seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def test_a_newer_database_is_refused(url: str) -> None:
    connect(url).close()
    engine = open_engine(url)
    with changing(engine) as connection:
        connection.execute(text("UPDATE meta SET value = '99' WHERE name = 'schema'"))
    engine.dispose()
    with pytest.raises(GitcfgError, match="has schema 99"):
        connect(url)


def test_many_that_open_an_empty_one_make_its_tables_once(url: str) -> None:
    with ThreadPoolExecutor(6) as pool:
        states = list(pool.map(lambda _: connect(url), range(6)))
    for each in states:
        assert each.checkins.nodes() == []
        each.close()


@pytest.mark.parametrize("url", ["", "mysql://x/y", "sqlite", "postgresql+asyncpg://x/y", "\0"])
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(GitcfgError, match="is not valid"):
        connect(url)


def test_a_database_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(
        GitcfgError, match=r"Cannot open the state database .*state\.db: No such file or directory"
    ):
        connect(f"sqlite:///{tmp_path}/no/where/state.db")
    with pytest.raises(GitcfgError, match=r"database postgresql://nobody@127\.0\.0\.1:1/none fails"):
        connect("postgresql://nobody@127.0.0.1:1/none")


def test_it_goes_on_when_the_server_was_away(request: pytest.FixtureRequest) -> None:
    """PostgreSQL ends at once and comes back: what was committed is there, and nobody has to connect anew."""
    from tests import postgres

    if postgres.missing():
        pytest.skip(postgres.missing())
    with postgres.running() as server:
        state = connect(server.url("state"))
        state.checkins.record([Checkin("n1", NOW)])
        woken = threading.Event()
        waking = state.listen(woken.set)
        server.stop()
        with pytest.raises(GitcfgError):
            state.checkins.record([Checkin("n2", NOW)])
        server.start()
        assert until(lambda: _answers(state))
        assert [found.node for found in state.checkins.nodes()] == ["n1"]
        woken.clear()
        assert until(lambda: _wakes(state, woken))
        waking.close()
        state.close()


def _wakes(state: State, woken: threading.Event) -> bool:
    state.events.add(NOW, "ref", {})
    return woken.wait(0.5)


def _answers(state: State) -> bool:
    try:
        state.checkins.nodes()
    except GitcfgError:
        return False
    return True


def test_who_reads_does_not_wait_for_who_writes(url: str) -> None:
    """A server goes on answering while another process changes the database."""
    writer, reader = open_engine(url), connect(url)
    reader.checkins.record([Checkin("n1", NOW)])
    with changing(writer) as connection:
        connection.execute(text("UPDATE nodes SET version = 'x'"))
        with ThreadPoolExecutor(1) as pool:
            found = pool.submit(reader.checkins.nodes).result(timeout=20)
    assert [(one.node, one.version) for one in found] == [("n1", "")]
    writer.dispose()
    reader.close()
