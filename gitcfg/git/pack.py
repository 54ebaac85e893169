"""New objects of a repository, written all at once: files and folders by the ids that git gives them."""

import hashlib
import os
import re
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO

import msgspec

from gitcfg.git.program import Git

FOLDER_MODE = b"40000"
EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The folder in which there is nothing: git knows it without being told."""
_TREE, _BLOB = 2, 3
_KINDS = {_TREE: b"tree", _BLOB: b"blob"}
_LEVEL = 1  # of compression: 6 takes three times as long, and `git gc` packs again anyway
_FEW = 100  # as git's own limit: so few objects are no pack of their own
_HEAD = 12
_BLOCK = 1 << 20


class PackedObject(msgspec.Struct, frozen=True, gc=False):
    """An object by its id, and as it stands in a pack."""

    id: str
    packed: bytes


class Row(msgspec.Struct, frozen=True, gc=False):
    """What stands under a name in a folder."""

    name: str
    mode: bytes
    id: str


def pack_blob(data: bytes) -> PackedObject:
    """A file."""
    return _made(_BLOB, data)


def pack_tree(rows: Iterable[Row]) -> PackedObject:
    """A folder."""
    ordered = sorted(rows, key=lambda row: row.name.encode() + (b"/" if row.mode == FOLDER_MODE else b""))
    return _made(
        _TREE, b"".join(b"%b %b\0%b" % (r.mode, r.name.encode(), bytes.fromhex(r.id)) for r in ordered)
    )


def _made(kind: int, data: bytes) -> PackedObject:
    id = hashlib.sha1(b"%b %d\0" % (_KINDS[kind], len(data)) + data, usedforsecurity=False).hexdigest()
    return PackedObject(id, _size(kind, len(data)) + zlib.compress(data, _LEVEL))


def _size(kind: int, size: int) -> bytes:
    """An object's head in a pack: its kind and size, seven bits a byte, the lowest first."""
    head, size = [kind << 4 | size & 15], size >> 4
    while size:
        head[-1] |= 128
        head.append(size & 127)
        size >>= 7
    return bytes(head)


class Pack:
    """Objects on their way: none of them is there before all are."""

    def __init__(self, body: IO[bytes]) -> None:
        self._body = body
        self._body.write(bytes(_HEAD))
        self._ids = set[str]()

    def add(self, made: Iterable[PackedObject]) -> None:
        """Take objects; each counts once."""
        for one in made:
            if one.id not in self._ids:
                self._ids.add(one.id)
                self._body.write(one.packed)

    def keep(self, git: Git) -> None:
        """Put them in place. GitcfgError: git finds that one of them is not as it should be."""
        if not self._ids:
            return
        self._body.seek(0)
        self._body.write(b"PACK" + (2).to_bytes(4) + len(self._ids).to_bytes(4))
        self._body.seek(0)
        digest = hashlib.sha1(usedforsecurity=False)
        while block := self._body.read(_BLOCK):
            digest.update(block)
        self._body.write(digest.digest())
        self._body.flush()
        os.lseek(self._body.fileno(), 0, os.SEEK_SET)
        # --strict: git judges the names in folders, too; one that it refuses would break every clone.
        few = len(self._ids) < _FEW
        words = ["unpack-objects", "-q", "--strict"] if few else ["index-pack", "--stdin", "--strict"]
        git.say(*words, given=self._body)


@contextmanager
def open_pack(git: Git) -> Iterator[Pack]:
    """A pack in the making: a file without a name, of which nothing stays, whoever ends the program."""
    with tempfile.TemporaryFile(dir=git.folder, prefix="gitcfg-pack-") as body:
        yield Pack(body)


def find_reserved(path: str) -> str:
    """The part of a path that git keeps for itself on some system, whatever is in it; "": none."""
    return next((part for part in path.split("/") if _OWN.fullmatch(part)), "")


_OWN = re.compile(r"\.git[ .]*(:.*)?|git~1[ .]*(:.*)?", re.IGNORECASE)


def pack_folders(files: Mapping[str, tuple[bytes, str]]) -> Iterator[PackedObject]:
    """The folders in which files are, by path (`/etc/x`) to mode and id; the outermost comes last."""
    rows: list[Row] = []
    below: dict[str, dict[str, tuple[bytes, str]]] = {}
    for path, what in files.items():
        name, _, rest = path[1:].partition("/")
        if rest:
            below.setdefault(name, {})["/" + rest] = what
        else:
            rows.append(Row(name, *what))
    for name, inner in below.items():
        folders = list(pack_folders(inner))
        yield from folders
        rows.append(Row(name, FOLDER_MODE, folders[-1].id))
    yield pack_tree(rows)
