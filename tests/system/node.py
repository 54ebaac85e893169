"""A node: a root folder, a daemon that really runs, and an agent that is a process of its own."""

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.agent.site import PROGRAM, ROOT
from tests.install.world import World
from tests.system.controls import Daemon, Load

CONFIG = "/etc/condor/config.d"
AGENT = """server = {servers}
server_key = "{key}"
node = "{name}"
paths = ["{config}/**"]
commands = [["{home}/poold", "**"], ["{home}/condor_judge", "**"]]
drift = "repair"
delay = "0s"
timeout = "10s"
"""


class Node:
    """`log` is where its agent writes to."""

    def __init__(self, place: Path, name: str) -> None:
        self.name, self.log = name, place / f"{name}.log"
        self.world = World(place / name / "root", place / name / "daemons")
        self.config = self.world.root / CONFIG.lstrip("/")
        self.daemon = Daemon(self.world.daemons / "poold", self.config)
        self.agent: subprocess.Popen[bytes] | None = None

    def configure(self, servers: Sequence[str], key: str, more: str = 'interval = "2s"') -> None:
        """Write agent.toml."""
        said = {"servers": json.dumps(list(servers)), "key": key, "name": self.name}
        text = AGENT.format(**said, config=CONFIG, home=self.daemon.home)
        self.world.write("/etc/gitcfg/agent.toml", f"{text}{more}\n").chmod(0o600)

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the agent's program to its end."""
        return subprocess.run(self._line(PROGRAM, *words), capture_output=True, text=True, timeout=60)

    def start(self, before: str = "") -> None:
        """Start the agent; `before` is Python that it runs first."""
        assert self.agent is None
        with self.log.open("ab") as log:
            line = self._line(f"{before}{PROGRAM}", "run")
            self.agent = subprocess.Popen(line, stdout=log, stderr=log, cwd=ROOT)

    def _line(self, program: str, command: str, *words: str) -> list[str]:
        return [sys.executable, "-c", program, command, "--root", str(self.world.root), *words]

    def end(self, how: signal.Signals = signal.SIGTERM) -> int | None:
        """End the agent; its exit code, if it ran."""
        agent, self.agent = self.agent, None
        if agent is None:
            return None
        agent.send_signal(how)
        return agent.wait(30)

    def close(self) -> None:
        """End everything."""
        self.end(signal.SIGKILL)
        self.world.end()

    @property
    def files(self) -> dict[str, tuple[int, str]]:
        """The files that stand: which they are, and what they say."""
        found = sorted(self.config.glob("*"))
        return {file.name: (file.stat().st_ino, file.read_text()) for file in found}

    def status(self) -> dict[str, Any]:
        """What the agent remembers."""
        said: dict[str, Any] = json.loads(self.world.state("agent.json").read_text())
        return said


def mixed(nodes: Sequence[Node]) -> list[Load]:
    """What any daemon ever took in that was of two commits: the files say the same label, each in its way."""
    return [
        load for node in nodes for load in node.daemon.loads if load.values["LABEL"] != load.values["TWIN"]
    ]
