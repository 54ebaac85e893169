"""A disk that remembers what was synced, and what may be left of it after a loss of power.

The model is harsher than real file systems: of what was not synced, each folder has any beginning of its
changes, independently of the others; a file has any beginning of what was written to it, and may still have
its first mode. A renaming between folders is whole.
"""

import errno
import os
import random
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gitcfg.install.disk import Disk


class PowerLoss(BaseException):
    """Nothing in the program catches it."""


@dataclass
class File:
    """A file, link or folder on the disk: `data` is what the program sees, `safe` what was synced."""

    kind: str
    data: bytes = b""
    mode: int = 0o600
    safe: bytes = b""
    safe_mode: int = 0o600


@dataclass
class Change:
    """Names of folders that come (with what is behind them) or go (None), all at once."""

    names: list[tuple[int, str, int | None]]


@dataclass
class Disks(Disk):
    """Records every change; loses power before the change number `end`."""

    root: Path
    end: int = -1
    files: dict[int, File] = field(default_factory=dict)
    before: dict[int, dict[str, int]] = field(default_factory=dict)
    changes: dict[int, list[Change]] = field(default_factory=dict)
    synced: dict[int, int] = field(default_factory=dict)
    count: int = 0

    def __post_init__(self) -> None:
        """What stands now is safe."""
        self._known(self.root)

    def _known(self, path: Path) -> None:
        info = path.lstat()
        kind = "link" if path.is_symlink() else "folder" if path.is_dir() else "file"
        data = os.readlink(path).encode() if kind == "link" else path.read_bytes() if kind == "file" else b""
        mode = stat.S_IMODE(info.st_mode)
        self.files[info.st_ino] = File(kind, data, mode, data, mode)
        if kind == "folder":
            self.before[info.st_ino] = {one.name: one.lstat().st_ino for one in path.iterdir()}
            for one in path.iterdir():
                self._known(one)

    def _step(self) -> None:
        if self.count == self.end:
            raise PowerLoss
        self.count += 1

    def _changed(self, *names: tuple[int, str, int | None]) -> None:
        change = Change([(os.fstat(at).st_ino, name, file) for at, name, file in names])
        for folder in dict.fromkeys(folder for folder, _, _ in change.names):
            self.changes.setdefault(folder, []).append(change)

    def _came(self, at: int, name: str, kind: str, mode: int, data: bytes = b"") -> None:
        number = os.stat(name, dir_fd=at, follow_symlinks=False).st_ino
        self.files[number] = File(kind, data, mode, data, mode)
        self._changed((at, name, number))

    def make_folder(self, at: int, name: str, mode: int) -> None:
        self._step()
        super().make_folder(at, name, mode)
        self._came(at, name, "folder", mode)

    def remove_folder(self, at: int, name: str) -> None:
        self._step()
        super().remove_folder(at, name)
        self._changed((at, name, None))

    def create(self, at: int, name: str) -> int:
        self._step()
        opened = super().create(at, name)
        self._came(at, name, "file", 0o600)
        return opened

    def append_to(self, at: int, name: str) -> int:
        self._step()
        there = self.stat(at, name)
        opened = super().append_to(at, name)
        if there is None:
            self._came(at, name, "file", 0o600)
        return opened

    def write(self, file: int, content: bytes) -> None:
        self._step()
        super().write(file, content)
        self.files[os.fstat(file).st_ino].data += content

    def truncate(self, file: int, size: int) -> None:
        self._step()
        super().truncate(file, size)
        found = self.files[os.fstat(file).st_ino]
        found.data = found.data[:size]

    def own(self, file: int, uid: int, gid: int, mode: int) -> None:
        self._step()
        super().own(file, uid, gid, mode)
        self.files[os.fstat(file).st_ino].mode = mode

    def sync(self, file: int) -> None:
        self._step()
        super().sync(file)
        number = os.fstat(file).st_ino
        found = self.files[number]
        found.safe, found.safe_mode = found.data, found.mode
        self.synced[number] = len(self.changes.get(number, ()))

    def rename(self, at: int, name: str, to: int, new: str) -> None:
        self._step()
        number = os.stat(name, dir_fd=at, follow_symlinks=False).st_ino
        super().rename(at, name, to, new)
        self._changed((at, name, None), (to, new, number))

    def link(self, at: int, name: str, to: int, new: str) -> None:
        self._step()
        super().link(at, name, to, new)
        self._changed((to, new, os.stat(new, dir_fd=to, follow_symlinks=False).st_ino))

    def symlink(self, text: str, at: int, name: str) -> None:
        self._step()
        super().symlink(text, at, name)
        self._came(at, name, "link", 0o777, text.encode())

    def unlink(self, at: int, name: str) -> None:
        self._step()
        there = self.stat(at, name)
        super().unlink(at, name)
        if there is not None:
            self._changed((at, name, None))


