"""Disks without room, without names, read-only: nothing is mixed, the server hears, it goes on after."""

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from gitcfg.agent.agent import Agent
from gitcfg.agent.rounds import run_once, start_agent
from gitcfg.install.disk import Disk
from gitcfg.install.store import Limits, Place
from tests.agent.site import Site, awaited
from tests.install.world import filled, mounted, read_only

STATE = "var/lib/gitcfg"


class Full(Disk):
    """Takes nothing more while it is `full`."""

    full = False

    def write(self, file: int, content: bytes) -> None:
        if self.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        super().write(file, content)


@pytest.fixture
def made(site: Site) -> Iterator[tuple[Agent, Full, list[str]]]:
    disk = Full()
    said: list[str] = []
    root = str(site.world.root)
    place = Place(root, disk=disk, limits=Limits(lock_wait=1.0))
    agent = start_agent(root, "", place, said.append, "0")
    site.accept()
    yield agent, disk, said
    agent.client.close()


@pytest.fixture
def disks(site: Site) -> Iterator[ExitStack]:
    """Ends the agents, then what is mounted, before the world is removed."""
    with ExitStack() as stack:
        yield stack
        site.end()


def test_a_full_disk(site: Site, made: tuple[Agent, Full, list[str]]) -> None:
    agent, disk, said = made
    site.offer("one\n", "a")
    assert run_once(agent) == 0
    disk.full = True
    site.offer("two\n", "b")
    assert run_once(agent) == 3
    assert any("No space left" in line for line in said)
    assert site.world.runs_with("app") == "one\n"
    assert site.book.results == [("a", "ok"), ("b", "reverted")]
    disk.full = False
    agent.remember(failure=None)
    assert run_once(agent) == 0
    assert site.world.runs_with("app") == "two\n"
    assert site.book.results[-1] == ("b", "ok")


def test_a_first_start_without_room(site: Site) -> None:
    disk, root = Full(), str(site.world.root)
    disk.full = True
    with pytest.raises(OSError, match="No space left"):
        start_agent(root, "", Place(root, disk=disk), print, "0")
    disk.full = False
    assert start_agent(root, "", Place(root, disk=disk), print, "0").client.who.node == "n1"


@pytest.mark.parametrize("names", [False, True])
def test_a_state_folder_without_room(site: Site, disks: ExitStack, names: bool) -> None:
    """A real one: the agent starts, checks in, refuses, and goes on when there is room again."""
    state = site.world.root / STATE
    disks.enter_context(mounted(state, "size=1m,nr_inodes=400"))
    site.offer("one\n", "a")
    site.accept()
    assert site.once().returncode == 0
    empty = filled(state, names)
    site.offer("two\n", "b")
    refused = site.once()
    assert refused.returncode == 4
    assert ("more files" if names else "KiB left but needs") in refused.stderr
    assert site.world.runs_with("app") == "one\n"
    assert site.book.results == [("a", "ok"), ("b", "refused")]
    empty()
    site.offer("three\n", "c")
    assert site.once().returncode == 0
    assert site.world.runs_with("app") == "three\n"


def test_a_state_folder_that_becomes_read_only(site: Site, disks: ExitStack) -> None:
    """As a damaged disk does: the running agent goes on checking in, and tells."""
    state = site.world.root / STATE
    disks.enter_context(mounted(state, "size=1m"))
    site.offer("one\n", "a")
    site.accept()
    site.start()
    awaited(lambda: site.book.results == [("a", "ok")])
    with read_only(state):
        site.offer("two\n", "b")
        awaited(lambda: site.book.results[-1] == ("b", "refused"))
        told = [said["result"]["output"] for said in site.book.checkins if said["result"]]
        assert "Read-only file system" in told[-1]
        assert site.world.runs_with("app") == "one\n"
    site.offer("three\n", "c")
    awaited(lambda: site.book.results[-1] == ("c", "ok"))
    assert site.world.runs_with("app") == "three\n"


def test_files_that_become_read_only(site: Site, disks: ExitStack) -> None:
    folder = site.world.root / "etc/app"
    disks.enter_context(mounted(folder, "size=1m"))
    site.offer("one\n", "a")
    site.accept()
    assert site.once().returncode == 0
    site.offer("two\n", "b")
    with read_only(folder):
        reverted = site.once()
    assert (reverted.returncode, site.world.runs_with("app")) == (3, "one\n")
    assert "Read-only file system" in reverted.stderr
    assert site.book.results == [("a", "ok"), ("b", "reverted")]
    assert subprocess.run(["ls", "-A", folder], capture_output=True, check=True).stdout == b"app.conf\n"


def test_a_damaged_journal_is_told(site: Site) -> None:
    site.offer("one\n", "a")
    site.accept()
    assert site.once().returncode == 0
    site.world.state("journal").write_bytes(b"00000000 {}\n00000000 {}\n")
    site.offer("two\n", "b")
    assert site.once().returncode == 0
    assert site.book.results == [("a", "ok"), ("0", "failed"), ("b", "ok")]
    assert "damaged in line 1" in str([said["result"] for said in site.book.checkins])
    assert site.world.runs_with("app") == "two\n"
