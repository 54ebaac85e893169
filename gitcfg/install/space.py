"""Whether the disk has room for everything before anything is written."""

from __future__ import annotations

from collections.abc import Iterable

from .disk import Disk
from .package import Package
from .paths import folders_of
from .plan import Plan
from .problems import NoRoom
from .standing import ABSENT
from .store import Store
from .tree import Tree

_STATE_FILES = 64
"""Journal, records, folders: generously."""


class Need:
    """What one file system must have left: `blocks` of `free`, `files` of `free_files` (None: no limit).

    `sample` is a folder of it, `block` the size of a block in bytes.
    """

    def __init__(self, sample: str, block: int, free: int, free_files: int | None) -> None:
        self.sample = sample
        self.block = block
        self.free = free
        self.free_files = free_files
        self.blocks = 0
        self.files = 0

    def add(self, size: int) -> None:
        """One more file."""
        self.blocks += -(-size // self.block) + 1
        self.files += 1


def check_space(store: Store, plan: Plan, package: Package, old: Package | None) -> None:
    """NoRoom where bytes or files are short, with both figures."""
    needs: dict[int, Need] = {}
    own = _need(store.disk, needs, store.at, "the state folder")
    own.files += _STATE_FILES
    own.blocks += _STATE_FILES
    sizes = [file.size for path, file in package.meant.items()]
    sizes += [2 * sum(sizes)]
    sizes += [file.size for path, file in (old.meant if old else {}).items()]
    sizes += [entry.before.size for entry in plan.entries if entry.before.kind != ABSENT]
    for size in sizes:
        own.add(size)
    for entry in plan.entries:
        if entry.after.kind != ABSENT:
            _beside(store.tree, entry.path, needs).add(entry.after.size)
    _judge(needs.values())


def _beside(tree: Tree, path: str, needs: dict[int, Need]) -> Need:
    """Of the file system that a file will be on: its nearest folder that is there tells."""
    inside = ["", *folders_of(path)]
    missing = tree.missing_folders([path])
    folder = inside[-1 - len(missing)]
    with tree.folder(folder) as at:
        return _need(tree.disk, needs, at, folder or "/")


def _need(disk: Disk, needs: dict[int, Need], at: int, sample: str) -> Need:
    device = disk.device(at)
    if device not in needs:
        found = disk.space(at)
        files = found.f_favail if found.f_files else None
        needs[device] = Need(sample, found.f_frsize or 4096, found.f_bavail, files)
    return needs[device]


def _judge(needs: Iterable[Need]) -> None:
    for need in needs:
        if need.blocks > need.free:
            wanted, left = need.blocks * need.block >> 10, need.free * need.block >> 10
            raise NoRoom(
                f"The file system of {need.sample} has {left} KiB left, and {wanted} KiB are needed.",
                "Make room there.",
            )
        if need.free_files is not None and need.files > need.free_files:
            raise NoRoom(
                f"The file system of {need.sample} has room for {need.free_files} more files, "
                f"and {need.files} are needed.",
                "Remove files there.",
            )
