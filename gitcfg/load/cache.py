"""The cache of parsed definitions, in packs; the key of a body is its file's path and content."""

from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any, Protocol, TypeVar
from zlib import crc32

import msgspec

from gitcfg.git.tree import Entry
from gitcfg.model import Settings

R = TypeVar("R")
S = TypeVar("S")

_FORMAT = 3
"""Increase it when the packed form of bodies changes, so that versions of the program do not share them."""
_A_SHARD = 2048  # files: 0.5 MB of plain nodes, which are rewritten when one of them changes
_MOST_SHARDS = 64
_REST = 1 << 16  # bytes that a shard may always have of other versions of the repository

Body = bytes | memoryview
"""The encoded content of a file, as bytes within the shard: its end is known without decoding it."""


class Keeper(Protocol):
    """A store of answers by question: the cache, or a dictionary. It may drop any of them."""

    def get(self, question: str, kind: type[R]) -> R | None:
        """Return the stored answer to a question, or None."""
        ...

    def put(self, question: str, answer: Any) -> None:
        """Store an answer."""
        ...


class Pack:
    """The bodies of a folder's files, in shards that are fetched when needed."""

    def __init__(self, keeper: Keeper | None, question: str, entries: Iterable[Entry]) -> None:
        self.keeper = keeper
        self._question = question
        self._entries = tuple(entries)
        self._count = 1
        while self._count * _A_SHARD < len(self._entries) and self._count < _MOST_SHARDS:
            self._count *= 2
        self._shards: dict[int, Mapping[str, Body]] = {}

    def get(self, entry: Entry, decoder: msgspec.msgpack.Decoder[R]) -> R | None:
        """Return the decoded body of a file, or None if it is not here or not valid."""
        body = self._shard(self._number(entry)).get(_key(entry))
        try:
            return None if body is None else decoder.decode(body)
        except ValueError:
            return None

    def holds(self, entry: Entry, word: bytes) -> bool | None:
        """Return whether a word occurs in the packed body of a file, or None if the body is not here."""
        body = self._shard(self._number(entry)).get(_key(entry))
        return None if body is None else word in bytes(body)

    def keep(self, fresh: Iterable[tuple[Entry, S]], packed: Callable[[S], Any]) -> None:
        """Store the bodies of files that had to be read.

        Call it after the whole folder was read; the pack is not read again. Bodies that msgpack cannot encode
        (very large integers) are left out, and their files are parsed each time.
        """
        if self.keeper is not None:
            added: dict[int, list[tuple[Entry, S]]] = {}
            for entry, loaded in fresh:
                added.setdefault(self._number(entry), []).append((entry, loaded))
            current = {_key(entry) for entry in self._entries} if added else frozenset[str]()
            for number, found in added.items():
                bodies = {_key(entry): _encode(packed(loaded)) for entry, loaded in found}
                whole = {key: body for key, body in bodies.items() if body is not None}
                if whole:
                    self._put(self.keeper, number, whole, current)
        self._shards = {}

    def _put(self, keeper: Keeper, number: int, bodies: dict[str, Body], current: Set[str]) -> None:
        """Write a shard with the bodies of this tree, and the latest of other trees as far as they fit.

        The limit for the others is the size of this tree's bodies, so that switching between two commits does
        not parse files again.
        """
        old = self._shard(number)
        now = {key: body for key, body in old.items() if key in current} | bodies
        left = max(_REST, sum(map(len, now.values())))
        for key, body in old.items():
            left -= len(body) if key not in now else 0
            if left < 0:
                break
            now.setdefault(key, body)
        keeper.put(self._shard_question(number), now)

    def _shard(self, number: int) -> Mapping[str, Body]:
        if number not in self._shards:
            found = (
                self.keeper.get(self._shard_question(number), dict[str, memoryview]) if self.keeper else None
            )
            self._shards[number] = found or {}
        return self._shards[number]

    def _shard_question(self, number: int) -> str:
        return f"{self._question} {number}/{self._count}"

    def _number(self, entry: Entry) -> int:
        return crc32(entry.path.encode("utf-8", "surrogatepass")) & (self._count - 1)


class Packs(msgspec.Struct, frozen=True):
    """The packs of a tree that is read with these settings; without a keeper nothing is stored."""

    keeper: Keeper | None
    settings: Settings

    def of(self, folder: str, entries: Iterable[Entry]) -> Pack:
        """Return the pack of a kind's folder.

        The question includes the settings that definitions depend on besides their files.
        """
        read_by = f"{self.settings.max_nodes} {self.settings.default_group}"
        return Pack(self.keeper, f"load {_FORMAT} {folder} {read_by}", entries)


def _key(entry: Entry) -> str:
    return f"{entry.id} {entry.path}"


def _encode(packed: Any) -> Body | None:
    try:
        return msgspec.msgpack.encode(packed)
    except (OverflowError, ValueError):
        return None
