"""Commits on their way through the whole world: good ones to everybody, bad ones no further than one node."""

import pytest

from tests.server.site import run, until
from tests.system.described import FILES, NAMES, SIZES
from tests.system.pool import Pool

pytestmark = pytest.mark.slow

SELDOM = 'interval = "30s"'
"""What has failed is not tried again while somebody looks: that takes twice as long at least."""


def test_a_push_reaches_all_nodes_stage_by_stage(pool: Pool) -> None:
    pool.start()
    assert pool.askers(0) | pool.askers(1) == set(NAMES)
    assert len(pool.askers(0)) == len(pool.askers(1)) == 2
    commit = pool.change(LABEL="one", MEMORY="2048")
    pool.arrived(commit)
    assert tuple(pool.release(commit)["stages"]) == SIZES
    order = pool.order(commit)
    times = [node.daemon.loads[-1].at for node in order]
    for size in SIZES[:-1]:
        assert max(times[:size]) < min(times[size:])
    for node in order:
        assert (node.daemon.values["LABEL"], node.daemon.values["MEMORY"]) == ("one", "2048")
        assert node.daemon.verbs() == ["validate", "restart", "check"]
    pids = [node.daemon.pid for node in order]
    commit = pool.change(LABEL="two", MEMORY="2048", MAX_JOBS="20")
    pool.arrived(commit)
    assert {node.daemon.values["MAX_JOBS"] for node in order} == {"20"}
    assert [node.daemon.pid for node in order] == pids
    assert [node.daemon.verbs() for node in order] == [["validate", "reload", "check"]] * 4


def test_what_htcondor_refuses_touches_no_file(pool: Pool) -> None:
    pool.configure(pool.nodes.values(), more=SELDOM)
    pool.start()
    before = {name: (node.files, node.daemon.loads) for name, node in pool.nodes.items()}
    bad = pool.change(LABEL="bad", ROLE="'FEATURE : GPUS2'")
    pool.stands(bad, "halted")
    first, *others = pool.order(bad)
    result = pool.ask(f"/v1/nodes/{first.name}")["result"]
    assert (result["commit"], result["outcome"], result["step"]) == (bad, "reverted", "validate poold")
    assert "does not recognise GPUS2" in result["output"]
    assert {name: (node.files, node.daemon.loads) for name, node in pool.nodes.items()} == before
    assert first.daemon.verbs() == ["validate"]
    fix = pool.change(LABEL="fix", ROLE="'FEATURE : PartitionableSlot'")
    pool.arrived(fix)
    assert pool.release(bad)["status"] == "overtaken"
    assert {node.daemon.values["LABEL"] for node in pool.nodes.values()} == {"fix"}
    assert [node.daemon.verbs() for node in others] == [["validate", "reload", "check"]] * 3


def test_what_the_nodes_own_policy_does_not_let_through_is_refused(pool: Pool) -> None:
    pool.configure(pool.nodes.values(), more=SELDOM)
    pool.start()
    before = {name: (node.files, node.daemon.loads) for name, node in pool.nodes.items()}
    more = FILES["features/Pool.yaml"] + "  /etc/condor/passwords: {text: 'secret'}\n"
    bad = pool.change({"features/Pool.yaml": more}, LABEL="bad")
    pool.stands(bad, "halted")
    first, *_ = pool.order(bad)
    result = pool.ask(f"/v1/nodes/{first.name}")["result"]
    assert (result["commit"], result["outcome"]) == (bad, "refused")
    assert "This node's policy does not allow the path /etc/condor/passwords" in result["output"]
    assert {name: (node.files, node.daemon.loads) for name, node in pool.nodes.items()} == before
    assert [node.daemon.verbs() for node in pool.nodes.values()] == [[]] * 4
    run("git", "revert", "--no-edit", "HEAD", cwd=pool.work)
    run("git", "push", "-q", "origin", "HEAD:main", cwd=pool.work)
    pool.arrived(pool.head())
    assert pool.release(bad)["status"] == "overtaken"
    assert [node.daemon.verbs() for node in pool.nodes.values()] == [
        []
    ] * 4  # nothing has changed for any of them


@pytest.mark.parametrize(
    ("params", "verb", "why"),
    [
        ({"MEMORY": "2000000"}, "restart", "the daemon died of SIGSEGV"),
        ({"MAX_JOBS": "many"}, "reload", "MAX_JOBS is many, which is no number"),
    ],
    ids=["it dies", "it refuses"],
)
def test_what_the_daemon_cannot_run_with_is_taken_back(
    pool: Pool, params: dict[str, str], verb: str, why: str
) -> None:
    pool.configure(pool.nodes.values(), more=SELDOM)
    pool.start()
    before = {name: node.daemon.values for name, node in pool.nodes.items()}
    bad = pool.change(LABEL="bad", **params)
    pool.stands(bad, "halted")
    first, *others = pool.order(bad)
    result = pool.ask(f"/v1/nodes/{first.name}")["result"]
    assert (result["commit"], result["outcome"], result["step"]) == (bad, "reverted", f"{verb} poold")
    assert why in result["output"]
    assert {name: node.daemon.values for name, node in pool.nodes.items()} == before
    assert first.call("drift").returncode == 0
    assert first.daemon.verbs().count(verb) == 2  # with the new values, and with the old ones again
    assert [node.daemon.verbs() for node in others] == [[]] * 3
    fix = pool.change(LABEL="fix")
    pool.arrived(fix)
    until(lambda: {node.daemon.values["LABEL"] for node in pool.nodes.values()} == {"fix"})
    assert pool.release(bad)["status"] == "overtaken"
