"""Drift: each kind, and what is told of it."""

import os
from pathlib import Path

import pytest

from gitcfg.install.disk import Disk
from gitcfg.install.drift import Drift, find_drift
from tests.install.world import World, made_file, package


@pytest.fixture
def node(world: World) -> World:
    files = {
        "/etc/text": "one\ntwo\n",
        "/etc/secret": made_file("/etc/secret", "hidden\n", "0600"),
        "/etc/binary": made_file("/etc/binary", b"\0\xff"),
    }
    assert world.install(package(files)).result == "ok"
    assert find_drift(world.place()) == ()
    return world


def only(world: World) -> Drift:
    (found,) = find_drift(world.place(diff=500))
    return found


def test_changed(node: World) -> None:
    node.write("/etc/text", "one\nthree\n")
    found = only(node)
    assert (found.path, found.kind) == ("/etc/text", "changed")
    assert (
        found.diff
        == "--- /etc/text (expected)\n+++ /etc/text (on disk)\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"
    )


def test_a_secret_is_not_shown(node: World) -> None:
    node.write("/etc/secret", "leaked\n")
    (node.root / "etc/secret").chmod(0o644)
    found = only(node)
    assert found.kind == "changed"
    assert "hidden" not in found.diff
    assert "leaked" not in found.diff
    assert "mode 0600 -> 0644" in found.diff


def test_a_file_that_was_made_secret_is_not_shown(node: World) -> None:
    node.write("/etc/text", "leaked\n")
    (node.root / "etc/text").chmod(0o600)
    assert "leaked" not in only(node).diff


def test_binary_content_is_not_shown(node: World) -> None:
    (node.root / "etc/binary").write_bytes(b"\0more")
    assert only(node).diff == "binary content differs (expected 2 bytes, found 5)\n"


def test_a_long_diff_is_bounded(node: World) -> None:
    node.write("/etc/text", "x\n" * 10_000)
    found = only(node)
    assert len(found.diff) < 600
    assert found.diff.endswith("... (the rest is not shown)\n")


def test_other_kinds(node: World) -> None:
    text = node.root / "etc/text"
    text.chmod(0o640)
    assert (only(node).kind, only(node).diff) == ("mode", "mode 0644 -> 0640\n")
    text.chmod(0o644)
    os.chown(text, 1, 2)
    assert (only(node).kind, only(node).diff) == ("owner", "owner 0:0 -> 1:2\n")
    text.unlink()
    assert (only(node).kind, only(node).diff) == ("missing", "")
    text.symlink_to("/etc/passwd")
    assert (only(node).kind, only(node).diff) == ("link", "a link to /etc/passwd\n")
    text.unlink()
    text.mkdir()
    assert (only(node).kind, only(node).diff) == ("changed", "a folder\n")
    text.rmdir()
    (node.root / "etc").rename(node.root / "away")
    (node.root / "etc").symlink_to("away")
    assert {found.kind for found in find_drift(node.place())} == {"link"}


def test_what_not_everybody_may_read_is_not_shown(world: World) -> None:
    """A group is not everybody, and who reads reports is none of it."""
    hidden = made_file("/etc/hidden", "password\n", "0640")
    assert world.install(package({"/etc/hidden": hidden, "/etc/text": "one\n"})).result == "ok"
    world.write("/etc/hidden", "new password\n")
    assert "password" not in only(world).diff
    world.write("/etc/hidden", "password\n")
    world.write("/etc/text", "somebody's\n").chmod(0o640)
    assert "somebody" not in only(world).diff


def test_a_second_name_of_a_file_elsewhere_is_not_shown(node: World) -> None:
    """Who can write to the folder could else have any file of the disk reported."""
    (node.root / "etc/text").unlink()
    (node.root / "etc/text").hardlink_to(node.write("/srv/other", "somebody's\n"))
    found = only(node)
    assert found.kind == "changed"
    assert "somebody" not in found.diff


class Swapped(Disk):
    """Puts another file in the place of one that was looked at."""

    def __init__(self, target: Path) -> None:
        self.target, self.opened = target, 0

    def open(self, at: int, name: str) -> int:
        self.opened += name == self.target.name
        if (self.opened, name) == (2, self.target.name):
            self.target.unlink()
            self.target.write_text("somebody's\n")
            self.target.chmod(0o600)
        return super().open(at, name)


def test_a_file_that_is_swapped_while_it_is_looked_at_is_not_shown(node: World) -> None:
    disk = Swapped(node.write("/etc/text", "changed\n"))
    (found,) = find_drift(node.place(disk, diff=500))
    assert disk.opened == 2
    assert "somebody" not in found.diff
