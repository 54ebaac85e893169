"""What runs say of nodes: a server takes whatever is told, and an inventory has it as a database would."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gitcfg.deploy import reports
from gitcfg.deploy.records import Ended, Line, NodeDone, Run, RunRecord, encode_line, parse_run
from gitcfg.server.checkins import MOST_BYTES_DEPLOYED as MOST_BYTES
from gitcfg.server.checkins import collect_deploy_results as taken
from gitcfg.server.checkins import parse_deploy_report
from gitcfg.state.records import Deployed

COMMIT, OTHER = "a" * 40, "b" * 40
NODES = ("n1", "n2", "n3.example.org", "not a name", "x" * 254)
TEXTS = st.text(max_size=300)
DONE = st.builds(
    NodeDone,
    st.sampled_from(NODES),
    st.sampled_from(("ok", "unchanged", "refused", "reverted", "failed", "host-key", "no-python", "skipped")),
    TEXTS,
    TEXTS | TEXTS.map(lambda text: text * 400),
    st.floats(-1e9, 1e9),
    st.integers(0, 1000),
    st.sampled_from((None, COMMIT, OTHER)),
    st.sampled_from((None, "d" * 64)),
    st.sampled_from(("", "installed", "running")),
    st.integers(1, 2 * 10**9).map(float),
)


def kept(done: list[NodeDone], who: str = "alice", nodes: tuple[str, ...] = NODES) -> RunRecord:
    """A run as it is after it stood in a file."""
    run = Run("1234567abc", COMMIT, who, "", 5.0, nodes)
    lines: list[Line] = [run, *done, Ended("done", 9.0)]
    found = parse_run(b"".join(map(encode_line, lines)))
    assert found is not None
    return found


@given(st.lists(DONE, max_size=12), TEXTS)
def test_a_server_takes_what_is_told(done: list[NodeDone], who: str) -> None:
    run = kept(done, who)
    found: list[Deployed] = []
    for body in reports.build_reports(run, 3e9):
        assert len(body) <= MOST_BYTES
        found += taken(parse_deploy_report(body), 3e9)
    assert found == list(reports.list_deployed(run))
    names = {one.node for one in found}
    assert names <= set(NODES[:3])
    assert {one.node for one in run.done.values() if one.outcome == "ok"} & set(NODES[:3]) <= names


def test_of_many_nodes_it_takes_several_parts() -> None:
    names = tuple(f"n{number}" for number in range(1200))
    sizes = [
        len(parse_deploy_report(body).nodes)
        for body in reports.build_reports(kept([NodeDone(name, "ok") for name in names], nodes=names), 9.0)
    ]
    assert sizes == [500, 500, 200]
    long = [NodeDone(name, "ok", output="ä" * 8000) for name in names[:100]]
    parts = list(reports.build_reports(kept(long, nodes=names), 9.0))
    assert len(parts) > 2
    assert max(map(len, parts)) <= MOST_BYTES
    assert [one.node for body in parts for one in parse_deploy_report(body).nodes] == list(names[:100])


def test_the_inventory_has_what_is_newer() -> None:
    """Two deploys at once: what was done to a node last counts, whichever of them began last."""
    one = kept(
        [NodeDone("n1", "ok", commit=COMMIT, digest="d" * 64, at=20.0), NodeDone("n2", "lost", at=21.0)]
    )
    two = kept([NodeDone("n1", "reverted", "check", commit=OTHER, at=15.0)])
    (found,) = reports.find_states([one, two])
    assert (found.node, found.commit, found.via, found.deployed, found.agentless) == (
        *("n1", COMMIT, "alice", 20.0),
        True,
    )
    later = kept([NodeDone("n1", "failed", "go back", at=25.0)])
    (found,) = reports.find_states([one, two, later])
    assert (found.commit, found.since, found.failed_commit, found.last) == (COMMIT, 20.0, COMMIT, 25.0)
    assert reports.find_states([]) == []


@pytest.mark.parametrize(
    ("outcome", "step", "installed"),
    [
        *(("ok", "", True), ("unchanged", "", True), ("failed", "check", True), ("refused", "prepare", True)),
        *(("failed", "", False), ("timeout", "check", False), ("lost", "", False)),
    ],
)
def test_what_touched_nothing_says_nothing_of_what_runs(outcome: str, step: str, installed: bool) -> None:
    run = kept([NodeDone("n1", outcome, step, commit=COMMIT, at=7.0)])
    (one,) = reports.list_deployed(run)
    assert one.installed is installed
    assert bool(reports.find_states([run])) is installed


@pytest.mark.parametrize("outcome", ["skipped", "differs", "refused"])
def test_whom_nobody_has_touched_is_not_told(outcome: str) -> None:
    assert reports.list_deployed(kept([NodeDone("n1", outcome)])) == ()


def test_every_node_of_a_run_has_come_to_something() -> None:
    run = kept([NodeDone("n1", "ok"), NodeDone("n2", "ok")])
    assert dict(reports.count_outcomes(run)) == {"skipped": 3, "ok": 2}
    assert reports.find_outcome(replace(run, end=None), NODES[3]) == "unknown"
    assert reports.find_outcome(replace(run, end=None, going=True), NODES[3]) == "waiting"
