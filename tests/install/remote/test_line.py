"""The far end's line: it breaks, or nobody reads it, and an installation goes on."""

import os
import threading
import time

import pytest

from gitcfg.install.remote import protocol as lines
from gitcfg.install.remote.protocol import DONE, ORDER, TOLD, FarLine, LineEnded


class Pipes:
    """A far line whose other ends are in this process."""

    def __init__(self) -> None:
        source, self.near = os.pipe()
        self.read, self.sink = os.pipe()
        self.line = FarLine(source, self.sink)


def test_news_waits_for_nobody() -> None:
    pipes = Pipes()
    began = time.process_time()
    for _ in range(5000):
        pipes.line.send_news(TOLD, [os.urandom(200)])
    assert not pipes.line.broken
    assert time.process_time() - began < 5
    pipe = threading.Thread(target=drained, args=(pipes.read,))
    pipe.start()
    pipes.line.say(DONE, [b"{}"])
    os.close(pipes.near)
    assert not pipes.line.broken
    os.close(pipes.sink)
    pipe.join()


def drained(file: int) -> None:
    while os.read(file, 1 << 16):
        time.sleep(0.001)


def test_who_does_not_read_at_all_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_STUCK", 0.2)
    pipes = Pipes()
    pipes.line.say(DONE, [os.urandom(200_000)])
    assert pipes.line.broken
    pipes.line.say(DONE, [b"{}"])


def test_a_closed_line_is_no_error() -> None:
    pipes = Pipes()
    os.close(pipes.read)
    pipes.line.say(DONE, [b"{}"])
    assert pipes.line.broken
    pipes.line.send_news(TOLD, [b"{}"])


def test_who_says_nothing_is_not_waited_for_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_IDLE", 0.1)
    with pytest.raises(LineEnded):
        Pipes().line.receive({ORDER: 10})
