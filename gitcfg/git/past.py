"""What stood in a folder before, at every commit of a history: told as what differs from one to the next."""

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from gitcfg.git.differences import Changed
from gitcfg.git.history import History
from gitcfg.git.repository import Repository
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown


class Version(msgspec.Struct, frozen=True):
    """What a folder held at a commit: its `tree`, and what is not as in the version told before this one.

    Of a change `old` is therefore what stood there later, and `new` what stands there in this version.
    """

    commit: str
    tree: bytes | None
    changed: tuple[Changed, ...]


class Past:
    """A folder through the history of a repository; its files by their paths from the repository's root."""

    def __init__(self, repository: Repository, folder: str) -> None:
        """GitcfgError: there is no git repository."""
        self._history = History(repository)
        self._folder = folder

    def versions(self, start: str, known: str | None = None) -> Iterator[Version]:
        """Each that a commit or one before it had, once, later ones first; the first differs from nothing.

        Without commits that `known`, another one, is or comes after.
        """
        seen: set[bytes | None] = set()
        last: bytes | None = None
        with _whole():
            for commit in self._history.walk(start, known):
                tree = self._history.folder(self._history.root(commit), self._folder)
                if tree not in seen:
                    changed = self._history.trees.changed(last, tree, f"{self._folder}/")
                    yield Version(commit, tree, tuple(changed))
                    seen.add(tree)
                    last = tree

    def file(self, version: Version, path: str) -> bytes | None:
        """The id of the file at a path; None: there is none."""
        *folders, name = path.removeprefix(f"{self._folder}/").split("/")
        tree = version.tree
        for folder in folders:
            tree = self._history.folder(tree, folder)
        found = self._history.trees.items(tree).get(name) if tree is not None else None
        return found.file if found is not None else None

    def read(self, file: bytes) -> bytes:
        """What a file holds."""
        with _whole():
            return self._history.read(file)


@contextmanager
def _whole() -> Iterator[None]:
    """GitcfgError: something of the history is not there, as in partial clones."""
    try:
        yield
    except KeyError as error:
        missing = shown(str(error).strip("'"))
        hint = "A whole clone has it; `git fsck` says what else is missing."
        raise GitcfgError(f"git's history is not whole here: {missing} is missing.", hint) from None
