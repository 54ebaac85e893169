"""A real server with the gate, and desks that push to it."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from gitcfg.git.tree import Symlink

HOOK = f"#!/bin/sh\nexec {sys.executable} -m gitcfg --no-pager hook pre-receive\n"
SECONDS = 120

ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "LC_ALL": "C.UTF-8",
    "GITCFG_PROGRESS": "never",
}

CODE = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
"""Where the hook finds the gitcfg that is tested."""


def git(folder: Path, *words: str) -> str:
    """What git says; it must agree."""
    done = subprocess.run(
        ["git", "-C", str(folder), *words],
        env=ENVIRONMENT | {"HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert not done.returncode, done.stderr
    return done.stdout


class Answer(msgspec.Struct, frozen=True):
    """How a push went: was all of it taken, and what the server said, line by line."""

    taken: bool
    said: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.said)


class Server:
    """A bare repository with hooks; `main` is protected, as everywhere."""

    def __init__(self, home: Path, hook: str = HOOK) -> None:
        home.mkdir(exist_ok=True)
        self.home = home
        self.folder = home / "srv.git"
        git(home, "init", "--quiet", "--bare", "--initial-branch=main", str(self.folder))
        git(self.folder, "config", "receive.advertisePushOptions", "true")
        place = self.folder / "hooks/pre-receive"
        place.write_text(hook)
        place.chmod(0o755)

    def desk(self, name: str, files: Mapping[str, str | bytes] | None = None) -> Path:
        """A repository that knows the server, with a first commit of these files or with what is there."""
        desk = self.home / name
        git(self.home, "init", "--quiet", "--initial-branch=main", str(desk))
        git(desk, "remote", "add", "origin", self.folder.as_uri())
        if files is None:
            git(desk, "pull", "--quiet", "origin", "main")
        else:
            commit(desk, files, "First")
        return desk

    def push(self, desk: Path, *words: str, who: str = "") -> Answer:
        """Push to it, as somebody whom it names to its hooks."""
        started = self.start(desk, *words, who=who)
        _, told = started.communicate(timeout=SECONDS)
        return answer(started.returncode, told)

    def start(self, desk: Path, *words: str, who: str = "") -> subprocess.Popen[str]:
        """Begin to push."""
        return subprocess.Popen(
            ["git", "-C", str(desk), "push", "--quiet", "origin", *words],
            env=ENVIRONMENT | CODE | {"HOME": str(self.home), "GITEA_PUSHER_NAME": who},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def held(self) -> dict[str, bytes]:
        """Everything in its folder."""
        places = sorted(place for place in self.folder.rglob("*") if place.is_file())
        return {str(place.relative_to(self.folder)): place.read_bytes() for place in places}

    def tip(self, ref: str = "refs/heads/main") -> str:
        """The commit at a ref."""
        return git(self.folder, "rev-parse", ref).strip()


def answer(code: int, told: str) -> Answer:
    """What git relayed of a push that ended with a code."""
    lines = (line for line in told.splitlines() if line.startswith("remote: "))
    return Answer(not code, tuple(line.removeprefix("remote: ").rstrip() for line in lines))


def commit(desk: Path, files: Mapping[str, str | bytes | None], message: str) -> str:
    """Commit files as they are to be, None where one is to go; the commit's id."""
    for path, content in files.items():
        place = desk / path
        if content is None:
            place.unlink()
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Symlink):
            place.symlink_to(content)
            continue
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
    git(desk, "add", "--all")
    git(desk, "commit", "--quiet", "--allow-empty", "-m", message)
    return git(desk, "rev-parse", "HEAD").strip()
