"""An environment of its own for each tool, with the versions of constraints.txt."""

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Protocol

from bench.fleet.lay import finish, fresh
from bench.peers.peer import Tool

CONSTRAINTS = Path(__file__).with_name("constraints.txt")
_SECONDS = 900


class NotInstalled(Exception):
    """A tool cannot be had here; the text says why, in one line."""


class Needs(Protocol):
    """A tool, and what to install for it."""

    @property
    def name(self) -> str:
        """What its environment's folder is called."""

    @property
    def requirements(self) -> tuple[str, ...]:
        """Packages; their versions stand in the constraints."""


def environment(peer: Needs, folder: Path, constraints: Path = CONSTRAINTS) -> Tool:
    """The tool's environment below a folder, made if it is not there. NotInstalled: that failed."""
    place = folder / peer.name
    mark = hashlib.sha256(
        repr((peer.requirements, constraints.read_text(), sys.version)).encode()
    ).hexdigest()
    tool = Tool(place / "bin/python")
    if not fresh(place, mark):
        _quietly(sys.executable, "-m", "venv", str(place))
        pip = (str(tool.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        _quietly(*pip, "-c", str(constraints), *peer.requirements)
        finish(place, mark)
    return tool


def versions(peer: Needs, constraints: Path = CONSTRAINTS) -> str:
    """The pinned versions of what a tool needs directly."""
    lines = (line.partition("==") for line in constraints.read_text().splitlines() if "==" in line)
    pinned = {name.lower(): version for name, _, version in lines}
    return ", ".join(f"{name} {pinned[name.lower()]}" for name in peer.requirements)


def _quietly(*command: str) -> None:
    try:
        subprocess.run(command, check=True, timeout=_SECONDS, capture_output=True, text=True)
    except subprocess.TimeoutExpired as late:
        raise NotInstalled(f"cannot be installed: not done within {_SECONDS} s") from late
    except subprocess.CalledProcessError as failed:
        lines = [line for line in failed.stderr.splitlines() if line.strip()] or [f"exit {failed.returncode}"]
        raise NotInstalled(f"cannot be installed: {lines[-1][:100]}") from failed
