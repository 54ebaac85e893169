"""The files of a folder: a work tree, or any folder where there is no git."""

import os
from collections.abc import Iterator
from pathlib import Path

import pygit2

from gitcfg.git.tree import Entry, EntryKind


class FolderTree:
    """Files on disk. Symbolic links are never followed; what git ignores is not there."""

    commit: str | None = None

    def __init__(self, root: Path, git: pygit2.Repository | None) -> None:
        self.root = root
        self.git = git
        self.top = Path(git.workdir).resolve() if git is not None else root
        self.tracked = frozenset(found.path for found in git.index) if git is not None else frozenset[str]()

    def entries(self, folder: str) -> Iterator[Entry]:
        place = self.root / folder
        if place.is_symlink() or not place.is_dir():
            return iter(self._link(folder) if place.is_symlink() else ())
        return iter(sorted(self._walk(place, folder)))

    def entry(self, path: str) -> Entry | None:
        place = self.root / path
        folders = place.parents[: len(Path(path).parts) - 1]
        if any(folder.is_symlink() for folder in folders) or not (place.is_symlink() or place.is_file()):
            return None
        return self._entry(str(place), path)

    def read(self, entry: Entry) -> bytes:
        return Path(entry.key).read_bytes() if entry.kind is EntryKind.FILE else b""

    def _link(self, folder: str) -> Iterator[Entry]:
        yield Entry(folder, EntryKind.LINK, str(self.root / folder))

    def _walk(self, place: Path, path: str) -> Iterator[Entry]:
        for found in os.scandir(place):
            inner = f"{path}/{os.fsencode(found.name).decode('utf-8', 'backslashreplace')}"
            if found.is_dir(follow_symlinks=False):
                if (Path(found.path) / ".git").exists():
                    yield Entry(inner, EntryKind.SUBMODULE, found.path)
                else:
                    yield from self._walk(Path(found.path), inner)
            elif not self._ignored(found.path):
                yield self._entry(found.path, inner)

    def _entry(self, place: str, path: str) -> Entry:
        state = os.lstat(place)
        if os.path.islink(place) or not os.path.isfile(place):
            return Entry(path, EntryKind.LINK, place)
        return Entry(path, EntryKind.FILE, place, state.st_size)

    def _ignored(self, place: str) -> bool:
        if self.git is None:
            return False
        path = os.path.relpath(place, self.top)
        return path not in self.tracked and self.git.path_is_ignored(path)
