"""One command as a whole process: what it used and how it ended."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

_LAUNCHER = Path(__file__).with_name("launcher.py")
_GRACE = 60.0
"""Seconds that the launcher gets beyond its command's time before it is given up itself."""


class Limits(msgspec.Struct, frozen=True):
    """What a command may use at most: seconds, and bytes of address space."""

    seconds: float = 600
    bytes: int = 12 << 30


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """What to run: its environment is only this; what it prints goes to files below `out`.

    `orphans`: it may leave processes behind, which count.
    """

    argv: Sequence[str]
    folder: Path
    out: Path
    environment: Mapping[str, str] = {}
    orphans: bool = False

    @property
    def printed(self) -> Path:
        """Where its output stands after a run, until the next one."""
        return self.out / "stdout"

    @property
    def complaint(self) -> str:
        """The error on stderr, or the last line there."""
        text = (self.out / "stderr").read_text(encoding="utf-8", errors="replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return next((line for line in lines if line.startswith("error: ")), lines[-1] if lines else "")


class Usage(msgspec.Struct, frozen=True):
    """CPU and wall seconds, MiB of the largest process, exit code; `late`: killed when its time was over."""

    exit: int
    cpu: float
    wall: float
    rss: float
    late: bool


def run(command: Command, limits: Limits) -> Usage:
    """Run a command to its end."""
    command.out.mkdir(parents=True, exist_ok=True)
    task = {
        "command": list(command.argv),
        "folder": str(command.folder),
        "environment": {"PATH": os.defpath, "LC_ALL": "C.UTF-8", **command.environment},
        "stdout": str(command.printed),
        "stderr": str(command.out / "stderr"),
        "seconds": limits.seconds,
        "bytes": limits.bytes,
        "orphans": command.orphans,
    }
    argv = [sys.executable, "-I", "-S", str(_LAUNCHER), msgspec.json.encode(task).decode()]
    return msgspec.json.decode(_told(argv, limits.seconds + _GRACE), type=Usage)


def _told(argv: Sequence[str], seconds: float) -> bytes:
    """What the launcher prints. Whatever ends this ends the launcher, too, which ends its command first."""
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as launcher:
        try:
            return launcher.communicate(timeout=seconds)[0]
        except BaseException:
            launcher.terminate()
            raise
