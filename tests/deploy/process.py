"""A far end on this machine for tests: a line over a process, and what is ordered of it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from gitcfg.deploy.messages import Done, Hello, Order
from gitcfg.deploy.program import command
from gitcfg.deploy.turn import talk
from gitcfg.install.package import Actions, Package, package_to_json
from tests.install.world import STATE, World

PYTHONS = sorted({os.path.dirname(sys.executable), "/usr/bin"} if Path("/usr/bin/python3").exists() else {""})
"""Folders whose python3 runs the far end: the tests' own, and the system's."""


class Process:
    """A shell command as a line; `near` counts what is done with it, and may do what it likes then."""

    def __init__(self, words: str, folder: str = "", near: Callable[[int], None] | None = None) -> None:
        own = os.path.dirname(sys.executable)
        path = ":".join(one for one in (folder, "/usr/sbin:/usr/bin:/sbin:/bin", own) if one)
        self._said = TemporaryFile()  # noqa: SIM115 (it ends with the line)
        self._near = near
        self._count = 0
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            bufsize=0,
            env={"PATH": path, "LC_ALL": "C.UTF-8"},
            start_new_session=True,
            cwd="/",
        )

    def send(self, data: bytes) -> None:
        self._counted()
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def receive(self, most: int) -> bytes:
        self._counted()
        assert self.process.stdout is not None
        return self.process.stdout.read(most) or b""

    def stderr(self) -> str:
        self._said.seek(0)
        return self._said.read().decode(errors="replace")

    def ended(self) -> int | None:
        return self.process.wait(30)

    def cut(self, number: int = signal.SIGHUP) -> None:
        """As a server of SSH does it: both pipes are closed, and the process group gets a signal."""
        self.close()
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def close(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def _counted(self) -> None:
        self._count += 1
        if self._near is not None:
            self._near(self._count)


@contextmanager
def line_to(world: World, folder: str = "", **more: Any) -> Iterator[Process]:
    """A far end for the node of a world."""
    line = Process(command((), str(world.root), STATE), folder, **more)
    try:
        yield line
    finally:
        line.close()
        line.process.wait(60)


def ordered(new: Package, **more: Any) -> Order:
    """The order of a package, as a repository's commit makes it; `hidden` are true contents by path."""
    return Order(package_to_json(new), **more)


def deploy(world: World, new: Package, folder: str = "", **more: Any) -> Done:
    """Deploy over a line of its own."""
    with line_to(world, folder) as line:
        done = talk(line, lambda hello: ordered(new, **more), unheard)
    assert done is not None
    return done


def greeted(world: World) -> Hello:
    """What a node tells, with nothing ordered."""
    heard: list[Hello] = []

    def decide(hello: Hello) -> None:
        heard.append(hello)

    with line_to(world) as line:
        assert talk(line, decide, unheard) is None
    return heard[0]


def restarting(*names: str) -> Actions:
    """Restart some subsystems."""
    return Actions(restart=names)


def unheard(step: str, state: str) -> None:
    """Nobody listens."""


def with_params(new: Package, params: Mapping[str, Any]) -> Package:
    """The same with parameters."""
    return new._replace(params=params)
