"""git's index: the file in its versions 2 to 4, and the tree that would be committed or that a merge made.

libgit2 does not expose the files' times in the index; without them every file would be read for its id.
"""

import hashlib
import os
import struct
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import pygit2

from gitcfg.git.commit_tree import Trees
from gitcfg.git.objects import FOLDER, Objects, entry_kind, escape_name
from gitcfg.git.tree import Entry, EntryKind
from gitcfg.model import GitcfgError
from gitcfg.model.names import FOLDERS, SETTINGS

_LOOKS = struct.Struct(">4L4xLL8xL20xH")
_MARKED = 0xF000  # assumed unchanged, skipped, or in conflict
_ADDED = 0x2000
_SKIPPED = 0x4000
_SECOND = 10**9
_FILE = 0o10


class Staged(msgspec.Struct, frozen=True, gc=False):
    """The staged entry of a path, in git's form."""

    row: bytes

    @property
    def id(self) -> bytes:
        return self.row[40:60]

    @property
    def mode(self) -> int:
        return int.from_bytes(self.row[24:28], "big")

    @property
    def intended(self) -> bool:
        """Return whether it is only intended to be added (`git add --intent-to-add`), and not committed."""
        return self._has_flag(_ADDED)

    @property
    def skipped(self) -> bool:
        """Return whether it is left out of the work tree (`git sparse-checkout`)."""
        return self._has_flag(_SKIPPED)

    def _has_flag(self, flag: int) -> bool:
        more = self.row[62:64]
        return bool(more) and bool(int.from_bytes(more, "big") & flag)

    def looks_like(self, state: os.stat_result, written: int) -> bool:
        """Return whether the file on disk is still what was staged, judged by its metadata.

        Return False if it changed in the second in which the index was `written`, or later: it may then have
        changed again with the same metadata. Return False also if git must not examine the file.
        """
        changed, changed_ns, modified, modified_ns, inode, mode, size, flags = _LOOKS.unpack_from(self.row)
        return bool(
            modified * _SECOND + modified_ns == state.st_mtime_ns
            and changed * _SECOND + changed_ns == state.st_ctime_ns
            and inode == state.st_ino & 0xFFFFFFFF
            and size == state.st_size
            and not flags & _MARKED
            and modified < written > changed
            and mode >> 12 == state.st_mode >> 12 == _FILE
        )


class Index(msgspec.Struct, frozen=True):
    """All staged entries by git's path as text, and the time when the index was written."""

    files: dict[str, Staged] = {}
    written: int = 0


# git's index as a file: versions 2, 3 and 4 of it.

_HEAD = struct.Struct(">4sLL")
_EXTENSION = struct.Struct(">4sL")
_LONG, _EXTENDED = 0x0FFF, 0x4000
_DIGEST = 20
_FOLDERS = b"sdir"
"""The extension of an index that has folders instead of their files (`git sparse-checkout`)."""
AFTER = chr(ord("/") + 1)


