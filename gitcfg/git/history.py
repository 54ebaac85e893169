"""The commits of a repository: order, parents, authors, trees; and a folder at every commit of a history."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, timezone
from functools import cached_property, lru_cache, partial

import msgspec
import pygit2
from pygit2.enums import SortMode

from gitcfg.git.commit_tree import FileChange, Trees
from gitcfg.git.objects import Store, common_folder, find_missing, missing_object
from gitcfg.git.repository import Repository
from gitcfg.model import GitcfgError
from gitcfg.model.names import FOLDERS, SETTINGS, shown

_ORDER = SortMode.TOPOLOGICAL | SortMode.TIME
_EPOCH = datetime(1970, 1, 1)
_MOST = 64  # files that several callers may read one after the other


class Commit(msgspec.Struct, frozen=True):
    """The author and date (ISO 8601 with offset) of a commit, and the subject of its message."""

    commit: str
    author: str
    email: str
    date: str
    subject: str
    shallow: bool = False
    """A shallow clone ends here: the changes in this commit may be as old as the missing history."""


class History:
    """Commits by their full ids in hexadecimal, trees and files by their ids as bytes."""

    def __init__(self, repository: Repository) -> None:
        """Raise GitcfgError if there is no git repository."""
        self.git = repository.git_or_error("it has no history")
        self.trees = Trees(self.git)
        self._folders = repository.prefix.split("/") if repository.prefix else []
        places = ["/".join((*self._folders, place)) for place in (SETTINGS, *FOLDERS)]
        store = Store(self.git, partial(find_missing, self.git, places))
        self.read = lru_cache(maxsize=_MOST)(partial(_read_file, store))
        self._commits: dict[str, tuple[bytes, tuple[str, ...]]] = {}

    def walk(self, start: str, known: str | None = None) -> Iterator[str]:
        """Yield a commit and all its ancestors, children before parents, and otherwise newest first.

        Leave out `known`, another commit, and its ancestors.
        """
        walker = self.git.walk(start, _ORDER)
        if known is not None:
            walker.hide(known)
        return map(self._remember, walker)

    @property
    def shallow(self) -> bool:
        """Return whether the history begins where a clone was cut off."""
        return self.git.is_shallow

    def has(self, commit: str) -> bool:
        """Return whether a commit is in the repository."""
        return commit in self.git

    def includes(self, commit: str, other: str) -> bool:
        """Return whether a commit is the other one, or a descendant of it."""
        return commit == other or self.git.descendant_of(commit, other)

    def parents(self, commit: str) -> tuple[str, ...]:
        """Return the parents in order, without those that a shallow clone lacks."""
        return self._known(commit)[1]

    def root(self, commit: str) -> bytes | None:
        """Return the tree of the repository's folder; None if the commit has no such folder."""
        tree: bytes | None = self._known(commit)[0]
        for name in self._folders:
            tree = self.folder(tree, name)
        return tree

    def folder(self, tree: bytes | None, name: str) -> bytes | None:
        """Return a folder in a tree."""
        found = self.trees.items(tree).get(name) if tree is not None else None
        return found.folder if found is not None else None

    def about(self, commit: str) -> Commit:
        """Return the author, date and subject of a commit."""
        found = self.git[commit]
        assert isinstance(found, pygit2.Commit)
        author = found.author
        fields = (author.raw_name, author.raw_email, found.raw_message)
        name, email, text = (_decode(raw, found.message_encoding) for raw in fields)
        subject = " ".join(text.strip().partition("\n\n")[0].split())
        date = format_date(author.time, author.offset)
        return Commit(commit, name, email, date, subject, commit in self._borders)

    @cached_property
    def _borders(self) -> frozenset[str]:
        """The commits at which a shallow clone was cut off."""
        try:
            return frozenset((common_folder(self.git) / "shallow").read_text().split())
        except OSError:
            return frozenset()

    def message(self, commit: str) -> str:
        """Return a commit's message without its subject."""
        found = self.git[commit]
        assert isinstance(found, pygit2.Commit)
        text = _decode(found.raw_message, found.message_encoding)
        return text.strip().partition("\n\n")[2].strip()

    def find(self, tree: bytes | None, name: str, path: str) -> tuple[str, bytes] | None:
        """Return the first file of a name in and below a folder, in order of path; `path` is the folder's."""
        return min(self._find_files(tree, name, path), default=None) if tree is not None else None

    def _find_files(self, tree: bytes, name: str, path: str) -> Iterator[tuple[str, bytes]]:
        raw = self.trees.raw(tree)
        if name.encode() not in raw and b"40000 " not in raw:
            return
        for inner, item in self.trees.items(tree).items():
            if item.folder is not None:
                yield from self._find_files(item.folder, name, f"{path}/{inner}")
            elif inner == name and item.file is not None:
                yield f"{path}/{inner}", item.file

    def _known(self, commit: str) -> tuple[bytes, tuple[str, ...]]:
        if commit not in self._commits:
            found = self.git[commit]
            assert isinstance(found, pygit2.Commit)
            self._remember(found)
        return self._commits[commit]

    def _remember(self, commit: pygit2.Commit) -> str:
        name = str(commit.id)
        self._commits[name] = commit.tree_id.raw, tuple(str(parent) for parent in commit.parent_ids)
        return name


