"""The entry point of gitcfg-agent, and the one place where what went wrong becomes an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .. import __version__
from ..install import InstallError
from .arguments import arguments
from .commands import COMMANDS, PROGRAM, write
from .problems import REFUSED, AgentError
from .shown import shown

if TYPE_CHECKING:
    from argparse import Namespace
    from types import TracebackType

FAULT = 70
CLOSED_PIPE = 141
"""What a shell has for SIGPIPE: nobody reads on, and nothing is said of it."""


def program() -> None:
    """Run with the arguments of this process, and exit."""
    sys.excepthook = _fault
    sys.exit(main(sys.argv[1:]))


def main(said: Sequence[str], name: str = PROGRAM) -> int:
    """Run a command line; its exit code."""
    try:
        if list(said) == ["--version"]:  # before argparse is imported: scripts ask this often
            write([f"{name} {__version__}"])
            return 0
        return _run(_asked(said, name))
    except BrokenPipeError:
        # What is still buffered has no reader; without this Python complains when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE


def _asked(said: Sequence[str], name: str) -> Namespace:
    try:
        return arguments(said, name, __version__)
    finally:
        sys.stdout.flush()  # --help ends the process in there


def _run(asked: Namespace) -> int:
    try:
        return COMMANDS[asked.command](asked)
    except (AgentError, InstallError) as error:
        said = [f"error: {error.message}\n", *(f"hint: {hint}\n" for hint in error.hints)]
        sys.stderr.write(shown("".join(said), sys.stderr.encoding))
        return error.code if isinstance(error, AgentError) else REFUSED
    except BrokenPipeError:
        raise
    except OSError as error:
        # Not USAGE: a disk that is full now need not stay so, and systemd is to start the agent again.
        hint = "hint: Run it as root.\n" if isinstance(error, PermissionError) and os.geteuid() else ""
        sys.stderr.write(f"error: {_where(error, asked.root)}: {error.strerror or error}.\n{hint}")
        return REFUSED


def _where(error: OSError, root: str) -> str:
    """A name without a folder is one in the state folder: everything there is done by such names."""
    from ..install import Place

    name = error.filename
    if not isinstance(name, str) or not name:
        return "The system"
    return os.path.join(root, Place(root).folder[1:], name)


def _fault(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """What nobody expected: told whole, with the exit code that says so."""
    sys.__excepthook__(kind, error, trace)
    sys.stderr.write(f"error: {PROGRAM} itself has failed; please send the lines above along.\n")
    sys.stderr.flush()
    os._exit(130 if issubclass(kind, KeyboardInterrupt) else FAULT)
