"""New git repositories, and commits of whole files."""

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pygit2


def initialise(folder: Path) -> pygit2.Repository:
    """The git repository of a folder, made where there is none."""
    found = pygit2.discover_repository(str(folder))
    return pygit2.Repository(found) if found else pygit2.init_repository(str(folder), initial_head="main")


def commit_all(git: pygit2.Repository, paths: Iterable[str], message: str) -> str | None:
    """Commit files as the first commit; None where it would not be the first, or git knows no author."""
    if not git.head_is_unborn:
        return None
    for path in paths:
        git.index.add(path)
    git.index.write()
    author, committer = _identity(git, "AUTHOR"), _identity(git, "COMMITTER")
    if author is None or committer is None:
        return None
    tree = git.index.write_tree()
    return str(git.create_commit("HEAD", author, committer, message + "\n", tree, []))


def _identity(git: pygit2.Repository, role: str) -> pygit2.Signature | None:
    """Who git itself would say it is: its library knows the configuration only, not the environment."""
    asked = ["git", "-C", git.path, "var", f"GIT_{role}_IDENT"]
    try:
        done = subprocess.run(asked, capture_output=True, check=False, text=True, errors="replace")
    except OSError:
        return None
    found = _IDENTITY.fullmatch(done.stdout.strip())
    if found is None:
        return None
    minutes = int(found["sign"] + "1") * (int(found["hours"]) * 60 + int(found["minutes"]))
    return pygit2.Signature(found["name"], found["email"], int(found["time"]), minutes)


_IDENTITY = re.compile(
    r"(?P<name>.+) <(?P<email>.*)> (?P<time>\d+) (?P<sign>[+-])(?P<hours>\d\d)(?P<minutes>\d\d)"
)
