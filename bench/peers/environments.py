"""An environment of its own for each tool, with the versions of constraints.txt."""

import hashlib
import subprocess
import sys
from pathlib import Path

from bench.fleet.lay import finish, fresh
from bench.peers.peer import Peer, Tool

CONSTRAINTS = Path(__file__).with_name("constraints.txt")
_SECONDS = 900


class NotInstalled(Exception):
    """A tool cannot be had here; the text says why, in one line."""


def environment(peer: Peer, folder: Path) -> Tool:
    """The tool's environment below a folder, made if it is not there. NotInstalled: that failed."""
    place = folder / peer.name
    mark = hashlib.sha256(
        repr((peer.requirements, CONSTRAINTS.read_text(), sys.version)).encode()
    ).hexdigest()
    tool = Tool(place / "bin/python")
    if not fresh(place, mark):
        _quietly(sys.executable, "-m", "venv", str(place))
        pip = (str(tool.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        _quietly(*pip, "-c", str(CONSTRAINTS), *peer.requirements)
        finish(place, mark)
    return tool


def versions(peer: Peer) -> str:
    """The pinned versions of what a tool needs directly."""
    lines = (line.partition("==") for line in CONSTRAINTS.read_text().splitlines() if "==" in line)
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
