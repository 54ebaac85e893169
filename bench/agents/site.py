"""The repository of the benchmark: one of bench's fleets with keys, and commits that change every node."""

import os
import subprocess
from pathlib import Path

import msgspec

from bench.fleet import FLEETS, draw
from bench.fleet.repository import files

_NAME = "BENCH_ROUND"
_DEFAULT = "groups/default.yaml"
_WHO = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Bench"), ("EMAIL", "bench@example.org"))
}


def git(folder: Path, *words: str) -> str:
    """What git prints. CalledProcessError: it refuses."""
    environment = {**os.environ, **_WHO, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    words = ("git", "-c", "gc.auto=0", "-C", str(folder), *words)
    return subprocess.run(words, check=True, capture_output=True, text=True, env=environment).stdout.strip()


class Site:
    """A bare repository that is served, and a desk where commits are made. `names` are the nodes."""

    def __init__(self, bare: Path, desk: Path, names: tuple[str, ...]) -> None:
        self.bare, self.desk, self.names = bare, desk, names
        self._default = (desk / _DEFAULT).read_text()

    def commit(self, number: int) -> str:
        """A commit that changes every node, and lies in the repository: only the branch is not there yet."""
        line = f'params:\n  {_NAME}: "{number}"\n'
        (self.desk / _DEFAULT).write_text(self._default.replace("params:\n", line, 1))
        git(self.desk, "commit", "--quiet", "--all", "-m", f"Round {number}")
        git(self.desk, "push", "--quiet", "--force", str(self.bare), "HEAD:refs/heads/next")
        return git(self.desk, "rev-parse", "HEAD")

    def accept(self, commit: str) -> None:
        """Let the branch that counts point to a commit."""
        git(self.bare, "update-ref", "refs/heads/main", commit)


def drawn(fleet: str, nodes: int) -> dict[str, str]:
    """The files of one of bench's fleets with so many nodes."""
    found = dict(files(draw(msgspec.structs.replace(FLEETS[fleet], nodes=nodes))))
    found["parameters/round.yaml"] = (
        f"parameters:\n  {_NAME}: {{description: Counts., type: string, default: '0'}}\n"
    )
    return found


def names(found: dict[str, str]) -> tuple[str, ...]:
    """The nodes that files describe."""
    return tuple(path[len("nodes/") : -len(".yaml")] for path in found if path.startswith("nodes/"))


def site(home: Path, found: dict[str, str], keys: str) -> Site:
    """A repository with these files and keys, served from its first commit on."""
    bare, desk = home / "pool.git", home / "desk"
    for path, text in {**found, "keys/all.txt": keys}.items():
        (desk / path).parent.mkdir(parents=True, exist_ok=True)
        (desk / path).write_text(text)
    git(home, "init", "--quiet", "--bare", "--initial-branch=main", str(bare))
    git(home, "init", "--quiet", "--initial-branch=main", str(desk))
    git(desk, "add", "--all")
    git(desk, "commit", "--quiet", "-m", "The fleet")
    git(desk, "push", "--quiet", str(bare), "main")
    return Site(bare, desk, names(found))
