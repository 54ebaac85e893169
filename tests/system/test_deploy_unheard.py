"""Over real sshds: what became of a node whose line was cut, and of one on which even the way back failed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.sshd_fleet import FarFleet, far_fleet

pytestmark = pytest.mark.slow


@pytest.fixture
def one(tmp_path: Path) -> Iterator[FarFleet]:
    with far_fleet(tmp_path, 1) as fleet:
        yield fleet


def state(fleet: FarFleet) -> str:
    """How the node stands."""
    done = fleet.call("inventory", "-o", "json")
    (node,) = json.loads(done.out)["nodes"]
    return str(node["state"])


def test_a_line_that_is_cut_while_it_validates(one: FarFleet) -> None:
    """The node goes back by itself; a dry run hears of it, and so do the record and the inventory."""
    node = one.nodes["n1"]
    one.deploy()
    control = node.daemon.home / "poold"
    usual = control.read_text()
    node.cuts_itself("validate")
    refused = one.own("n1", LABEL="refused")
    done = one.deploy("-o", "json")
    assert one.outcomes(done) == {"n1": "lost"}, done.err
    run = done.summary["run"]
    node.rests()
    control.write_text(usual)
    what = f"The last installation here, of {refused[:10]}, was rolled back: validate poold-n1: exit code 1."
    dry = one.deploy("--dry-run")
    assert (dry.code, what in dry.out) == (1, True), dry.out
    shown = one.call("deploys", run)
    assert "reverted 1 node: n1" in shown.out
    assert "Its end was unknown at first (lost); the next deploy reported: reverted." in shown.out
    assert state(one) == "reverted"
    one.own("n1", LABEL="mended")
    done = one.deploy()
    assert (done.code, what in done.out, state(one)) == (0, True, "ok"), done.out


def test_a_failed_node_is_not_ok_until_it_is_mended(one: FarFleet) -> None:
    node = one.nodes["n1"]
    one.deploy()
    control = node.daemon.home / "poold"
    usual = control.read_text()
    node.fails()
    one.change(MAX_JOBS="20")
    assert one.outcomes(one.deploy("-o", "json")) == {"n1": "failed"}
    assert state(one) == "failed"
    one.change()
    assert state(one) == "behind"
    assert one.outcomes(one.deploy("-o", "json")) == {"n1": "failed"}
    assert state(one) == "failed"
    assert one.outcomes(one.deploy("-o", "json", "--dry-run")) == {"n1": "differs"}
    control.write_text(usual)
    assert one.outcomes(one.deploy("-o", "json")) == {"n1": "ok"}
    assert (state(one), node.runs) == ("ok", "zero")
