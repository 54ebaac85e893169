"""What deploys do to nodes beside what agents say: what is newer counts, and each deploy counts once."""

from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace
from sqlalchemy import text

from gitcfg.deploy.reports import update_state
from gitcfg.state.database import changing, open_engine
from gitcfg.state.nodes import DEPLOY
from gitcfg.state.records import INSTALLED, Checkin, Deployed, NodeState, Result
from gitcfg.state.state import State, connect

NOW = 1_700_000_000.0
C1, C2 = "1" * 40, "2" * 40
D1, D2 = "1" * 64, "2" * 64
AGENT = Checkin("n1", NOW, "key", "1", C1, D1, NOW - 60, interval=60.0, drift=({"path": "/etc/f"},))


def deployed(node: str = "n1", at: float = NOW, outcome: str = "ok", run: str = "1234567abc") -> Deployed:
    result = Result(C2, outcome, at, "" if outcome in ("ok", "unchanged") else "check", "", 1.0, "alice", run)
    return Deployed(node, result, C2, D2)


def test_a_node_without_an_agent_is_known_by_its_deploy(state: State) -> None:
    assert state.deploys.record([deployed()]) == (True,)
    wanted = NodeState(*("n1", NOW, NOW, NOW, "", C2, D2, NOW, deployed().result), via="alice", deployed=NOW)
    assert state.checkins.nodes() == [wanted]
    assert wanted.agentless
    assert state.checkins.results("n1") == [deployed().result]
    (event,) = state.events.after(0)
    assert (event.kind, event.node, event.at) == (DEPLOY, "n1", NOW)
    assert event.data == {"commit": C2, "outcome": "ok", "by": "alice", "run": "1234567abc"}


def test_a_deploy_counts_once_however_often_it_is_told(state: State) -> None:
    said = [deployed(), deployed("n2"), deployed("n1", NOW + 5)]
    assert state.deploys.record(said) == (True, True, False)
    assert state.deploys.record([*said, deployed("n3")]) == (False, False, False, True)
    assert state.deploys.record([]) == ()
    assert [len(state.checkins.results(name)) for name in ("n1", "n2", "n3")] == [1, 1, 1]
    assert len(state.events.after(0)) == 3
    assert state.checkins.node("n1") == state.checkins.named(["n1"])[0]
    assert state.deploys.record([deployed(run="1234567abd", at=NOW + 9)]) == (True,)
    assert len(state.checkins.results("n1")) == 2


def test_a_deploy_that_came_to_nothing_is_but_history(state: State) -> None:
    untouched = deployed(outcome="refused", run="b", at=NOW + 1)
    untouched = replace(untouched, result=replace(untouched.result, step=""))
    state.deploys.record([deployed(outcome="unreachable"), untouched])
    assert state.checkins.nodes() == []
    assert [one.outcome for one in state.checkins.results("n1")] == ["refused", "unreachable"]


def test_of_agent_and_deploy_what_is_newer_counts(state: State) -> None:
    state.checkins.record([AGENT])
    state.deploys.record([replace(deployed(at=NOW - 5), agent=True)])
    (found,) = state.checkins.nodes()
    assert (found.commit, found.via, found.deployed) == (C1, None, None)
    state.deploys.record([replace(deployed(at=NOW + 5, run="later"), agent=True)])
    (found,) = state.checkins.nodes()
    assert (found.commit, found.digest, found.since, found.via) == (C2, D2, NOW + 5, "alice")
    # There is an agent: it is away once it is silent for too long, whatever was deployed.
    assert (found.last, found.interval, found.agentless, len(found.drift)) == (NOW, 60.0, False, 1)
    state.checkins.record([replace(AGENT, at=NOW + 3, nonce="2")])
    assert state.checkins.node("n1") == found
    state.checkins.record([replace(AGENT, at=NOW + 6, nonce="3")])
    (found,) = state.checkins.nodes()
    assert (found.commit, found.via, found.last) == (C1, None, NOW + 6)
    assert len(state.checkins.results("n1")) == 2


def test_where_there_is_no_agent_any_more_nobody_is_away(state: State) -> None:
    state.checkins.record([AGENT])
    state.deploys.record([deployed(at=NOW + 5)])
    (found,) = state.checkins.nodes()
    assert found.agentless
    assert (found.last, found.interval, found.drift, found.key) == (NOW + 5, 0.0, (), "key")
    state.checkins.record([replace(AGENT, at=NOW + 9, nonce="2")])
    assert not state.checkins.nodes()[0].agentless


