"""A pool with a secret: its repository with the gate, a server with TLS, two nodes, of which one has it."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gitcfg.server.http import FILE as OPENAPI
from tests.agent.site import PROGRAM, ROOT
from tests.agent.test_tls import certificate
from tests.install.world import World
from tests.server.site import GITCFG, Server, Site, run

CONFIG = "/etc/app/app.conf"
AGENT = """server = "{url}"
server_key = "{key}"
ca = "{ca}"
node = "{name}"
paths = ["/etc/app/**"]
commands = [["**"]]
drift = "repair"
interval = "1s"
delay = "0s"
reach = "0s"
"""
DESCRIBED = {
    "gitcfg.yaml": "format: 1\nprotected: [refs/heads/main]\n",
    "parameters/all.yaml": "parameters:\n  PASSWORD: {type: string, secret: true}\n  WISH: {type: string}\n",
    "features/App.yaml": "params:\n  PASSWORD: {$secret: pool}\n  WISH: good\n"
    f"files:\n  {CONFIG}: {{template: app.conf.j2}}\n",
    "templates/app.conf.j2": "# {{ params.WISH }}\npassword = {{ params.PASSWORD }}\n",
    "nodes/n1.yaml": "features: [App]\n",
    "nodes/n2.yaml": "groups: []\n",
}
SHOW = 'cat "$1"; grep -q "^# good" "$1"'
"""Shows all that it is given, and is content with it or not."""


class Node:
    """A root folder, and an agent that is a process of its own."""

    def __init__(self, place: Path, name: str, server: Server, ca: Path) -> None:
        self.name, self.log = name, place / f"{name}.log"
        self.world = World(place / name / "root", place / name / "daemons")
        self.agent: subprocess.Popen[bytes] | None = None
        text = AGENT.format(url=server.url, key=server.key, ca=ca, name=name)
        self.world.write("/etc/gitcfg/agent.toml", text).chmod(0o600)

    def line(self, *words: str) -> list[str]:
        return [sys.executable, "-c", PROGRAM, *words, "--root", str(self.world.root)]

    def call(self, *words: str) -> str:
        done = subprocess.run(
            self.line(*words), capture_output=True, text=True, timeout=60, cwd=ROOT, check=False
        )
        return done.stdout + done.stderr

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.agent = subprocess.Popen(self.line("run"), stdout=log, stderr=log, cwd=ROOT)

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        agent, self.agent = self.agent, None
        if agent is not None:
            agent.send_signal(how)
            agent.wait(30)

    @property
    def stands(self) -> str:
        path = self.world.root / CONFIG[1:]
        return path.read_text() if path.exists() else ""


class SecretPool:
    """The repository at the node's side, the server, the nodes, and all that gitcfg has said in the clone."""

    def __init__(self, place: Path) -> None:
        self.place, self.site, self.said = place, Site(place / "site"), ""
        self.ca = certificate(place, "127.0.0.1")
        run(*GITCFG, "hook", "install", "--server", str(self.site.bare), cwd=self.site.work)
        first = self.site.push({"gitcfg.yaml": DESCRIBED["gitcfg.yaml"]})
        self.server = self.serve()
        assert self.server.process.stdout is not None
        self.server.process.stdout.readline()
        self.reader = self.server.process.stdout.readline().strip()
        self.server.accepted(first)
        self.token = self.server.token()
        self.nodes = [Node(place, name, self.server, self.ca) for name in ("n1", "n2")]
        self.marks = place / "marks"
        self.marks.mkdir()

    def serve(self, listen: str = "127.0.0.1:0") -> Server:
        words = ("--tls-cert", str(self.ca), "--tls-key", str(self.ca), "--log-level", "debug")
        return Server(self.site, *words, listen=listen, ca=self.ca)

    def server_dies(self) -> None:
        """And comes back, where it was."""
        self.server.process.kill()
        self.server.process.wait()
        self.server.stop()
        time.sleep(1)  # nobody answers for a while
        self.server = self.serve(self.server.url.partition("//")[2])

    def gitcfg(self, *words: str, content: str = "") -> str:
        """Run gitcfg in the clone; all that it says is kept."""
        line = [*GITCFG, *words]
        done = subprocess.run(
            line, cwd=self.site.work, input=content, capture_output=True, text=True, check=False
        )
        assert done.returncode in (0, 1), (words, done.stdout, done.stderr)
        self.said += done.stdout + done.stderr
        return done.stdout

    def described(self) -> dict[str, str]:
        """`app` shows its file wherever it is asked: before it is exchanged, and when it is reloaded."""
        show = json.dumps(["/bin/sh", "-c", SHOW, "app", f"{{new}}{CONFIG}"])
        slow = f"cat {self.nodes[0].world.root}{CONFIG}; while [ -e {self.marks}/hold ]; do sleep 0.05; done"
        reload = json.dumps(["/bin/sh", "-c", slow])
        subsystem = (
            f"subsystems:\n  app:\n    params: [PASSWORD, WISH]\n    validate: {show}\n    reload: {reload}\n"
        )
        keys = "".join(node.call("key").splitlines()[0] + "\n" for node in self.nodes)
        return {**DESCRIBED, "subsystems/app.yaml": subsystem, "keys/all.txt": keys}

    def push(self, files: dict[str, str]) -> str:
        commit = self.site.push(files)
        self.server.accepted(commit)
        return commit

    def everything(self) -> Iterator[bytes]:
        """What the server answers who has a token: all that can be asked, and the pages."""
        described: dict[str, Any] = json.loads(OPENAPI.read_text())
        names = {"node": "n1", "commit": self.site.head(), "param": "PASSWORD"}
        paths = [path for path, said in described["paths"].items() if "get" in said and path != "/v1/events"]
        for path in paths:
            yield self.server.get(re.sub(r"{(\w+)}", lambda found: names[found[1]], path), self.token).body
        cookie = self.server.cookie(self.token)
        for path in (
            "/",
            "/nodes/n1",
            f"/commits/{names['commit']}",
            "/search?q=PASSWORD",
            "/search?q=canary",
        ):
            page = self.server.get(path, Cookie=cookie)
            assert page.status == 200, (path, page.body)
            assert b"/login" not in page.headers.get("location", "").encode()
            yield page.body

    def ran(self, commit: str) -> bool:
        """Whether n1 has said that it runs a commit."""
        found = self.server.get("/v1/nodes/n1", self.token).json()
        return bool(found["running"]) and found["running"]["commit"] == commit

    def last(self) -> dict[str, Any]:
        """What n1 has said of its last installation."""
        return dict(self.server.get("/v1/nodes/n1", self.token).json()["result"] or {})

    def close(self) -> None:
        for node in self.nodes:
            node.end(signal.SIGKILL)
        self.server.process.kill()
        self.server.stop()
