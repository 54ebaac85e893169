"""git's objects by id. A partial clone (`git clone --filter`) fetches missing ones when they are needed."""

import os
import subprocess
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import pygit2

from gitcfg.git.tree import Entry, EntryKind
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

T = TypeVar("T")
_FETCH = ("--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--filter=blob:none", "--stdin")


class Store:
    """The objects of a repository.

    `others` are ids that will be needed next: if one object is missing, they are fetched with it, because
    each fetch is a connection.
    """

    def __init__(self, git: pygit2.Repository, others: Callable[[], Iterable[str]] = tuple) -> None:
        self._git = git
        self._odb = git.odb
        self._others = others
        self._requested = set[str]()

    def read(self, id: pygit2.Oid) -> tuple[int, bytes]:
        """Return the kind and bytes of an object. Raise KeyError or GitcfgError if it is missing."""
        return self._read_or_fetch(self._odb.read, id)

    def read_header(self, id: pygit2.Oid) -> tuple[int, int]:
        """Return the kind and size of an object. Raise KeyError or GitcfgError if it is missing."""
        return self._read_or_fetch(self._odb.read_header, id)

    def complete(self, *trees: str) -> None:
        """Fetch missing objects of commits or trees: git's library merges them, and fetches nothing."""
        if self._remote is not None:
            self._fetch(self._remote, _missing(self._git, "--no-walk", *trees))

    def _read_or_fetch(self, read: Callable[[pygit2.Oid], T], id: pygit2.Oid) -> T:
        try:
            return read(id)
        except KeyError:
            if self._remote is None or str(id) in self._requested:
                raise
        self._fetch(self._remote, (str(id), *(() if self._requested else self._others())))
        return read(id)

    @cached_property
    def _remote(self) -> str | None:
        """The remote of a partial clone; None: nothing is missing, or this repository only judges pushes."""
        if "GIT_QUARANTINE_PATH" in os.environ:
            return None
        config = self._git.config
        for remote in self._git.remotes:
            key = f"remote.{remote.name}.promisor"
            if remote.name and key in config and config.get_bool(key):
                return remote.name
        return None

    def _fetch(self, remote: str, ids: Iterable[str]) -> None:
        missing = [id for id in dict.fromkeys(ids) if id not in self._requested and id not in self._git]
        self._requested.update(missing)
        if not missing:
            return
        done = _run(self._git, ("fetch", "--quiet", remote, *_FETCH), "\n".join(missing))
        if done.returncode:
            error = shown(" ".join(done.stderr.split()).rstrip("."), 300)
            message = f"Cannot fetch the missing objects of this partial clone from {remote}: {error}."
            raise GitcfgError(message, "Try again when the remote is reachable, or clone without `--filter`.")


def find_missing(git: pygit2.Repository, paths: Iterable[str]) -> list[str]:
    """Return the ids that a partial clone lacks of all past files at some paths."""
    return _missing(git, "--all", "--", *paths)


def _missing(git: pygit2.Repository, *words: str) -> list[str]:
    done = _run(git, ("rev-list", "--objects", "--missing=print", *words))
    return [line[1:] for line in done.stdout.splitlines() if line.startswith("?")]


def _run(git: pygit2.Repository, words: Iterable[str], stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run git in a repository without prompts."""
    call = ["git", f"--git-dir={git.path}", *words]
    environment = {**os.environ, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}
    try:
        return subprocess.run(call, input=stdin, capture_output=True, text=True, check=False, env=environment)
    except FileNotFoundError:
        raise GitcfgError(
            "git is not installed, so the missing objects of this clone cannot be fetched.", "Install git."
        ) from None


FOLDER, LINK, SUBMODULE = 0o04, 0o12, 0o16
"""The upper bits of a mode; all other values are files."""


class Objects:
    """The objects of a repository. The key of an entry is its object's id, in hexadecimal.

    `others`: ids that will be needed next, which a partial clone fetches together.
    """

    def __init__(self, git: pygit2.Repository, others: Callable[[], Iterable[str]] = tuple) -> None:
        self._odb = Store(git, others)

    def id_of(self, entry: Entry) -> str:
        return entry.key

    def size_of(self, entry: Entry) -> int:
        # git's lists of ids have no sizes: a size takes 0.7 us per packed object, so it is read only if
        # needed.
        if entry.kind is not EntryKind.FILE:
            return 0
        size = self.size(entry.key)
        if size is None:
            raise missing_object(entry.key)
        return size

    def read(self, entry: Entry) -> bytes:
        """Return the content of a file."""
        if entry.kind is not EntryKind.FILE:
            return b""
        data = self.content(entry.key)
        if data is None:
            raise missing_object(entry.key)
        return data

    def size(self, id: str) -> int | None:
        """Return the number of bytes of an object; None if it is missing."""
        try:
            return self._odb.read_header(pygit2.Oid(hex=id))[1]
        except (KeyError, pygit2.GitError):
            return None

    def content(self, id: str) -> bytes | None:
        """Return an object's bytes; None if it is missing or broken."""
        try:
            return self._odb.read(pygit2.Oid(hex=id))[1]
        except (KeyError, pygit2.GitError):
            return None


def entry_kind(mode: int) -> EntryKind | None:
    """Return the kind of entry for a mode; None for a folder."""
    kind = mode >> 12
    if kind == FOLDER:
        return None
    if kind == LINK:
        return EntryKind.LINK
    return EntryKind.SUBMODULE if kind == SUBMODULE else EntryKind.FILE


def decode_name(raw: bytes) -> str:
    """Decode a name; escape bytes that are not text."""
    return raw.decode("utf-8", "backslashreplace")


def escape_name(name: str) -> str:
    """Escape the bytes of a name from `os.fsdecode` that are not text."""
    return name if name.isascii() else decode_name(os.fsencode(name))


def missing_object(id: str) -> GitcfgError:
    """Return the error for an object that others refer to, and that is missing or broken."""
    hint = "Run `git fsck` to find what else is missing. Fetch it, or clone again."
    return GitcfgError(f"Cannot read the git object {id}.", hint)


def common_folder(git: pygit2.Repository) -> Path:
    """Return the folder that all work trees share; in one from `git worktree add`, git recorded its path."""
    own = Path(git.path)
    try:
        return (own / (own / "commondir").read_text().strip()).resolve()
    except OSError:
        return own