def _read_file(store: Store, file: bytes) -> bytes:
    try:
        return store.read(pygit2.Oid(raw=file))[1]
    except KeyError:
        raise missing_object(file.hex()) from None


def _decode(raw: bytes, encoding: str | None) -> str:
    try:
        return raw.decode(encoding or "utf-8", "replace")
    except LookupError:
        return raw.decode("utf-8", "replace")


def format_date(seconds: int, offset: int) -> str:
    """Format seconds since 1970 and minutes east of Greenwich as ISO 8601; an impossible date is 1970."""
    try:
        zone = timezone(timedelta(minutes=offset))
        return (_EPOCH + timedelta(seconds=seconds, minutes=offset)).replace(tzinfo=zone).isoformat()
    except (OverflowError, ValueError):
        return _EPOCH.replace(tzinfo=UTC).isoformat()


class FolderVersion(msgspec.Struct, frozen=True):
    """A folder at a commit: its `tree`, and the differences from the version yielded before this one.

    In these changes, `old` is therefore the later file, and `new` the file in this version.
    """

    commit: str
    tree: bytes | None
    changed: tuple[FileChange, ...]


class FolderHistory:
    """A folder through the history of a repository; its files by their paths from the repository's root."""

    def __init__(self, repository: Repository, folder: str) -> None:
        """Raise GitcfgError if there is no git repository."""
        self._history = History(repository)
        self._folder = folder

    def versions(self, start: str, known: str | None = None) -> Iterator[FolderVersion]:
        """Yield each version up to a commit once, later ones first; the first one has all its files as new.

        Leave out `known`, another commit, and its ancestors.
        """
        yielded: set[bytes | None] = set()
        last: bytes | None = None
        with _explain_missing():
            for commit in self._history.walk(start, known):
                tree = self._history.folder(self._history.root(commit), self._folder)
                if tree not in yielded:
                    changed = self._history.trees.changed(last, tree, f"{self._folder}/")
                    yield FolderVersion(commit, tree, tuple(changed))
                    yielded.add(tree)
                    last = tree

    def file(self, version: FolderVersion, path: str) -> bytes | None:
        """Return the id of the file at a path; None: there is none."""
        *folders, name = path.removeprefix(f"{self._folder}/").split("/")
        tree = version.tree
        for folder in folders:
            tree = self._history.folder(tree, folder)
        found = self._history.trees.items(tree).get(name) if tree is not None else None
        return found.file if found is not None else None

    def read(self, file: bytes) -> bytes:
        """Return the content of a file."""
        with _explain_missing():
            return self._history.read(file)


@contextmanager
def _explain_missing() -> Iterator[None]:
    """Raise GitcfgError if objects of the history are missing, as in partial clones."""
    try:
        yield
    except KeyError as error:
        missing = shown(str(error).strip("'"))
        hint = "Use a full clone. Run `git fsck` to find what else is missing."
        raise GitcfgError(f"The git history is incomplete here: {missing} is missing.", hint) from None
