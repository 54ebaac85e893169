"""A far end in a process of its own, without a program that is started: cheap, and its disk can die."""

import os
import select
from collections.abc import Callable

from gitcfg.deploy.messages import Done, Order
from gitcfg.deploy.program import LINE, SHELL
from gitcfg.deploy.turn import talk
from gitcfg.install.remote.protocol import HAVE, MARK, FarLine
from gitcfg.install.remote.session import Carried, converse
from gitcfg.install.store import Place
from tests.deploy.process import unheard

PATIENCE = 60.0
"""Seconds after which a test has failed and not stopped."""


class Forked:
    """A line to a far end at a place. It takes at most `most` bytes, and is cut then."""

    def __init__(self, place: Place, most: int | None = None) -> None:
        inner, self._sink = os.pipe()
        self._source, outer = os.pipe()
        self._left = most
        self.sent = 0
        self.process = os.fork()
        if not self.process:
            os.setpgid(0, 0)
            os.close(self._sink)
            os.close(self._source)
            code = 70
            try:
                for mark in (LINE, SHELL, HAVE):
                    os.write(outer, f"{MARK} {mark}\n".encode())
                code = converse(FarLine(inner, outer), place, Carried(b"", "0" * 64))
            finally:
                os._exit(code)
        os.close(inner)
        os.close(outer)

    def send(self, data: bytes) -> None:
        if self._left is not None:
            data, whole = data[: self._left], len(data)
            self._left -= len(data)
        self.sent += os.write(self._sink, data)
        if self._left is not None and (len(data) < whole or not self._left):
            raise BrokenPipeError(32, "Broken pipe")

    def receive(self, most: int) -> bytes:
        if not select.select([self._source], [], [], PATIENCE)[0]:
            raise TimeoutError("the far end says nothing")
        return os.read(self._source, most)

    def stderr(self) -> str:
        return ""

    def ended(self) -> int | None:
        return None

    def close(self) -> int:
        """Hang up, and wait for the far end; its exit code."""
        os.close(self._sink)
        os.close(self._source)
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


def forked(
    place: Place, order: Order, most: int | None = None, told: Callable[[str, str], None] = unheard
) -> Done:
    """Carry out an order; what `talk` raises is raised when the far end has ended too."""
    line = Forked(place, most)
    try:
        done = talk(line, lambda hello: order, told)
    finally:
        line.close()
    assert done is not None
    return done
