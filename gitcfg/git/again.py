"""Files that were changed again after a commit: by which commits, and what both changes give together."""

from collections.abc import Iterator

import pygit2
from pygit2.enums import FileMode

from gitcfg.git.repository import Repository
from gitcfg.git.reverting import Conflict

_BETWEEN = b"\1\n"


def versions(repository: Repository, head: str, since: str, path: str) -> Iterator[tuple[str, bytes | None]]:
    """The commits after another one that changed a file, newest first, each with what it then held."""
    git = repository.git_or_error()
    walker = git.walk(head)
    walker.hide(since)
    for commit in walker:
        now = _blob(commit, path)
        if all(_blob(parent, path) != now for parent in commit.parents):
            yield str(commit.id), git[now].read_raw() if now is not None else None


def _blob(commit: pygit2.Commit, path: str) -> pygit2.Oid | None:
    try:
        found = commit.tree[path]
    except KeyError:
        return None
    return found.id if isinstance(found, pygit2.Blob) else None


def woven(repository: Repository, conflict: Conflict) -> bytes | None:
    """What both changes of a file give where lines beside each other count each by itself; None: nothing.

    git takes changes of neighbouring lines for one. A line of its own between any two keeps them apart.
    """
    git = repository.git_or_error()
    texts = (conflict.base, conflict.ours, conflict.theirs)
    if any(text is None or not _is_text(text) for text in texts):
        return None
    base, ours, theirs = (_spread(git, conflict.path, text or b"") for text in texts)
    result = git.merge_file_from_index(base, ours, theirs, use_deprecated=False)
    if not result.automergeable:
        return None
    lines = result.contents.encode().split(b"\n")
    return b"\n".join(line for line in lines if line + b"\n" != _BETWEEN).removesuffix(b"\n")


def _spread(git: pygit2.Repository, path: str, text: bytes) -> pygit2.IndexEntry:
    lines = b"".join(line + b"\n" + _BETWEEN for line in text.split(b"\n"))
    return pygit2.IndexEntry(path, git.create_blob(lines), FileMode.BLOB)


def _is_text(data: bytes) -> bool:
    try:
        return "\1" not in data.decode()
    except UnicodeDecodeError:
        return False
