"""A node with an agent as a process, and the server that it talks to."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gitcfg.install.package import Package, Subsystem
from gitcfg.load.keys import public_key
from tests.agent.server import Book
from tests.install.world import SCRIPT, World, package

ROOT = Path(__file__).parents[2]
CONFIG = "/etc/app/app.conf"
PROGRAM = "from gitcfg.agent.main import program; program()"


@dataclass
class Site:
    """`more` are further lines of agent.toml."""

    world: World
    book: Book
    url: str
    more: str = ""
    running: list[subprocess.Popen[str]] = field(default_factory=list)

    def configure(self, more: str = "", server: str = "", key: str = "") -> None:
        """Write agent.toml."""
        lines = [
            f'server = "{server or self.url}"',
            f'server_key = "{key or self.book.key}"',
            'node = "n1"',
            'paths = ["/etc/app/**"]',
            f'commands = [["{SCRIPT}", "**"]]',
            'interval = "1s"\nwait = "5s"\ndelay = "0s"\ntimeout = "5s"\nreach = "2s"',
        ]
        keys = {line.partition(" ")[0] for line in more.splitlines()}
        kept = [line for part in lines for line in part.splitlines() if line.partition(" ")[0] not in keys]
        self.world.write("/etc/gitcfg/agent.toml", "\n".join([*kept, more]) + "\n").chmod(0o600)

    def app(self, **more: Any) -> Subsystem:
        """A daemon that is really there."""
        return self.world.daemon("app", CONFIG, **more)

    def package(self, text: str, commit: str, **more: Any) -> Package:
        """The daemon's configuration."""
        return package({CONFIG: text}, self.app(), commit=commit, **more)

    def offer(self, text: str, commit: str, **asked: list[str]) -> Package:
        """Let the server name a configuration; the daemon reloads, or restarts if nothing was there."""
        made = self.package(text, commit)
        first = not self.book.packages
        self.book.offer(made, **(asked or {"restart" if first else "reload": ["app"]}))
        return made

    def accept(self) -> None:
        """What `gitcfg node accept n1` does."""
        key = public_key(self.agent("key").stdout.split(" ", 1)[1].strip())
        assert key is not None
        self.book.accepted["n1"] = key

    def agent(self, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
        """Run the program to its end."""
        return subprocess.run(self.line(*words), capture_output=True, text=True, timeout=60, cwd=ROOT, **more)

    def once(self) -> subprocess.CompletedProcess[str]:
        """One round."""
        return self.agent("run", "--once")

    def start(self, *words: str) -> "subprocess.Popen[str]":
        """Run it as a daemon."""
        started = subprocess.Popen(
            self.line(*(words or ("run",))),
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        self.running.append(started)
        return started

    def line(self, command: str, *words: str) -> list[str]:
        """The program with the node's root."""
        return [sys.executable, "-c", PROGRAM, command, "--root", str(self.world.root), *words]

    def end(self) -> None:
        for one in self.running:
            one.kill()
            one.communicate()


def awaited(condition: Callable[[], object], seconds: float = 20.0) -> None:
    """Wait until something holds; fails if it does not in time."""
    import time

    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not come true in time"
        time.sleep(0.02)


def drained(one: "subprocess.Popen[str]") -> str:
    """What a process said, once it has ended."""
    return one.communicate(timeout=30)[1]


def ready(site: Site, text: str = "one\n") -> None:
    """A node that runs its first configuration, and whose server remembers nothing of it."""
    site.offer(text, "a")
    site.accept()
    done = site.once()
    assert done.returncode == 0, done.stderr
    assert site.world.runs_with("app") == text
    site.book.checkins.clear()
    site.book.requests.clear()
    site.world.log("app")
