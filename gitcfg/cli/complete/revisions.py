"""Branches and tags, asked of git itself."""

import os
import subprocess

_SECONDS = 2


def revisions(folder: str) -> list[str]:
    """HEAD, branches and tags."""
    found = _refs(folder, 2, "refs/heads", "refs/tags", "refs/remotes")
    return [] if found is None else ["HEAD", *found]


def snapshots(folder: str) -> list[str]:
    """The names behind `snapshot/` of tags."""
    return _refs(folder, 3, "refs/tags/snapshot") or []


def _refs(folder: str, less: int, *patterns: str) -> list[str] | None:
    """Refs without that many of the words in front; None: there is no git repository."""
    command = ("git", "for-each-ref", f"--format=%(refname:lstrip={less})", *patterns)
    try:
        done = subprocess.run(
            command,
            cwd=os.path.realpath(folder),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace").splitlines() if done.returncode == 0 else None
