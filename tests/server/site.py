"""A bare repository that is served by a real process, and what is pushed to it."""

import os
import re
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.server.agent import Answer, Node, plain

_WHO = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}
GITCFG = (sys.executable, "-m", "gitcfg")
FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/all.yaml": "parameters:\n  COLOR: {description: A colour., type: string}\n",
    "subsystems/painter.yaml": "subsystems:\n  painter:\n    params: [COLOR]\n    reload: [/bin/true]\n",
    "groups/default.yaml": "params: {COLOR: red}\nfiles:\n  /etc/color.conf: {format: env, params: ['*']}\n",
}


def run(*words: str, cwd: Path, **more: Any) -> str:
    done = subprocess.run(words, cwd=cwd, env={**os.environ, **_WHO}, capture_output=True, text=True, **more)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return str(done.stdout)


class Site:
    """A bare repository and a clone in which one works."""

    def __init__(self, place: Path) -> None:
        self.bare, self.work = place / "pool.git", place / "work"
        place.mkdir(parents=True, exist_ok=True)
        run("git", "init", "-q", "--bare", "-b", "main", str(self.bare), cwd=place)
        run("git", "init", "-q", "-b", "main", str(self.work), cwd=place)
        run("git", "remote", "add", "origin", str(self.bare), cwd=self.work)

    def push(self, files: Mapping[str, str | None], *words: str) -> str:
        """Commit files (None: removed) and push; the commit."""
        for name, text in files.items():
            path = self.work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                path.unlink()
            else:
                path.write_text(text)
        run("git", "add", "-A", cwd=self.work)
        run("git", "commit", "-q", "--allow-empty", "-m", "change", cwd=self.work)
        run("git", "push", "-q", *words, "origin", "HEAD:main", cwd=self.work)
        return self.head()

    def head(self) -> str:
        return run("git", "rev-parse", "HEAD", cwd=self.work).strip()

    def with_nodes(self, nodes: Mapping[str, Node], **more: str) -> str:
        """The first commit: these nodes with their keys."""
        described = {f"nodes/{name}.yaml": "groups: []\n" for name in nodes}
        keys = "".join(f"{name} {node.public}\n" for name, node in nodes.items())
        return self.push({**FILES, **described, "keys/all.txt": keys, **more})


class Server:
    """`gitcfg serve`, a process of its own. Use as a context manager."""

    def __init__(
        self,
        site: Site,
        *words: str,
        name: str = "server",
        repo: Path | None = None,
        listen: str = "127.0.0.1:0",
        ca: Path | None = None,
    ) -> None:
        self._tls = ssl.create_default_context(cafile=str(ca)) if ca else None
        self.site, self.repo = site, repo or site.bare
        self.log = site.bare.parent / f"{name}.log"
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                [*GITCFG, "-C", str(self.repo), "serve", "--listen", listen, *words],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, **_WHO},
            )
        assert self.process.stdout is not None
        said = self.process.stdout.readline() + self.process.stdout.readline()
        found = re.search(r"(http\S+)\. .*\nserver_key = \"(\S+)\"", said)
        assert found, (said, self.log.read_text())
        self.url, self.key = found[1], found[2]
        self._words = [word for word in words if word.startswith(("postgresql", "sqlite"))]

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def stop(self) -> int:
        """End it as systemd does."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(30)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code

    def node(self, name: str, like: Node | None = None) -> Node:
        """A node that knows this server."""
        return Node(name, self.url, self.key, like.key if like is not None else None)

    def token(self, name: str = "ops", role: str = "operate") -> str:
        """A new token."""
        said = [part for word in self._words for part in ("--database", word)]
        words = ("-C", str(self.repo), "serve", "token", "create", name, "--role", role, *said)
        return run(*GITCFG, *words, cwd=self.site.work).strip()

    def get(self, target: str, token: str = "", method: str = "GET", **headers: str) -> Answer:
        """Ask with a token."""
        said = {"Authorization": f"Bearer {token}"} if token else {}
        return self.ask(method, target, headers={**said, **headers})

    def ask(
        self, method: str, target: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Ask as anybody may, also where it speaks TLS."""
        return plain(self.url, method, target, body, headers, self._tls)

    def cookie(self, token: str) -> str:
        """What a browser sends that has logged in with a token."""
        form = self.ask("GET", "/login")
        proof = form.body.decode().partition('name="csrf" value="')[2].partition('"')[0]
        said = urlencode({"csrf": proof, "token": token, "onward": "/"}).encode()
        headers = {
            "Cookie": form.headers["set-cookie"].partition(";")[0],
            "Content-Type": "application/x-www-form-urlencoded",
        }
        answer = self.ask("POST", "/login", said, headers)
        assert answer.status == 303, answer.body
        return answer.headers["set-cookie"].partition(";")[0]

    def accepted(self, commit: str) -> None:
        """Wait until a commit counts."""
        until(lambda: self.get("/readyz").json()["accepted"] == commit, self.log)

    def tip(self, commit: str) -> None:
        """Wait until it has been judged where the branch stands."""
        until(lambda: self.get("/readyz").json()["tip"] == commit, self.log)


def until(true: Any, log: Path | None = None, seconds: float = 30.0) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, log.read_text()[-3000:] if log is not None else "it never came true"
        time.sleep(0.02)
