"""What git's index says: what is staged, and how files looked when they were staged.

git's library hides the times, and without them each file would have to be read to know its id.
"""

import os
import struct

import msgspec

_LOOKS = struct.Struct(">4L4xLL8xL20xH")
_MARKED = 0xF000  # assumed unchanged, or passed over, or in conflict
_ADDED = 0x2000
_SKIPPED = 0x4000
_SECOND = 10**9
_FILE = 0o10


class Staged(msgspec.Struct, frozen=True, gc=False):
    """What is staged under a path, as git keeps it."""

    row: bytes

    @property
    def id(self) -> bytes:
        return self.row[40:60]

    @property
    def mode(self) -> int:
        return int.from_bytes(self.row[24:28], "big")

    @property
    def intended(self) -> bool:
        """Is it only meant to be added (`git add --intent-to-add`)? It would not be committed."""
        return self._says(_ADDED)

    @property
    def skipped(self) -> bool:
        """Is it left out of the work tree (`git sparse-checkout`)?"""
        return self._says(_SKIPPED)

    def _says(self, flag: int) -> bool:
        more = self.row[62:64]
        return bool(more) and bool(int.from_bytes(more, "big") & flag)

    def looks_like(self, state: os.stat_result, written: int) -> bool:
        """Is what stands on disk still what was staged, as far as its looks tell?

        Not if it changed in the second in which the index was `written`, or later: then it may have
        changed once more without looking otherwise. Nor if git is told not to look at it.
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


def skipped(mode: int, id: bytes) -> Staged:
    """What is staged of a file that the index names only by a folder that is left out."""
    flag = _SKIPPED.to_bytes(2, "big")
    return Staged(b"".join((bytes(24), mode.to_bytes(4, "big"), bytes(12), id, flag, flag)))


class Index(msgspec.Struct, frozen=True):
    """All that is staged, by git's path as the system's names are text, and when that was written."""

    files: dict[str, Staged] = {}
    written: int = 0
