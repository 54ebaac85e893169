"""gitcfg in processes of their own: as a shell starts it, or forked, which spares what it takes to start."""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from gitcfg.cli.main import run

Told = tuple[int, str, str]
"""Exit code, and what was said on stdout and stderr."""

Start = Callable[[Sequence[str], Path], int]
"""Starts gitcfg with arguments, and with a folder for what it says; gives the process's id."""

_STREAMS = ((1, "stdout"), (2, "stderr"))


def nothing() -> None:
    """To do before."""


def forked(words: Sequence[str], told: Path, before: Callable[[], None] = nothing) -> int:
    """gitcfg in a process that knows all that this one has imported; it may do something before."""
    process = os.fork()
    if process == 0:
        code = 99
        try:
            sys.stdout, sys.stderr = ((told / name).open("w") for _, name in _STREAMS)
            before()
            code = run(words)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)
    return process


def executed(words: Sequence[str], told: Path) -> int:
    """gitcfg as a shell starts it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    files = [(os.POSIX_SPAWN_OPEN, at, str(told / name), flags, 0o600) for at, name in _STREAMS]
    command = [sys.executable, "-m", "gitcfg", *words]
    return os.posix_spawn(sys.executable, command, os.environ, file_actions=files)


def ended(process: int, told: Path) -> Told:
    """How a process ended, and what it said."""
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return code, (told / "stdout").read_text(), (told / "stderr").read_text()