class Apart(Disks):
    """The state folder is on a file system of its own."""

    def device(self, at: int) -> int:
        return int("var/lib/gitcfg" in os.readlink(f"/proc/self/fd/{at}"))

    def link(self, at: int, name: str, to: int, new: str) -> None:
        self._together(at, to)
        super().link(at, name, to, new)

    def rename(self, at: int, name: str, to: int, new: str) -> None:
        self._together(at, to)
        super().rename(at, name, to, new)

    def _together(self, at: int, to: int) -> None:
        if self.device(at) != self.device(to):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))


def left(disk: Disks, chance: random.Random, to: Path) -> None:
    """Write what is left after a loss of power, one of the many ways it may be, as a tree of its own."""
    names = {folder: dict(found) for folder, found in disk.before.items()}
    for change in _surviving(disk, chance):
        for folder, name, number in change.names:
            inside = names.setdefault(folder, {})
            if number is None:
                inside.pop(name, None)
            else:
                inside[name] = number
    to.mkdir()
    written: dict[int, Path] = {}
    todo = [(to, disk.root.stat().st_ino)]
    while todo:
        path, inside_of = todo.pop()
        for name, file in names.get(inside_of, {}).items():
            _write(path / name, file, disk.files[file], chance, written)
            if disk.files[file].kind == "folder":
                todo.append((path / name, file))


def _surviving(disk: Disks, chance: random.Random) -> Iterator[Change]:
    """In the order in which they were made, each once."""
    kept: dict[int, int] = {}
    for folder, changes in disk.changes.items():
        kept[folder] = chance.randint(disk.synced.get(folder, 0), len(changes))
    grown = True
    while grown:
        grown = False
        whole = {id(one) for folder, count in kept.items() for one in disk.changes[folder][:count]}
        for folder, changes in disk.changes.items():
            count = max((place + 1 for place, one in enumerate(changes) if id(one) in whole), default=0)
            if count > kept[folder]:
                kept[folder], grown = count, True
    for folder, changes in disk.changes.items():
        for change in changes[: kept[folder]]:
            mine = [one for one in change.names if one[0] == folder]
            yield Change(mine)


def _write(path: Path, number: int, file: File, chance: random.Random, written: dict[int, Path]) -> None:
    if file.kind == "folder":
        path.mkdir()
    elif file.kind == "link":
        path.symlink_to(file.data.decode())
        return
    elif number in written:
        path.hardlink_to(written[number])
    else:
        written[number] = path
        path.write_bytes(_data(file, chance))
    path.chmod(chance.choice([file.mode, file.safe_mode]))


def _data(file: File, chance: random.Random) -> bytes:
    """What was synced; then any beginning of what was added, or zeros, or all of it."""
    if not file.data.startswith(file.safe):
        return chance.choice([file.safe, file.data])
    added = file.data[len(file.safe) :]
    some = chance.randint(0, len(added))
    return file.safe + chance.choice([added, added[:some], added[:some] + b"\0" * (len(added) - some)])
