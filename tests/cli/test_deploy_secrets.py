"""What `gitcfg deploy` hands out is judged by what was reviewed last, and made before anybody is reached."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitcfg.cli.deploy import run as conduct
from gitcfg.deploy.network import ConnectOptions
from tests.cli import test_deploy
from tests.cli.test_deploy import Network, Pool

pool = test_deploy.pool
FILES = {
    "parameters/p.yaml": "parameters:\n  DOOR: {description: d, type: string, secret: true}\n",
    "features/F.yaml": (
        "description: f\nparams: {DOOR: {$secret: door}}\nfiles: {/etc/f: {template: f.j2}}\n"
    ),
    "templates/f.j2": "door={{ params.DOOR }}\n",
}
UNREVIEWED = ("--unreviewed", "--reason", "it burns")


class Door:
    """A pool whose nodes get a secret, and who has a key for it."""

    def __init__(self, pool: Pool, folder: Path) -> None:
        self.pool = pool
        self.key = folder / "key"
        self._content = folder / "content"
        words = ("-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(self.key))
        subprocess.run(["ssh-keygen", *words], check=True)
        self.first = self.sealed("door", "true", "the-canary", FILES)

    def sealed(self, name: str, condition: str, content: str, files: dict[str, str]) -> str:
        """A commit with a secret's content, and other files."""
        self._content.write_text(content)
        public = self.key.with_suffix(".pub").read_text().strip()
        there = (self.pool.work / f"secrets/{name}.age").exists()
        words = () if there else ("--for", condition, "--recipient", public)
        self.pool.call("secret", "set", name, "--from", str(self._content), *words)
        return self.pool.change(files)

    def said(self, condition: str) -> str:
        """A commit with another `for`."""
        path = self.pool.work / "secrets/door.yaml"
        lines = [line for line in path.read_text().splitlines() if not line.startswith("for:")]
        return self.pool.change({"secrets/door.yaml": "\n".join([f"for: '{condition}'", *lines, ""])})

    def deploy(self, *words: str, code: int = 0) -> tuple[str, str]:
        return self.pool.deploy("--identity", str(self.key), *words, code=code)


@pytest.fixture
def door(pool: Pool, tmp_path: Path) -> Door:
    return Door(pool, tmp_path)


def narrowed(door: Door) -> str:
    """Only n2 and n3 may have it any more, and only they get it."""
    door.pool.change({"nodes/n1.yaml": "features: []\n", "nodesets/n.yaml": "nodes: n[2-3]\nfeatures: [F]\n"})
    return door.said('node.name != "n1"')


@pytest.mark.parametrize("looking", [(), ("--dry-run",)])
def test_an_older_commit_gives_no_secret_to_who_may_not_have_it_any_more(
    door: Door, looking: tuple[str, ...]
) -> None:
    narrowed(door)
    out, _ = door.deploy("n1", "n2", "--at", door.first, *looking, code=4)
    assert "refused 1 node: n1\n  The secret door is no longer for this node.\n" in out
    assert "hint: `for` in its file on main selects the nodes that may have it." in out
    assert door.pool.network.seen == ["n2"]
    assert door.pool.file("n1") is None


def test_a_secret_that_is_gone_is_nobodys(door: Door) -> None:
    plain = "description: f\nfiles: {/etc/f: {text: plain}}\n"
    for path in ("secrets/door.yaml", "secrets/door.age"):
        (door.pool.work / path).unlink()
    door.pool.change({"features/F.yaml": plain})
    out, _ = door.deploy("--at", door.first, code=4)
    assert "refused 3 nodes: n[1-3]\n  The secret door is no longer for this node.\n" in out
    assert door.pool.network.seen == []


def test_who_is_held_at_a_commit_gets_what_it_gave_them(door: Door) -> None:
    narrowed(door)
    hold = f"nodes: n1\ncommit: {door.first}\nuntil: 2999-01-01\nreason: look\n"
    door.pool.change({"holds/look.yaml": hold})
    door.deploy("n1", "--at", door.first)
    assert door.pool.file("n1") == "door=the-canary\n"


