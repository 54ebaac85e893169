"""A canary through deploys: a secret stands in its file on its node, and in nothing else at either end."""

import base64
import os
import subprocess
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.server.site import GITCFG, run
from tests.system.sshd import working
from tests.system.sshd_fleet import FILES, FarFleet, far_fleet
from tests.system.sshd_node import FAR_END, FarNode

pytestmark = pytest.mark.slow
CANARY = "Canary-7f3a9c51d2"
FILE = "60-password.config"
TAKEN = {
    "parameters/secrets.yaml": "parameters:\n"
    "  PASSWORD: {description: The pool's password., type: string, secret: true}\n",
    "features/Pool.yaml": FILES["features/Pool.yaml"]
    + f"  /etc/condor/config.d/{FILE}: {{template: password.j2}}\n",
    "templates/password.j2": "PASSWORD = {{ params.PASSWORD }}\n",
    "groups/Workers.yaml": "features: [Pool]\n"
    "params: {LABEL: zero, MAX_JOBS: '10', MEMORY: 1024, PASSWORD: {$secret: pool}}\n",
}


@pytest.fixture
def two(tmp_path: Path) -> Iterator[FarFleet]:
    with far_fleet(tmp_path, 2) as fleet:
        own = fleet.home / ".ssh/id_ed25519"
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(own), cwd=tmp_path)
        given(fleet, CANARY, "--for", "true", "--recipient", f"{own}.pub")
        fleet.push(TAKEN)
        yield fleet


def given(fleet: FarFleet, content: str, *words: str) -> None:
    """`gitcfg secret set`, from stdin."""
    line = [*GITCFG, "secret", "set", "pool", *words]
    done = subprocess.run(
        line, input=content, cwd=fleet.work, env=fleet.environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def forms(text: str) -> tuple[bytes, ...]:
    """What the text looks like in files: itself, in hexadecimal, and as base64, wherever it begins there."""
    raw = text.encode()
    shifted = (base64.b64encode(b"xyz"[:start] + raw)[4:-4] for start in range(3))
    return raw, raw.hex().encode(), *shifted


def found(raw: bytes, text: str) -> bool:
    """Whether it stands there, or would once it is uncompressed."""
    with suppress(zlib.error):
        raw += zlib.decompress(raw, wbits=47)
    return any(form in raw for form in forms(text))


def holding(fleet: FarFleet, text: str = CANARY) -> set[str]:
    """All files of the world that have it, but for what the daemons say of themselves."""
    places = set()
    for place in fleet.folder.rglob("*"):
        if place.is_file() and not place.is_symlink() and "daemon" not in place.parts:
            with suppress(FileNotFoundError):
                places |= {str(place.relative_to(fleet.folder))} if found(place.read_bytes(), text) else set()
    objects = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch"], cwd=fleet.work, capture_output=True, check=True
    )
    return places | ({"git"} if found(objects.stdout, text) else set())


def meant(*nodes: FarNode) -> set[str]:
    """Where it may stand."""
    return {f"at/{node.address}/root/etc/condor/config.d/{FILE}" for node in nodes}


def listed(fleet: FarFleet) -> list[str]:
    """The processes whose command or environment has it."""
    said = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            raw = (place / "cmdline").read_bytes() + b"\0" + (place / "environ").read_bytes()
            said += [place.name] if found(raw, CANARY) and int(place.name) != os.getpid() else []
    return said


def dumps(pid: int) -> str:
    """How large a core of a process may be."""
    lines = Path(f"/proc/{pid}/limits").read_text().splitlines()
    return next(line.split()[4] for line in lines if line.startswith("Max core file size"))


