"""The staged roots: all files of the new package (and of the old one) for `validate` to look at."""

from __future__ import annotations

import os

from .disk import Disk
from .package import Package
from .paths import folders_of, name_of, parent_of
from .store import STAGED, Store, path_of
from .tree import Tree
from .unshown import content_of

NEW, OLD = "new", "old"


def stage(
    store: Store, new: Package, old: Package | None, owners: dict[tuple[str, str], tuple[int, int]]
) -> None:
    """Write both roots, which stand only while they are validated. Not synced: a crash throws them away."""
    store.empty(STAGED)
    with store.folder(STAGED) as at:
        _root(store, at, NEW, new, owners)
        if any("{old}" in word for found in new.running.values() for word in found.validate):
            _root(store, at, OLD, old, owners)


def staged_command(store: Store, command: tuple[str, ...]) -> tuple[str, ...]:
    """A command with `{new}` and `{old}` replaced by the staged roots."""
    roots = {"{new}": path_of(store, STAGED, NEW), "{old}": path_of(store, STAGED, OLD)}
    return tuple(_replaced(word, roots) for word in command)


def _replaced(word: str, roots: dict[str, str]) -> str:
    for name, path in roots.items():
        word = word.replace(name, path)
    return word


def _root(
    store: Store, at: int, name: str, package: Package | None, owners: dict[tuple[str, str], tuple[int, int]]
) -> None:
    """A secret file whose content is not known is there as it stands: so it will stand beside the others."""
    disk = store.disk
    disk.make_folder(at, name, 0o755)
    root = disk.folder(name, at)
    try:
        tree = Tree(disk, root)
        files = package.meant if package else {}
        for folder in sorted({one for path in files for one in folders_of(path)}):
            _folder(tree, folder)
        for path, file in files.items():
            content = content_of(store, file)
            if content is not None:
                with tree.folder(parent_of(path)) as inside:
                    _file(disk, inside, path, content, owners[file.owner, file.group], file.bits)
    finally:
        os.close(root)


def _folder(tree: Tree, folder: str) -> None:
    with tree.folder(parent_of(folder)) as at:
        tree.disk.make_folder(at, name_of(folder), 0o755)


def _file(disk: Disk, at: int, path: str, content: bytes, owner: tuple[int, int], mode: int) -> None:
    opened = disk.create(at, name_of(path))
    try:
        disk.write(opened, content)
        disk.own(opened, *owner, mode)
    finally:
        os.close(opened)
