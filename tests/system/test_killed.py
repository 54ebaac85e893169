"""kill -9 of an agent in the middle of an installation: what comes next completes it, and mixes nothing."""

import signal

import pytest

from tests.system.pool import Pool

pytestmark = pytest.mark.slow

AT_ONCE = "format: 1\n"


@pytest.mark.parametrize("verb", ["restart", "check"])
def test_an_agent_is_killed_while_it_installs(pool: Pool, verb: str) -> None:
    pool.start()
    pool.arrived(pool.change({"gitcfg.yaml": AT_ONCE}, LABEL="one"))
    node, *others = pool.nodes.values()
    node.daemon.verbs()
    gate = node.daemon.block(verb)
    commit = pool.change({"gitcfg.yaml": AT_ONCE}, LABEL="two", MEMORY="2048")
    node.daemon.asked(verb)
    pool.arrived(commit, *(other.name for other in others))
    node.end(signal.SIGKILL)
    assert pool.ask(f"/v1/nodes/{node.name}")["running"]["commit"] != commit
    texts = [text for _, text in node.files.values()]
    assert ["two" in text for text in texts] == [True, True]
    gate.unlink()
    node.start()
    pool.arrived(commit)
    assert (node.daemon.values["LABEL"], node.daemon.values["MEMORY"]) == ("two", "2048")
    assert node.call("drift").returncode == 0
    results = [(one["commit"], one["outcome"]) for one in pool.ask(f"/v1/nodes/{node.name}")["results"]]
    assert (commit, "ok") in results or (commit, "unchanged") in results
    assert not node.world.state("journal").exists()
