"""Odd characters on the way to real nodes: in managed paths, in their root folders, in addresses."""

import json
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.system.sshd import sshd
from tests.system.sshd_fleet import Done, FarFleet
from tests.system.sshd_node import ROOT, FarNode, enter

LOOPBACK, PLAIN = "::1", "127.0.0.2"
BELOW, STATE = "my root's ü \"$x", "/var/lib/git cfg 'x' ü"
PATHS = (
    "/etc/a b/c  d ",
    "/etc/it's",
    '/etc/say "x"',
    "/etc/$HOME `id`; rm -rf *",
    "/etc/ünï/ж日本",
    "/etc/emoji-\U0001f600",
    "/etc/a\u0301",
    "/etc/-rf",
    "/etc/back\\slash",
    "/etc/#x%41",
    "/etc/~x",
    "/etc/{new}",
    "/etc/[a]*?",
    f"/etc/{'x' * 240}",
    "/".join(["/etc", *["long name" * 20] * 5]),
)
LANGUAGE = "de_DE.ISO-8859-1"


@pytest.fixture
def two(tmp_path: Path) -> Iterator[FarFleet]:
    """One node at an IPv6 address, and one at another."""
    with ExitStack() as stack:
        try:
            stack.enter_context(socket.create_server((LOOPBACK, 0), family=socket.AF_INET6)).close()
        except OSError:
            pytest.skip("there is no IPv6 here")
        addresses = (LOOPBACK, PLAIN)
        yield FarFleet(tmp_path, stack.enter_context(sshd(tmp_path, addresses, enter(tmp_path))), addresses)


@pytest.fixture
def latin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a language whose letters are not UTF-8."""
    folder = tmp_path_factory.mktemp("locales")
    line = ["localedef", "-i", "de_DE", "-f", "ISO-8859-1", str(folder / LANGUAGE)]
    try:
        done = subprocess.run(line, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no localedef")
    if done.returncode > 1:  # 1: it only warns
        pytest.skip("languages cannot be made here")
    return folder


def odd(fleet: FarFleet, text: str) -> FarNode:
    """The plain node gets files at odd paths."""
    files = {path: {"text": f"{text} {path}"} for path in PATHS}
    fleet.push({"nodes/n2.yaml": json.dumps({"groups": [], "files": files}, ensure_ascii=False)})
    node = fleet.nodes["n2"]
    (node.root / BELOW).mkdir(exist_ok=True)
    return node


def below(fleet: FarFleet, *words: str) -> Done:
    """A deploy to the plain node, below a folder with an odd name."""
    fleet.entering = ("--no-sudo", "--root", f"{ROOT}/{BELOW}", "--state-dir", STATE)
    return fleet.deploy("-o", "json", *words, "n2")


def standing(node: FarNode) -> dict[str, str]:
    folder = node.root / BELOW
    files = (file for file in (folder / "etc").rglob("*") if file.is_file())
    return {f"/{file.relative_to(folder)}": file.read_text() for file in files}


def test_odd_paths_below_odd_folders(two: FarFleet) -> None:
    node = odd(two, "one")
    done = below(two, "--dry-run")
    assert (done.code, sorted(done.summary["nodes"][0]["differences"])) == (1, sorted(PATHS)), done.err
    done = below(two)
    assert (done.code, two.outcomes(done)) == (0, {"n2": "ok"}), done.err
    assert standing(node) == {path: f"one {path}" for path in PATHS}
    assert (node.root / BELOW / STATE[1:] / "installed.json").exists()
    # What stands is found again, and so is the program that was kept there.
    done = below(two)
    (one,) = done.summary["nodes"]
    assert (one["outcome"], one["sent"] < 20_000) == ("unchanged", True)
    odd(two, "two")
    assert two.outcomes(below(two)) == {"n2": "ok"}
    two.push({"nodes/n2.yaml": "groups: []\n"})
    assert two.outcomes(below(two)) == {"n2": "ok"}
    assert standing(node) == {}


def test_names_of_files_are_in_utf_8_whatever_language_a_login_speaks(two: FarFleet, latin: Path) -> None:
    node = odd(two, "one")
    place = two.folder / "enter"
    place.write_text(place.read_text().replace("export ", f"export LOCPATH={latin} LC_ALL={LANGUAGE} ", 1))
    done = below(two)
    assert (done.code, two.outcomes(done)) == (0, {"n2": "ok"}), done.out
    assert standing(node) == {path: f"one {path}" for path in PATHS}
    assert two.outcomes(below(two)) == {"n2": "unchanged"}


@pytest.mark.parametrize("path", ["/etc/new\nline", "/etc/\u202e", f"/etc/{'x' * 241}", "/etc/.gitcfg-x"])
def test_what_no_node_takes_is_not_begun(two: FarFleet, path: str) -> None:
    two.push({"nodes/n2.yaml": json.dumps({"groups": [], "files": {path: {"text": "x"}}})})
    done = two.deploy("n2")
    assert (done.code, "GC209" in done.err) == (4, True), done.err
    assert two.nodes["n2"].asked == []


@pytest.mark.slow
def test_addresses_of_six(two: FarFleet) -> None:
    """By name, from the repository, over a jump host, and as what known_hosts calls them."""
    known = two.home / ".ssh/known_hosts"
    two.known({"n1": None})
    done = two.deploy("-o", "json", "n1")
    assert two.outcomes(done) == {"n1": "host-key"}
    two.deploy("--accept-new", "n1")
    assert f"[{LOOPBACK}]:{two.sshd.port} " in known.read_text()
    assert two.outcomes(two.deploy("-o", "json", "n1")) == {"n1": "unchanged"}
    for hop in (f"[{LOOPBACK}]:{two.sshd.port}", f"root@[{LOOPBACK}]", f"[{LOOPBACK}]", LOOPBACK):
        two.settings(f"Host n2\n  ProxyJump {hop}\n")
        before = accepted(two)
        assert two.deploy("n2").code == 0
        assert accepted(two) - before == 2
    # The repository's word counts where ssh_config has none.
    lines = (two.home / ".ssh/config").read_text().partition("Host *")
    (two.home / ".ssh/config").write_text("".join(lines[1:]))
    two.push({"nodes/n1.yaml": f"groups: [Workers]\nfeatures: [at-n1]\naddress: {LOOPBACK!r}\n"})
    assert two.outcomes(two.deploy("-o", "json", "n1")) == {"n1": "unchanged"}


def accepted(fleet: FarFleet) -> int:
    """How many connections have logged in."""
    return (fleet.folder / "sshd.log").read_text().count("Accepted publickey")


@pytest.mark.parametrize("address", ["root@127.0.0.2", "127.0.0.2:22", "[::1]", "ssh://127.0.0.2"])
def test_an_address_is_only_a_host(two: FarFleet, address: str) -> None:
    (two.home / ".ssh/config").write_text("")
    two.push({"nodes/n2.yaml": json.dumps({"groups": ["Workers"], "address": address})})
    done = two.deploy("-o", "json", "n2")
    assert done.code == 4
    assert f"error[GC102] address is neither a host name nor an IP address: {address}." in done.err
    assert two.nodes["n2"].files == {}
