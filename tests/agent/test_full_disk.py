"""A disk without room: nothing is installed, and it goes on when there is room again."""

import errno
import os
from collections.abc import Iterator

import pytest

from gitcfg.agent.agent import Agent
from gitcfg.agent.loop import once
from gitcfg.agent.started import started
from gitcfg.install import Limits, Place
from gitcfg.install.disk import Disk
from tests.agent.site import Site


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
    agent = started(root, "", place, said.append, "0")
    site.accept()
    yield agent, disk, said
    agent.client.close()


def test_a_full_disk(site: Site, made: tuple[Agent, Full, list[str]]) -> None:
    agent, disk, said = made
    site.offer("one\n", "a")
    assert once(agent) == 0
    disk.full = True
    site.offer("two\n", "b")
    assert once(agent) == 3
    assert any("No space left" in line for line in said)
    assert site.world.runs_with("app") == "one\n"
    assert site.book.results == [("a", "ok"), ("b", "reverted")]
    disk.full = False
    agent.remember(failure=None)
    assert once(agent) == 0
    assert site.world.runs_with("app") == "two\n"
    assert site.book.results[-1] == ("b", "ok")


def test_a_first_start_without_room(site: Site) -> None:
    disk, root = Full(), str(site.world.root)
    disk.full = True
    with pytest.raises(OSError, match="No space left"):
        started(root, "", Place(root, disk=disk), print, "0")
    disk.full = False
    assert started(root, "", Place(root, disk=disk), print, "0").client.who.node == "n1"
