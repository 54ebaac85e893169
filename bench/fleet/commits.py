"""A git repository with a fleet in gitcfg's format: one commit, and one more after the change."""

import os
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from bench.fleet.change import changed
from bench.fleet.lay import differing, finish, fresh
from bench.fleet.model import Fleet
from bench.fleet.repository import files

_WHO = "gitcfg bench <bench@example.com> 1700000000 +0000"


def commit(folder: Path, fleet: Fleet, mark: str) -> None:
    """Make the repository, packed: HEAD~1 is the fleet, HEAD the change."""
    if fresh(folder, mark):
        return
    after = dict(files(changed(fleet)))
    before = dict(files(fleet))
    _git(folder, "init", "--quiet", "--initial-branch=main")
    stream = [*_commit(1, before.items()), *_commit(2, differing(before, after)), "done\n"]
    _git(folder, "-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", "--done", given="".join(stream))
    _git(folder, "repack", "-adq")
    _git(folder, "reset", "--quiet", "--hard")
    finish(folder, mark)


def _commit(number: int, changes: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield f"commit refs/heads/main\nmark :{number}\ncommitter {_WHO}\ndata 0\n"
    yield "from :1\n" if number > 1 else ""
    for path, text in changes:
        yield f"M 100644 inline {path}\ndata {len(text.encode())}\n{text}\n"


def _git(folder: Path, *arguments: str, given: str = "") -> None:
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "GIT_CONFIG_NOSYSTEM": "1",
        "HOME": str(folder),
    }
    subprocess.run(
        ["git", "-C", str(folder), *arguments], input=given.encode(), check=True, timeout=600, env=environment
    )
