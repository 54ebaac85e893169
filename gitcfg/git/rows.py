"""A tree as git keeps it, and what it holds."""

import re
from collections.abc import Iterable

import msgspec
import pygit2

from gitcfg.git.objects import FOLDER, LINK, SUBMODULE, text
from gitcfg.git.store import Store
from gitcfg.model import GitcfgError

Row = tuple[bytes, bytes, bytes]
"""What a tree holds of an entry: mode, name, id."""

ITEM = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)
_FIXED = 22  # the space, the NUL and the id


class Item(msgspec.Struct, frozen=True, gc=False):
    """What stands under a name in a tree."""

    id: bytes
    mode: int

    @property
    def folder(self) -> bytes | None:
        """A folder's id."""
        return self.id if self.mode >> 12 == FOLDER else None

    @property
    def file(self) -> bytes | None:
        """A file's id; links and submodules are none."""
        return None if self.mode >> 12 in (FOLDER, LINK, SUBMODULE) else self.id


Items = dict[str, Item]


def raw(odb: Store, tree: bytes) -> bytes:
    """A tree as git keeps it."""
    return odb.read(pygit2.Oid(raw=tree))[1]


def rows(odb: Store, tree: bytes) -> list[Row]:
    """What a tree holds, in git's order. GitcfgError: it is not formed as a tree is."""
    data = raw(odb, tree)
    found: list[Row] = ITEM.findall(data)
    if sum(len(mode) + len(name) for mode, name, _ in found) + _FIXED * len(found) != len(data):
        raise GitcfgError(f"git's tree {tree.hex()} is broken.", "`git fsck` says what else is.")
    return found


def items(odb: Store, tree: bytes) -> Items:
    """What a tree holds, by name."""
    return {text(name): Item(id, int(mode, 8)) for mode, name, id in rows(odb, tree)}


def named(found: Iterable[re.Match[bytes]]) -> Items:
    """Some of what a tree holds, by name."""
    return {text(match[2]): Item(match[3], int(match[1], 8)) for match in found}
