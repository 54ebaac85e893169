"""An installation at the far end has processes of its own: nothing that ends the line ends it."""

import os
import signal
from collections.abc import Callable

import pytest

from gitcfg.install.remote.session import run_apart


def test_it_outlives_signals() -> None:
    """Of both of its processes, the one that waits too."""

    def work() -> int:
        os.kill(os.getppid(), signal.SIGHUP)
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            os.kill(os.getpid(), number)
        return 7 if os.getsid(0) == os.getpid() else 8

    assert in_child(lambda: run_apart(work)) == 7


def test_what_nobody_expected_is_told_on_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    def work() -> int:
        raise RuntimeError("unexpected")

    assert in_child(lambda: run_apart(work)) == 1
    assert "unexpected" in capfd.readouterr().err


def in_child(work: Callable[[], int]) -> int:
    child = os.fork()
    if not child:
        os._exit(work())
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
