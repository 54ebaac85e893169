"""The files of a folder: a work tree, or any folder where there is no git."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from gitcfg.git.disk import Disk
from gitcfg.git.objects import Objects, shown
from gitcfg.git.tree import Entry, EntryKind, in_order
from gitcfg.git.worktree import Knowledge


class FolderTree:
    """Files on disk. Symbolic links are never followed; what git ignores is not there.

    The first look at a file holds: its id is of what was there then, and reading gives that or nothing.
    """

    commit: str | None = None

    def __init__(self, root: Path, known: Knowledge) -> None:
        self.root = root
        self._start = os.path.join(root, "")
        self._known = known
        self._disk = Disk(known)
        self._folders: dict[str, bool] = {}

    def entries(self, folder: str) -> Iterator[Entry]:
        place = self._place(folder)
        if self._inside(folder):
            return iter(in_order([*self._walk(place, folder), *self._known.skipped(place, folder)]))
        if not os.path.lexists(place):
            return iter(in_order(list(self._known.skipped(place, folder))))
        itself = self.entry(folder)
        return iter(() if itself is None or itself.kind is EntryKind.FILE else (itself,))

    def entry(self, path: str) -> Entry | None:
        place = self._place(path)
        if not self._inside(path.rpartition("/")[0]):
            return self._skipped(place, path)
        try:
            mode = os.lstat(place).st_mode
        except (OSError, ValueError):
            return self._skipped(place, path)
        if stat.S_ISDIR(mode):
            other = self._known.other(place)
            return Entry(path, EntryKind.SUBMODULE, place, self._disk) if other else None
        kind = EntryKind.FILE if stat.S_ISREG(mode) else EntryKind.LINK
        return None if self._known.ignored(place) else Entry(path, kind, place, self._disk)

    def read(self, entry: Entry) -> bytes:
        if isinstance(entry.source, Objects):  # it is left out of the work tree
            return entry.source.read(entry)
        return self._disk.read(entry)

    def _skipped(self, place: str, path: str) -> Entry | None:
        """A file that is left out of the work tree."""
        return next((entry for entry in self._known.skipped(place, path) if entry.path == path), None)

    def _walk(self, place: str, path: str) -> Iterator[Entry]:
        with os.scandir(place) as found:
            for each in found:
                inner = f"{path}/{shown(each.name)}"
                if not each.is_dir(follow_symlinks=False):
                    kind = EntryKind.FILE if each.is_file(follow_symlinks=False) else EntryKind.LINK
                    if not self._known.ignored(each.path):
                        yield Entry(inner, kind, each.path, self._disk)
                elif self._known.other(each.path):
                    yield Entry(inner, EntryKind.SUBMODULE, each.path, self._disk)
                else:
                    yield from self._walk(each.path, inner)

    def _inside(self, folder: str) -> bool:
        """Is it a folder of this tree, which neither a link nor another repository stands before?"""
        if folder not in self._folders:
            self._folders[folder] = self._is_inside(folder)
        return self._folders[folder]

    def _is_inside(self, folder: str) -> bool:
        if not folder:
            return True
        place = self._place(folder)
        if not self._inside(folder.rpartition("/")[0]) or os.path.islink(place) or not os.path.isdir(place):
            return False
        return not self._known.other(place)

    def _place(self, path: str) -> str:
        return self._start + path
