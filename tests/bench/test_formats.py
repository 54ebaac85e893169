"""What is written for gitcfg and the other tools says what the fleet says."""

import json
import sys
from datetime import date
from pathlib import Path

import msgspec
import pytest

import gitcfg
from bench.fleet import FLEETS, Fleet, changed, draw, params
from bench.fleet.lay import lay
from bench.fleet.repository import files
from bench.measure import Command, Limits, run
from bench.peers import PEERS, Peer, Tool
from bench.peers.environments import NotInstalled, environment, versions
from bench.rows.judge import judge

TODAY = date(2026, 11, 20)
FLEET = draw(FLEETS["small"])
WORK = Path(__file__).parents[2] / "bench/.work/environments"


@pytest.mark.parametrize("name", ["one", "small", "stress", "large", "own"])
def test_gitcfg_finds_no_error_and_the_same_values(name: str) -> None:
    fleet = draw(msgspec.structs.replace(FLEETS[name], nodes=min(FLEETS[name].nodes, 30)))
    with gitcfg.in_memory(dict(files(fleet)), TODAY) as compiled:
        assert [one for one in compiled.all_findings if one.severity.name == "ERROR"] == []
        for node in fleet.nodes.values():
            assert dict(compiled[node.name].params) == params(fleet, node)


def test_node_sets_are_read() -> None:
    fleet = draw(msgspec.structs.replace(FLEETS["sets"], sets=2, set_size=3))
    with gitcfg.in_memory(dict(files(fleet)), TODAY) as compiled:
        assert len(compiled) == 6
        assert [one for one in compiled.all_findings if one.severity.name == "ERROR"] == []


def test_yardstick_computes_the_same_values(tmp_path: Path) -> None:
    assert asked(PEERS["yardstick"], Tool(Path(sys.executable)), FLEET, tmp_path) == "100/100 of 100"


def test_a_wrong_answer_is_found(tmp_path: Path) -> None:
    """The files after the change are not the fleet before it."""
    lay(tmp_path / "files", files(changed(FLEET)))
    with pytest.raises(ValueError, match="nodes differ"):
        answer(PEERS["yardstick"], Tool(Path(sys.executable)), FLEET, tmp_path)


@pytest.mark.parametrize("value", [1, 1.0, "1"])
def test_true_is_not_one(tmp_path: Path, value: object) -> None:
    name, node = next(iter(FLEET.nodes.items()))
    found = {other: params(FLEET, one) for other, one in FLEET.nodes.items()}
    boolean = next(one for one, said in found[name].items() if said is True)
    (tmp_path / "answer").write_text(json.dumps(found | {name: {**params(FLEET, node), boolean: value}}))
    with pytest.raises(ValueError, match="1 of 100 nodes differ"):
        judge(FLEET, PEERS["yardstick"].answers)(tmp_path / "answer")


def test_missing_node_is_found(tmp_path: Path) -> None:
    (tmp_path / "answer").write_text("{}")
    with pytest.raises(ValueError, match="0 nodes in the answer, 100 in the fleet"):
        judge(FLEET, PEERS["yardstick"].answers)(tmp_path / "answer")


@pytest.mark.parametrize("name", PEERS)
def test_versions_are_pinned(name: str) -> None:
    assert all(one.split()[-1][0].isdigit() for one in versions(PEERS[name]).split(", "))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PEERS if name != "yardstick"])
def test_peer_computes_the_same_values(name: str, tmp_path: Path) -> None:
    """Only with what `make bench` has installed: no test installs anything."""
    if not (WORK / name).with_suffix(".made").exists():
        pytest.skip("not installed; `make bench` does it")
    assert asked(PEERS[name], environment(PEERS[name], WORK), FLEET, tmp_path) == "100/100 of 100"


@pytest.mark.slow
def test_what_cannot_be_installed_is_told_in_a_line(tmp_path: Path) -> None:
    """An option that pip does not know stands for a package that it cannot find."""
    impossible = msgspec.structs.replace(PEERS["yardstick"], requirements=("--no-such-option",))
    with pytest.raises(NotInstalled, match=r"cannot be installed: .*no such option"):
        environment(impossible, tmp_path)


def asked(peer: Peer, tool: Tool, fleet: Fleet, folder: Path) -> str:
    lay(folder / "files", peer.files(fleet))
    return answer(peer, tool, fleet, folder)


def answer(peer: Peer, tool: Tool, fleet: Fleet, folder: Path) -> str:
    command = Command(
        argv=peer.everything(tool, folder / "files"),
        folder=folder,
        out=folder / "out",
        environment={"HOME": str(folder)},
    )
    assert run(command, Limits(seconds=100)).exit == 0, command.complaint
    return judge(fleet, peer.answers)(command.printed)