def test_what_nobody_reviewed_is_named(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    narrowed(door)
    door.pool.git("checkout", "--quiet", "-b", "mine", door.first)
    door.said('node.name in ["n1", "n2", "n3"]')
    words = ("n1", "n2", "--at", "mine", "--identity", str(door.key), "--root", test_deploy.ROOT)
    told = "warning: The secret door is sent to 1 node that may not have it on main: n1."
    _, err = door.pool.call("deploy", *words, *UNREVIEWED, "--dry-run", code=1)
    assert told in err
    monkeypatch.setattr("sys.stdin", Terminal("y\n"))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    door.pool.call("deploy", *words, code=4)
    _, err = door.pool.call("deploy", *words, *UNREVIEWED)
    assert told in err
    assert "to 2 nodes: n[1-2]? With secrets that were not reviewed like this: door. [y/N] " in err
    assert door.pool.file("n1") == "door=the-canary\n"


class Terminal:
    """Somebody who answers."""

    def __init__(self, answer: str) -> None:
        self._answer = answer

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        return self._answer


def test_another_content_that_nobody_reviewed_is_named(door: Door) -> None:
    door.pool.git("checkout", "--quiet", "-b", "mine")
    door.sealed("door", "", "another", {})
    _, err = door.deploy("n1", "--at", "mine", *UNREVIEWED)
    assert "The secret door has another encrypted file than on main, and is sent to 1 node: n1.\n" in err
    assert door.pool.file("n1") == "door=another\n"
    assert "warning" not in door.deploy("n1", "--at", door.first)[1]


def test_without_a_protected_branch_every_secret_is_named(door: Door) -> None:
    door.pool.git("branch", "--quiet", "-m", "mine")
    _, err = door.deploy("n1", "--at", "mine", *UNREVIEWED)
    assert "The secret door is sent to 1 node that may not have it on any protected branch: n1.\n" in err


@pytest.mark.parametrize("looking", [(), ("--dry-run",)])
def test_a_content_that_fits_nowhere_is_told_before_anybody_is_reached(
    door: Door, looking: tuple[str, ...]
) -> None:
    feature = FILES["features/F.yaml"].replace("{template: f.j2}", '{format: condor, params: ["DOOR"]}')
    files = {"features/G.yaml": feature, "nodesets/n.yaml": "nodes: n[2-3]\nfeatures: [G]\n"}
    files["nodes/n1.yaml"] = "features: [F]\n"
    door.sealed("door", "", "the-canary\nof two lines\n", files)
    _, err = door.deploy(*looking, code=4)
    said = "The format condor of /etc/f cannot represent the secret door. Nodes: n[2-3]. Nothing is deployed."
    assert f"error: {said}\nhint: Set another value: `gitcfg secret set door`.\n" in err
    assert "canary" not in err
    assert door.pool.network.seen == []
    door.deploy("n1", *looking, code=1 if looking else 0)


def test_host_keys_and_addresses_are_those_of_what_was_reviewed_last(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that was taken away is not trusted again, and no commit of one's own names a host."""
    keys = [made(tmp_path / name) for name in ("old", "kept", "mine")]
    nodes = "features: [F]\naddress: {}\n"
    said = {"keys/k.txt": f"n1 {keys[0]}n2 {keys[1]}", "nodes/n9.yaml": nodes.format("a.example.org")}
    first = pool.change(said)
    tip = pool.change({"keys/k.txt": f"n2 {keys[1]}", "nodes/n9.yaml": nodes.format("b.example.org")})
    pool.git("checkout", "--quiet", "-b", "mine")
    new = {"nodes/n8.yaml": nodes.format("c.example.org"), "nodes/n9.yaml": nodes.format("d.example.org")}
    pool.change({"keys/m.txt": f"n3 {keys[2]}", **new})
    reaching = asked(monkeypatch, pool.network)
    for words in (("--at", first), ("--at", tip), ("--at", "mine", *UNREVIEWED)):
        pool.deploy("--dry-run", *words, code=3)
        found = reaching.pop()
        assert {name: key.split()[1] for name, key in found.keys.items()} == {"n2": keys[1].split()[1]}
        assert found.addresses["n9"] == "b.example.org"
        assert found.addresses.get("n8") == ("c.example.org" if "mine" in words else None)
    pool.git("branch", "--quiet", "-D", "main")
    pool.deploy("--dry-run", "--at", "mine", *UNREVIEWED, code=3)
    assert not reaching.pop().keys


def made(place: Path) -> str:
    """A new public key."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(place)], check=True)
    return place.with_suffix(".pub").read_text()


def asked(monkeypatch: pytest.MonkeyPatch, network: Network) -> list[ConnectOptions]:
    """How nodes would be reached, each time; what reaches them is another network."""
    found: list[ConnectOptions] = []

    def taken(reaching: ConnectOptions) -> Any:
        found.append(reaching)
        return network

    ssh: Callable[[ConnectOptions], Any] = taken
    monkeypatch.setattr(conduct, "_network", test_deploy.NETWORK)
    monkeypatch.setattr("gitcfg.deploy.ssh.Ssh", ssh)
    return found
