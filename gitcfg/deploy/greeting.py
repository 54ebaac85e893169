"""The first words on a line: whether there is a shell, root's rights, a Python and the program, in turn."""

from gitcfg.deploy.answers import clean
from gitcfg.deploy.carry import LINE, NEED, OLD, SHELL, program
from gitcfg.deploy.frames import Frames
from gitcfg.deploy.messages import Line
from gitcfg.deploy.problems import REFUSED, SUDO, FarError, LineLost, NoPython
from gitcfg.install.remote.protocol import HAVE


def greet(frames: Frames, line: Line) -> None:
    """Until the program runs there. Raises FarError."""
    mark = frames.mark()
    heard = []
    while mark in (LINE, SHELL):
        heard.append(mark)
        mark = frames.mark()
    if mark == NEED:
        frames.send(program().squeezed)
    elif mark != HAVE:
        raise _missing(heard, mark, line)


_NOT_FOUND, _KILLED = 127, 128
"""What shells exit with where there is no such program; above the other, a signal has ended one."""


def _no_root(code: int, told: str) -> FarError:
    if code == _NOT_FOUND:
        hint = "Log in as root, or say --no-sudo where this user may write all that is deployed."
        return FarError(SUDO, f"There is no sudo on the node.{told}", hint)
    hint = "--ask-sudo asks you for sudo's password once; else let this user run /bin/sh without one."
    return FarError(SUDO, f"sudo does not let this user become root on the node.{told}", hint)


def _missing(heard: list[str], mark: str, line: Line) -> FarError:
    """What is missing is what would have spoken next."""
    said = clean(line.said().strip()[-1000:])
    told = f" It says: {said}" if said else ""
    if mark.startswith(f"{OLD} "):
        version = clean(mark.removeprefix(f"{OLD} "))
        return NoPython(
            f"The node's Python is {version}, and 3.9 or newer is needed.", "Install a newer one beside it."
        )
    if mark:
        return NoPython("There is no python3 on the node.", "Install Python 3.9 or newer there.")
    code = line.ended()
    if code is None:
        return LineLost(f"The connection ended before gitcfg had begun on the node.{told}")
    if code < 0 or code > _KILLED:
        return LineLost(f"What was to run on the node was killed before it had begun.{told}")
    if SHELL in heard:
        return NoPython(f"The node's python3 cannot run.{told}")
    if LINE in heard:
        return _no_root(code, told)
    return FarError(REFUSED, f"The node's login does not run commands (exit code {code}).{told}")