def test_it_stands_in_its_file_alone(two: FarFleet) -> None:
    nodes = list(two.nodes.values())
    assert holding(two) == set()
    dry = two.deploy("-o", "json", "--dry-run")
    assert two.outcomes(dry) == {"n1": "differs", "n2": "differs"}
    assert f"{FILE}" in dry.out
    assert CANARY not in dry.out
    assert holding(two) == set()
    gates = [node.daemon.block("restart") for node in nodes]
    running = two.start("-o", "json")
    for node in nodes:
        node.daemon.asked("restart")
    # In the middle of it: what is at work at both ends shows it to nobody, and leaves no core with it.
    assert listed(two) == []
    assert dumps(running.pid) == "0"
    ends = [
        pid
        for pid in working(str(two.folder).encode(), FAR_END)
        if Path(f"/proc/{pid}/comm").read_text().startswith("python")
    ]
    assert len(ends) == 4  # one that talks and one that installs, on each
    assert {dumps(pid) for pid in ends} == {"0"}
    for gate in gates:
        gate.unlink()
    done = two.over(running)
    assert (done.code, two.outcomes(done)) == (0, {"n1": "ok", "n2": "ok"}), done.err
    assert {node.daemon.values["PASSWORD"] for node in nodes} == {CANARY}
    assert {(node.config / FILE).stat().st_mode & 0o777 for node in nodes} == {0o600}
    assert holding(two) == meant(*nodes)
    told = [dry, done, two.deploy(), two.deploy("-o", "jsonl"), two.call("deploys"), two.call("inventory")]
    assert [CANARY in one.out + one.err for one in told] == [False] * len(told)


def test_what_commands_say_of_it_is_not_told(two: FarFleet) -> None:
    node = two.nodes["n1"]
    node.says_before_it_fails(f"cat {node.config}/{FILE}")
    done = two.deploy("-o", "json")
    assert two.outcomes(done) == {"n1": "reverted", "n2": "ok"}, done.err
    (one,) = [one for one in done.summary["nodes"] if one["node"] == "n1"]
    assert "PASSWORD = " in one["output"] or "secret" in one["output"], one
    assert CANARY not in done.out + done.err
    assert holding(two) == meant(two.nodes["n2"])


def test_it_changes_with_its_version(two: FarFleet) -> None:
    two.deploy()
    given(two, "Another-5c0ffee1d")
    two.push({})
    done = two.deploy("-o", "json")
    assert two.outcomes(done) == {"n1": "ok", "n2": "ok"}, done.err
    assert two.nodes["n1"].daemon.values["PASSWORD"] == "Another-5c0ffee1d"
    assert holding(two) == set()
    assert holding(two, "Another-5c0ffee1d") == meant(*two.nodes.values())


@pytest.mark.parametrize("verb", ["validate", "restart", "check"])
def test_what_a_killed_installation_leaves_is_root_s_and_goes_with_the_next(two: FarFleet, verb: str) -> None:
    node = two.nodes["n1"]
    gate = node.daemon.block(verb)
    running = two.start("-o", "json", "n1")
    node.daemon.asked(verb)
    assert node.kill_installation()
    done = two.over(running)
    assert two.outcomes(done) == {"n1": "lost"}, done.err
    for place in map(two.folder.joinpath, holding(two)):
        assert place.stat().st_mode & 0o077 == 0, place
        assert any(above.stat().st_mode & 0o077 == 0 for above in place.parents) or place.name == FILE, place
    gate.unlink()
    assert two.outcomes(two.deploy("-o", "json", "n1")) == {"n1": "ok"}
    assert holding(two) == meant(node)


def test_without_a_key_nothing_begins(two: FarFleet) -> None:
    (two.home / ".ssh/id_ed25519").unlink()
    done = two.deploy()
    assert done.code not in (0, 3), done.err
    assert "pool" in done.err
    assert [node.asked for node in two.nodes.values()] == [[], []]
    assert CANARY not in done.out + done.err


def test_a_node_that_must_not_have_it_stops_all(two: FarFleet) -> None:
    text = (two.work / "secrets/pool.yaml").read_text()
    two.push(
        {
            "secrets/pool.yaml": text.replace("for: 'true'", "for: node.name == 'n1'").replace(
                "for: true", "for: node.name == 'n1'"
            )
        }
    )
    done = two.deploy()
    assert (done.code, "GC308" in done.err) == (4, True), done.err
    assert two.nodes["n2"].asked == []