def test_what_is_not_told_stays(state: State) -> None:
    state.deploys.record([deployed()])
    failed = replace(deployed(at=NOW + 5, outcome="failed", run="b"), commit=None, digest=None)
    state.deploys.record([failed])
    (found,) = state.checkins.nodes()
    assert (found.commit, found.digest, found.since) == (C2, D2, NOW)
    assert (found.result, found.failed_commit, found.failed_at) == (failed.result, C2, NOW + 5)
    state.deploys.record([deployed(at=NOW + 9, outcome="unchanged", run="c")])
    (found,) = state.checkins.nodes()
    assert (found.since, found.last, found.failed_at) == (NOW, NOW + 9, NOW + 5)


def test_who_has_only_asked_is_told_from_then_on(state: State) -> None:
    """A node that waited to be accepted, or came with another key than git has, runs what was deployed."""
    state.claims.claim("n1", "key", NOW - 9)
    state.deploys.record([deployed()])
    (found,) = state.checkins.nodes()
    assert (found.commit, found.since, found.key) == (C2, NOW, "key")


def test_a_node_that_was_deployed_to_is_claimed_by_the_first_key(state: State) -> None:
    state.deploys.record([deployed()])
    assert state.claims.claim("n1", "key", NOW + 5, "10.0.0.1") == "key"
    assert state.claims.claim("n1", "other", NOW + 6) == "key"
    (found,) = state.checkins.nodes()
    assert (found.key, found.address, found.commit, found.via) == ("key", "10.0.0.1", C2, "alice")


def test_random_deploys_are_known_as_their_record_says(state: State) -> None:
    random = Random(1)
    wanted: dict[str, NodeState] = {}
    for number in range(120):
        outcome = random.choice([*INSTALLED, "timeout"])
        commit = random.choice([None, C1, C2])
        result = Result(random.choice([C1, C2]), outcome, NOW + number, "s", "o", 1.0, "bob", f"run{number}")
        said = Deployed(f"n{random.randrange(4)}", result, commit, commit and commit[0] * 64)
        state.deploys.record([said])
        if said.installed:
            wanted[said.node] = update_state(wanted.get(said.node), said)
    assert state.checkins.nodes() == [wanted[name] for name in sorted(wanted)]
    assert len(wanted) == 4


def test_nodes_are_read_by_name(state: State) -> None:
    state.deploys.record([deployed(f"n{number}") for number in range(1200)])
    wanted = [f"n{number}" for number in range(0, 1200, 2)]
    assert [one.node for one in state.checkins.named([*wanted, "n0", "x"])] == sorted(wanted)
    assert state.checkins.named([]) == []


def test_what_is_long_over_is_forgotten(state: State) -> None:
    state.deploys.record([deployed()])
    state.checkins.prune(NOW + 100.0, 50.0)
    assert state.checkins.results("n1") == []
    assert state.checkins.node("n1") is not None
    assert state.deploys.record([deployed()]) == (True,)


@pytest.mark.parametrize("tables", ["whole", "made since"])
def test_a_database_of_the_second_version(tmp_path: Path, tables: str) -> None:
    url = f"sqlite:///{tmp_path}/state.db"
    state = connect(url)
    state.checkins.record([AGENT])
    state.close()
    engine = open_engine(url)
    with changing(engine) as connection:
        connection.execute(text("UPDATE meta SET value = '2' WHERE name = 'schema'"))
        if tables == "whole":
            connection.execute(text("DROP TABLE deploys"))
            connection.execute(text("ALTER TABLE nodes DROP COLUMN via"))
            connection.execute(text("ALTER TABLE nodes DROP COLUMN deployed"))
    engine.dispose()
    state = connect(url)
    (found,) = state.checkins.nodes()
    assert (found.commit, found.via, found.deployed, found.agentless) == (C1, None, None, False)
    assert state.deploys.record([deployed(at=NOW + 5)]) == (True,)
    assert state.checkins.nodes()[0].via == "alice"
    state.close()


def test_a_result_of_an_earlier_version_is_the_agents(tmp_path: Path) -> None:
    state = connect(f"sqlite:///{tmp_path}/state.db")
    state.checkins.record([replace(AGENT, result=Result(C1, "ok", NOW))])
    engine = open_engine(f"sqlite:///{tmp_path}/state.db")
    with changing(engine) as connection:
        old = f'{{"commit":"{C1}","outcome":"ok","at":{NOW},"step":"","output":"","seconds":0.0}}'
        connection.execute(text("UPDATE results SET result = :old"), {"old": old})
    engine.dispose()
    assert state.checkins.results("n1") == [Result(C1, "ok", NOW)]
    state.close()