def read_index(file: Path) -> Index:
    """Return the index in a file, empty if there is none. Raise GitcfgError if it cannot be parsed."""
    try:
        with file.open("rb") as opened:
            data, state = opened.read(), os.fstat(opened.fileno())
    except FileNotFoundError:
        return Index()
    try:
        return Index(_parse_files(data), state.st_mtime_ns // 10**9)
    except (ValueError, IndexError, struct.error) as error:
        hint = "Run `git status` for details."
        if isinstance(error, _UnknownFormat):
            resets = "`git update-index --no-split-index` and `git sparse-checkout reapply --no-sparse-index`"
            hint = f"Run {resets}."
        raise GitcfgError(f"Cannot read git's index {file}: {error}.", hint) from None


class _UnknownFormat(ValueError):
    """The index is valid, but in an unknown format."""


def _parse_files(data: bytes) -> dict[str, Staged]:
    """Return the staged entries. Raise ValueError, IndexError or struct.error if the data is broken."""
    mark, version, count = _HEAD.unpack_from(data)
    if mark != b"DIRC":
        raise ValueError("it is not an index")
    if not 2 <= version <= 4:
        raise _UnknownFormat(f"its version is {version}")
    files, at = (_parse_version_4 if version == 4 else _parse_versions_2_3)(data, count)
    _check_end(data, at)
    return files


def _parse_versions_2_3(data: bytes, count: int) -> tuple[dict[str, Staged], int]:
    """Parse versions 2 and 3: whole names, and entries padded to eight bytes with NULs."""
    files, at = dict[str, Staged](), _HEAD.size
    for _ in range(count):
        flags = data[at + 60] << 8 | data[at + 61]
        name = at + (64 if flags & _EXTENDED else 62)
        long = flags & _LONG
        end = data.index(b"\0", name) if long == _LONG else name + long
        files[os.fsdecode(data[name:end])] = Staged(data[at:name])
        at = end + 8 - (end - at) % 8
    return files, at


def _parse_version_4(data: bytes, count: int) -> tuple[dict[str, Staged], int]:
    """Parse version 4: a name says how much to cut from the previous name, and what to append."""
    files, at, path = dict[str, Staged](), _HEAD.size, b""
    for _ in range(count):
        name = at + (64 if data[at + 60] << 8 & _EXTENDED else 62)
        gone, start = _parse_number(data, name)
        end = data.index(b"\0", start)
        path = path[: len(path) - gone] + data[start:end]
        files[os.fsdecode(path)] = Staged(data[at:name])
        at = end + 1
    return files, at


def _parse_number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number with seven bits per byte, and where it ends."""
    number = data[at] & 127
    while data[at] & 128:
        at += 1
        number = (number + 1 << 7) + (data[at] & 127)
    return number, at + 1


def _check_end(data: bytes, at: int) -> None:
    """Check what follows the files: extensions, of which lower-case ones must be known, and a hash."""
    end = len(data) - _DIGEST
    digest = hashlib.sha1(memoryview(data)[:end], usedforsecurity=False).digest()
    if data[end:] not in (digest, bytes(_DIGEST)):  # git writes zeros where it is configured to save time
        raise ValueError("it is truncated or damaged")
    while at < end:
        name, size = _EXTENSION.unpack_from(data, at)
        if name[:1].islower() and name != _FOLDERS:
            raise _UnknownFormat(f"it has the extension {name.decode('ascii', 'backslashreplace')}")
        at += _EXTENSION.size + size
    if at != end:
        raise ValueError("it is truncated or damaged")


Placed = tuple[int, bytes]
"""A mode, and the id of the object."""


class IndexTree:
    """The staged files, or the result of a merge, by git's path; only those below a prefix count."""

    commit: str | None = None

    def __init__(self, git: pygit2.Repository, prefix: str, files: Mapping[str, Placed]) -> None:
        self._objects = Objects(git, self._ids)
        inside = f"{prefix}/" if prefix else ""
        below = (path for path in files if path.startswith(inside))
        self._files = {escape_name(path.removeprefix(inside)): files[path] for path in below}
        self._paths = sorted(self._files)

    def entries(self, folder: str) -> Iterator[Entry]:
        itself = self.entry(folder)
        if itself is not None:
            return iter(() if itself.kind is EntryKind.FILE else (itself,))
        first, last = (bisect_left(self._paths, folder + end) for end in ("/", AFTER))
        return iter([self._entry(path) for path in self._paths[first:last]])

    def entry(self, path: str) -> Entry | None:
        return self._entry(path) if path in self._files else None

    def read(self, entry: Entry) -> bytes:
        return self._objects.read(entry)

    def _ids(self) -> Iterator[str]:
        places = (self._entry(path) for path in self._paths if path.partition("/")[0] in (SETTINGS, *FOLDERS))
        return (entry.key for entry in places if entry.kind is EntryKind.FILE)

    def _entry(self, path: str) -> Entry:
        mode, id = self._files[path]
        return Entry(path, entry_kind(mode) or EntryKind.FILE, id.hex(), self._objects)


def staged(index: Index) -> dict[str, Placed]:
    """Return the staged files that would be committed."""
    return {path: (found.mode, found.id) for path, found in index.files.items() if not found.intended}


def whole_index(git: pygit2.Repository, file: Path) -> Index:
    """Return the index in a file, with all files below folders that are left out of the work tree.

    Raise GitcfgError if it cannot be parsed.
    """
    index = read_index(file)
    folders = [path for path, found in index.files.items() if found.mode >> 12 == FOLDER]
    if not folders:
        return index
    trees = Trees(git)
    files = dict(index.files)
    for path in folders:
        files.update(_list_skipped(trees, files.pop(path).id, path))
    return Index(files, index.written)


def _list_skipped(trees: Trees, tree: bytes, path: str) -> Iterator[tuple[str, Staged]]:
    for mode, name, id in trees.rows(tree):
        inner = path + os.fsdecode(name)
        if int(mode, 8) >> 12 == FOLDER:
            yield from _list_skipped(trees, id, f"{inner}/")
        else:
            bits, flag = int(mode, 8).to_bytes(4, "big"), _SKIPPED.to_bytes(2, "big")
            yield inner, Staged(b"".join((bytes(24), bits, bytes(12), id, flag, flag)))


def merged(index: pygit2.Index) -> dict[str, Placed]:
    """Return the result of a merge."""
    return {found.path: (int(found.mode), found.id.raw) for found in index}
