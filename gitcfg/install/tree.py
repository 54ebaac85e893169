"""The node's files below its root, walked folder by folder so that no link is ever followed."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from .disk import Disk
from .paths import folders_of, name_of, parent_of
from .problems import Obstacle
from .standing import NOTHING, Standing, look


class Tree:
    """A root folder that is open; paths are absolute below it."""

    def __init__(self, disk: Disk, root: int) -> None:
        self.disk = disk
        self.root = root

    @contextmanager
    def folder(self, path: str) -> Iterator[int]:
        """An open folder; "" is the root. FileNotFoundError if it is missing, Obstacle for a link in it."""
        here = os.dup(self.root)
        try:
            walked = ""
            for name in path.split("/")[1:]:
                walked += f"/{name}"
                inside = self._enter(here, name, walked)
                os.close(here)
                here = inside
            yield here
        finally:
            os.close(here)

    def _enter(self, here: int, name: str, walked: str) -> int:
        try:
            return self.disk.folder(name, here)
        except OSError as error:
            if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                error.filename = walked  # its name alone says nothing to anybody
                raise
        found = self.disk.stat(here, name)
        if found is not None and stat.S_ISLNK(found.st_mode):
            to = self.disk.readlink(here, name)
            raise Obstacle(
                f"{walked} is a link to {to}, and links are not followed.",
                "Name the folder itself in the repository.",
            )
        raise Obstacle(f"{walked} is not a folder.")

    def look(self, path: str) -> Standing:
        """What stands at a path."""
        try:
            with self.folder(parent_of(path)) as at:
                return look(self.disk, at, name_of(path))
        except FileNotFoundError:
            return NOTHING

    def missing_folders(self, paths: Iterable[str]) -> tuple[str, ...]:
        """The folders that some files need and that are not there, outermost first."""
        wanted = sorted({folder for path in paths for folder in folders_of(path)})
        return tuple(folder for folder in wanted if not self._is_there(folder))

    def _is_there(self, folder: str) -> bool:
        try:
            with self.folder(folder):
                return True
        except FileNotFoundError:
            return False

    def make(self, folder: str, mode: int = 0o755) -> None:
        """A folder in one that is there; its being there already is well too."""
        name = name_of(folder)
        with self.folder(parent_of(folder)) as at:
            if self.disk.stat(at, name) is None:
                with suppress(FileExistsError):  # somebody was quicker
                    self.disk.make_folder(at, name, mode)
                self.disk.sync(at)

    def sync(self, folders: Iterable[str]) -> None:
        """Make last what came to be called otherwise in these folders, those that are still there."""
        for folder in sorted(set(folders)):
            with suppress(FileNotFoundError), self.folder(folder) as at:
                self.disk.sync(at)

    def remove_if_empty(self, folder: str) -> bool:
        """Whether the folder is gone now."""
        try:
            with self.folder(parent_of(folder)) as at:
                self.disk.remove_folder(at, name_of(folder))
                self.disk.sync(at)
        except FileNotFoundError:
            return True
        except (OSError, Obstacle):
            # Not empty, a mount point, or a link or file of somebody's by now: it stays.
            return False
        return True
