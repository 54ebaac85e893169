"""Batches and limits over real sshds: what each kind of trouble means for the nodes that come after."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from gitcfg.nodeset import expand
from tests.system.sshd_fleet import FarFleet, far_fleet
from tests.system.sshd_node import FarNode

SIX = 6


@pytest.fixture
def six(tmp_path: Path) -> Iterator[FarFleet]:
    with far_fleet(tmp_path, SIX) as fleet:
        yield fleet


def unreachable(fleet: FarFleet, node: FarNode) -> None:
    fleet.settings(f"Host {node.name}\n  HostName 127.0.0.99\n")


def of_another(fleet: FarFleet, node: FarNode) -> None:
    fleet.known({node.name: fleet.sshd.known(node.address, wrong=True)})


def nobody(fleet: FarFleet, node: FarNode) -> None:
    fleet.settings(f"Host {node.name}\n  User nobody-of-this-name\n")


def failing(fleet: FarFleet, node: FarNode) -> None:
    node.fails()


def pythonless(fleet: FarFleet, node: FarNode) -> None:
    node.without_python()


def cut(fleet: FarFleet, node: FarNode) -> None:
    node.cuts_itself("restart")


def locked(fleet: FarFleet, node: FarNode) -> None:
    agent = node.root / "etc/gitcfg/agent.toml"
    agent.parent.mkdir(parents=True)
    agent.touch()


UNREACHED: Mapping[str, Callable[[FarFleet, FarNode], None]] = {
    "unreachable": unreachable,
    "host-key": of_another,
    "auth": nobody,
}
FAILED: Mapping[str, Callable[[FarFleet, FarNode], None]] = {
    "reverted": failing,
    "no-python": pythonless,
    "lost": cut,
}


@pytest.mark.slow
@pytest.mark.parametrize("what", [*UNREACHED, *FAILED])
def test_the_first_batch_tells_what_comes_of_the_others(six: FarFleet, what: str) -> None:
    first, *others = six.order()
    ({**UNREACHED, **FAILED})[what](six, six.nodes[first])
    words = ("-o", "json", "--batch", "1,50%", "--jobs", "2")
    none = "--max-unreachable" if what in UNREACHED else "--max-failures"
    done = six.deploy(*words, none, "0")
    assert (done.code, six.outcomes(done)) == (3, {first: what, **dict.fromkeys(others, "skipped")}), done.err
    assert [node.asked for node in six.nodes.values() if node.name != first] == [[]] * 5
    assert (done.summary["ended"], "the limit is 0" in done.summary["because"]) == ("limit", True)
    six.nodes[first].rests()
    done = six.deploy(*words, none, "1")
    again = "unchanged" if what == "lost" else what
    assert six.outcomes(done) == {first: again, **dict.fromkeys(others, "ok")}, done.err
    assert {one["node"]: one["batch"] for one in done.summary["nodes"]} == {
        name: 1 if place == 0 else 2 if place < 3 else 3 for place, name in enumerate((first, *others))
    }


def test_a_limit_counts_the_whole_run(six: FarFleet) -> None:
    order = six.order()
    for name in (order[0], order[2], order[4]):
        failing(six, six.nodes[name])
    done = six.deploy("-o", "json", "--batch", "1,2,3,4,5", "--jobs", "1", "--max-failures", "34%")
    found = dict(zip(order, ("reverted", "ok", "reverted", "ok", "reverted", "skipped"), strict=True))
    assert (done.code, six.outcomes(done)) == (3, found), done.err


def test_a_batch_that_was_not_well_is_the_last_one(six: FarFleet) -> None:
    first, *others = six.order()
    failing(six, six.nodes[first])
    done = six.deploy("-o", "json", "--batch", "1")
    assert six.outcomes(done) == {first: "reverted", **dict.fromkeys(others, "skipped")}


def test_who_has_an_agent_says_nothing_of_the_others(six: FarFleet) -> None:
    first, *others = six.order()
    locked(six, six.nodes[first])
    limits = ("-o", "json", "--max-failures", "0", "--max-unreachable", "0")
    done = six.deploy(*limits, "--batch", "1")  # a batch in which nobody was tried says nothing at all
    assert six.outcomes(done) == {first: "refused", **dict.fromkeys(others, "skipped")}
    done = six.deploy(*limits, "--batch", "2")
    assert (done.code, six.outcomes(done)) == (4, {first: "refused", **dict.fromkeys(others, "ok")}), done.err


def test_at_most_so_many_at_once(six: FarFleet) -> None:
    gates = [node.daemon.block("restart") for node in six.nodes.values()]
    running = six.start("-o", "jsonl", "--jobs", "2")
    order = six.order()
    for name in order[:2]:
        six.nodes[name].daemon.asked("restart")
    assert [six.nodes[name].asked for name in order[2:]] == [[]] * 4
    for gate in gates:
        gate.unlink()
    done = six.over(running)
    assert (done.code, sorted(line["node"] for line in done.lines)) == (0, sorted(order))


def test_a_summary_names_each_node_once(six: FarFleet) -> None:
    order = six.order()
    failing(six, six.nodes[order[0]])
    unreachable(six, six.nodes[order[1]])
    done = six.deploy("--batch", "2", "--max-unreachable", "0", "--jobs", "1")
    # `reverted 1 node: n4`, and what is folded: `n[1-3]`
    named = re.findall(r"^(\S+) \d+ nodes?: (.*)$", done.out, re.MULTILINE)
    assert [outcome for outcome, _ in named] == ["reverted", "unreachable", "skipped"], done.out
    assert sorted(name for _, said in named for name in expand(said, SIX)) == sorted(order)
    assert done.err.rstrip().splitlines()[-1].startswith("6 nodes: ")
