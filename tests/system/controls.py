"""The daemon of a node as tests see it: what it runs with, what was asked of it, and how to make it wait."""

import json
import sys
from pathlib import Path
from typing import NamedTuple

from tests.server.site import until

HERE = Path(__file__).parent
PROGRAMS = {
    "poold": '#!/bin/sh\nexec {python} -I -S {here}/daemon.py {home} {config} "$@"\n',
    "condor_judge": '#!/bin/sh\nexec {python} {here}/judge.py {home} "$@"\n',
}
"""What the node's agent may run; none of it needs to be told which node it is."""


class Load(NamedTuple):
    """What the daemon took in, when and how: `start` or `reload`."""

    at: float
    how: str
    values: dict[str, str]


class Daemon:
    """`home` is its own folder, `config` the one that it reads."""

    def __init__(self, home: Path, config: Path) -> None:
        self.home = home
        said = {"python": sys.executable, "here": HERE, "home": home, "config": config}
        for folder in (home, config):
            folder.mkdir(parents=True)
        for program, text in PROGRAMS.items():
            (home / program).write_text(text.format(**said))
            (home / program).chmod(0o755)

    @property
    def loads(self) -> list[Load]:
        """All that the daemon ever took in."""
        file = self.home / "loads"
        lines = file.read_text().split("\n")[:-1] if file.exists() else []
        return [Load(**json.loads(line)) for line in lines]

    @property
    def pid(self) -> int:
        """The daemon's process; 0: it does not run."""
        try:
            pid = int((self.home / "pid").read_text())
            state = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0]
        except (OSError, ValueError):
            return 0
        return 0 if state == "Z" else pid

    @property
    def values(self) -> dict[str, str]:
        """What the daemon runs with; nothing: it does not run."""
        return self.loads[-1].values if self.pid and self.loads else {}

    def verbs(self) -> list[str]:
        """What was asked of the daemon since this was called last."""
        file = self.home / "verbs"
        found = file.read_text().split() if file.exists() else []
        file.unlink(missing_ok=True)
        return found

    def block(self, verb: str) -> Path:
        """Let a verb wait until the file that this returns is gone."""
        gate = self.home / f"wait-{verb}"
        gate.touch()
        return gate

    def asked(self, verb: str) -> None:
        """Wait until a verb was asked for."""
        file = self.home / "verbs"
        until(lambda: file.exists() and verb in file.read_text().split())
