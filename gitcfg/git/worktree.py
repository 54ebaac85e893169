"""What git knows of the files of its work tree without reading them."""

import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Protocol

import pygit2
from pygit2.enums import RepositoryOpenFlag

from gitcfg.git.conversions import Conversions, Form
from gitcfg.git.index import AFTER, whole_index
from gitcfg.git.objects import SUBMODULE, Objects, kind_of, shown
from gitcfg.git.shared import shared_folder
from gitcfg.git.staged import Index
from gitcfg.git.tree import NO_ID, Entry, EntryKind


class Knowledge(Protocol):
    """Of places on disk, by their absolute paths."""

    def ignored(self, place: str) -> bool:
        """Is a file to be passed over?"""
        ...

    def other(self, folder: str) -> bool:
        """Does a folder belong to another repository?"""
        ...

    def checked_out(self, folder: str) -> str:
        """The commit that is checked out in another repository's folder."""
        ...

    def unchanged(self, place: str) -> str | None:
        """The id of a file that is the very blob git has under it; None if that is not known."""
        ...

    def skipped(self, folder: str, path: str) -> Iterable[Entry]:
        """What belongs below a folder, `path` in the tree, or is it, and is left out of the work tree."""
        ...

    def content(self, id: str) -> bytes | None:
        """A blob of git's; None if it cannot be read."""
        ...


class NoGit:
    """Of folders that git knows nothing of."""

    def ignored(self, place: str) -> bool:
        return False

    def other(self, folder: str) -> bool:
        return os.path.lexists(f"{folder}/.git")

    def checked_out(self, folder: str) -> str:
        try:
            return str(pygit2.Repository(folder, RepositoryOpenFlag.NO_SEARCH).head.target)
        except (pygit2.GitError, KeyError, ValueError):
            return NO_ID

    def unchanged(self, place: str) -> str | None:
        return None

    def skipped(self, folder: str, path: str) -> Iterable[Entry]:
        return ()

    def content(self, id: str) -> bytes | None:
        return None


class WorkTree(NoGit):
    """Of the files of a git repository's work tree."""

    def __init__(self, git: pygit2.Repository) -> None:
        self._git = git
        self._objects = Objects(git, self._ids)
        top = str(Path(git.workdir).resolve()).rstrip("/")
        self._before = len(top) + 1
        self._conversions = Conversions(git, top, shared_folder(git))

    @cached_property
    def _index(self) -> Index:
        # Its own index even while a commit is made from another: each tells how files looked at a time.
        return whole_index(self._git, Path(self._git.path) / "index")

    @cached_property
    def _left_out(self) -> list[str]:
        """The paths that git has left out of the work tree, in order."""
        return sorted(path for path, staged in self._index.files.items() if staged.skipped)

    def _ids(self) -> Iterator[str]:
        return (self._index.files[path].id.hex() for path in self._left_out)

    def ignored(self, place: str) -> bool:
        name = self._name(place)
        return name not in self._index.files and self._git.path_is_ignored(shown(name))

    def other(self, folder: str) -> bool:
        return self._linked(folder) is not None or super().other(folder)

    def checked_out(self, folder: str) -> str:
        found = super().checked_out(folder)
        return (self._linked(folder) or NO_ID) if found == NO_ID else found

    def unchanged(self, place: str) -> str | None:
        staged = self._index.files.get(self._name(place))
        if staged is None:
            return None
        state = os.lstat(place)
        form = self._conversions.form(place.rpartition("/")[0])
        if form is Form.ANY or not staged.looks_like(state, self._index.written):
            return None
        id = staged.id.hex()
        return None if form is Form.ENDS and self._objects.size(id) != state.st_size else id

    def skipped(self, folder: str, path: str) -> Iterator[Entry]:
        if not self._left_out:
            return
        name = self._name(folder)
        itself = self._index.files.get(name)
        names = self._left_out[slice(*(bisect_left(self._left_out, name + end) for end in ("/", AFTER)))]
        if itself is not None and itself.skipped:
            names.append(name)
        for each in names:
            if not os.path.lexists(folder + each.removeprefix(name)):  # else it is there in spite of that
                staged = self._index.files[each]
                kind = kind_of(staged.mode) or EntryKind.FILE
                yield Entry(path + shown(each.removeprefix(name)), kind, staged.id.hex(), self._objects)

    def content(self, id: str) -> bytes | None:
        return self._objects.content(id)

    def _linked(self, folder: str) -> str | None:
        """The commit that is staged for another repository's folder."""
        staged = self._index.files.get(self._name(folder))
        return staged.id.hex() if staged is not None and staged.mode >> 12 == SUBMODULE else None

    def _name(self, place: str) -> str:
        """git's path of a place."""
        return place[self._before :]
