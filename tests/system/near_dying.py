"""A deploy that dies: before one of the things that it does with a node, or with its record.

    near_dying.py NUMBER FILE WORD...

Each is a line of FILE.
"""

import functools
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

AT, FILE = int(sys.argv[1]), sys.argv[2]
LOCK = threading.Lock()


def counted(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
    """A method that is one of the things."""

    @functools.wraps(work)
    def instead(*words: Any) -> Any:
        with LOCK, open(FILE, "a+") as did:
            did.seek(0)
            if len(did.readlines()) == AT:
                os.kill(os.getpid(), signal.SIGKILL)
            did.write(f"{name}\n")
        return work(*words)

    return instead


def main() -> None:
    """The deploy itself."""
    from gitcfg.cli.main import main as gitcfg
    from gitcfg.deploy.records import Recorder
    from gitcfg.deploy.ssh import ChannelLine, Ssh

    for owner, methods in {
        Recorder: ("begun", "_try_write", "_sync", "close"),
        Ssh: ("_connect",),
        ChannelLine: ("send", "receive"),
    }.items():
        for method in methods:
            setattr(owner, method, counted(method, getattr(owner, method)))
    sys.argv = ["gitcfg", *sys.argv[3:]]
    gitcfg()


sys.path.pop(0)  # the folder of this file, whose modules are the tests' own
main()
