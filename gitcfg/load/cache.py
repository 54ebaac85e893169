"""The cache of definitions as read, in packs: a definition's body by its file's path and content."""

from collections.abc import Callable, Iterable, Mapping, Set
from itertools import groupby
from sys import intern
from typing import Any, Protocol, TypeVar
from zlib import crc32

import msgspec

from gitcfg.git.tree import Entry
from gitcfg.load.parts import NONE
from gitcfg.model import Binding, FileEntry, Op, Origin, Ref, Settings, Use

R = TypeVar("R")
S = TypeVar("S")

_FORMAT = 2
"""Raise it when bodies are packed otherwise than before: two versions of the program share no answers."""
_A_SHARD = 2048  # files: 0.5 MB of plain nodes, which are written anew when one of them is different
_MOST_SHARDS = 64
_REST = 1 << 16  # bytes of what other versions of the repository say that a shard may hold in any case


Body = bytes | memoryview
"""What a file was read as, encoded, and as bytes in the shard: nothing walks through it to find its end."""


class Keeper(Protocol):
    """What keeps answers to questions: the cache, or a dictionary. It may forget whatever it likes."""

    def get(self, question: str, kind: type[R]) -> R | None:
        """Return the answer kept for a question."""
        ...

    def put(self, question: str, answer: Any) -> None:
        """Keep an answer."""
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
        """Return what a file was read as; None if its body is not here, or is none."""
        body = self._shard(self._number(entry)).get(_key(entry))
        try:
            return None if body is None else decoder.decode(body)
        except ValueError:
            return None

    def holds(self, entry: Entry, word: bytes) -> bool | None:
        """Return whether a word occurs in the packed body of a file; None if there is no body."""
        body = self._shard(self._number(entry)).get(_key(entry))
        return None if body is None else word in bytes(body)

    def keep(self, fresh: Iterable[tuple[Entry, S]], packed: Callable[[S], Any]) -> None:
        """Keep what had to be read, when all of the folder has been; the pack is not read again.

        What msgpack cannot hold (endless integers) is left out, and read again each time.
        """
        if self.keeper is not None:
            added: dict[int, list[tuple[Entry, S]]] = {}
            for entry, said in fresh:
                added.setdefault(self._number(entry), []).append((entry, said))
            current = {_key(entry) for entry in self._entries} if added else frozenset[str]()
            for number, found in added.items():
                bodies = {_key(entry): _body(packed(said)) for entry, said in found}
                whole = {key: body for key, body in bodies.items() if body is not None}
                if whole:
                    self._put(self.keeper, number, whole, current)
        self._shards = {}

    def _put(self, keeper: Keeper, number: int, bodies: dict[str, Body], current: Set[str]) -> None:
        """Write a shard anew. What is not of this tree stays, the latest first, within the size of what is.

        So nothing is read again when one goes to and fro between two commits.
        """
        old = self._shard(number)
        now = {key: body for key, body in old.items() if key in current} | bodies
        left = max(_REST, sum(map(len, now.values())))
        for key, body in old.items():
            left -= len(body) if key not in now else 0
            if left < 0:
                break
            now.setdefault(key, body)
        keeper.put(self._asked(number), now)

    def _shard(self, number: int) -> Mapping[str, Body]:
        if number not in self._shards:
            found = self.keeper.get(self._asked(number), dict[str, memoryview]) if self.keeper else None
            self._shards[number] = found or {}
        return self._shards[number]

    def _asked(self, number: int) -> str:
        return f"{self._question} {number}/{self._count}"

    def _number(self, entry: Entry) -> int:
        return crc32(entry.path.encode("utf-8", "surrogatepass")) & (self._count - 1)


class Packs(msgspec.Struct, frozen=True):
    """The packs of a tree that is read by some settings; without a keeper there are none."""

    keeper: Keeper | None
    settings: Settings

    def of(self, folder: str, entries: Iterable[Entry]) -> Pack:
        """The pack of a kind's folder. What a definition depends on beside its file is in the question."""
        told = f"{self.settings.max_nodes} {self.settings.default_group}"
        return Pack(self.keeper, f"load {_FORMAT} {folder} {told}", entries)


def _key(entry: Entry) -> str:
    return f"{entry.id} {entry.path}"


def _body(said: Any) -> Body | None:
    try:
        return msgspec.msgpack.encode(said)
    except (OverflowError, ValueError):
        return None


# The parts of definitions as packs hold them: rows without the file's path, which is the same for all.

RefRow = tuple[str, int, int]
"""A name, line and column."""
BindingRow = tuple[str, Op, Any, str | None, int, int, int, int]
"""A parameter, what is said of it, and line and column of its name and of what is said."""
UseRow = tuple[str, int, int, list[str | None], list[BindingRow]]
"""A feature, line and column, its instances (None: plain) and the attributes that they share."""


class FileRow(msgspec.Struct, frozen=True, array_like=True):
    """A file entry; `template` and `source` with their places."""

    path: str
    line: int
    column: int
    contents: tuple[str, ...]
    removed: bool
    format: str | None
    params: tuple[str, ...]
    tags: tuple[str, ...]
    template: RefRow | None
    text: str | None
    source: RefRow | None
    mode: str
    owner: str
    group: str
    mode_said: bool


def pack_refs(refs: Iterable[Ref]) -> list[RefRow]:
    """Return names as rows."""
    return [_ref_row(ref) for ref in refs]


def unpack_refs(file: str, rows: Iterable[RefRow]) -> tuple[Ref, ...]:
    """Return the names that rows hold."""
    return tuple([Ref(intern(name), Origin(file, line, column)) for name, line, column in rows])


def pack_bindings(params: Mapping[str, Binding]) -> list[BindingRow]:
    """Return bindings as rows."""
    return [
        (name, said.op, said.given, said.text, *_place(said.origin), *_place(said.at))
        for name, said in params.items()
    ]


def unpack_bindings(file: str, rows: list[BindingRow]) -> Mapping[str, Binding]:
    """Return the bindings that rows hold."""
    if not rows:
        return NONE
    return {
        intern(name): Binding(op, given, text, Origin(file, line, column), Origin(file, lower, further))
        for name, op, given, text, line, column, lower, further in rows
    }


def pack_uses(uses: Iterable[Use]) -> list[UseRow]:
    """Return features as rows: the instances that were written as one stay one."""
    rows: list[UseRow] = []
    for (feature, origin), found in groupby(uses, lambda use: (use.feature, use.origin)):
        same = list(found)
        instances = [use.instance for use in same]
        rows.append((feature, *_place(origin), instances, pack_bindings(same[0].attributes)))
    return rows


def unpack_uses(file: str, rows: Iterable[UseRow]) -> tuple[Use, ...]:
    """Return the features that rows hold."""
    result: list[Use] = []
    for feature, line, column, instances, attributes in rows:
        name, origin, said = intern(feature), Origin(file, line, column), unpack_bindings(file, attributes)
        result += [Use(name, origin, instance, said) for instance in instances]
    return tuple(result)


def pack_files(files: Mapping[str, FileEntry]) -> list[FileRow]:
    """File entries as rows."""
    return [
        FileRow(
            *(path, *_place(said.origin), said.contents, said.removed, said.format, said.params, said.tags),
            *(_maybe(said.template), said.text, _maybe(said.source), said.mode, said.owner, said.group),
            said.mode_said,
        )
        for path, said in files.items()
    ]


def unpack_files(file: str, rows: list[FileRow]) -> Mapping[str, FileEntry]:
    """Return the file entries that rows hold."""
    return {row.path: _entry(file, row) for row in rows} if rows else NONE


def _entry(file: str, row: FileRow) -> FileEntry:
    template, source = (unpack_refs(file, [said] if said else []) for said in (row.template, row.source))
    return FileEntry(
        *(row.path, Origin(file, row.line, row.column), row.contents, row.removed, row.format),
        *(row.params, row.tags, template[0] if template else None, row.text),
        *(source[0] if source else None, row.mode, row.owner, row.group),
        row.mode_said,
    )


def _place(origin: Origin) -> tuple[int, int]:
    return origin.line, origin.column


def _ref_row(ref: Ref) -> RefRow:
    return ref.name, ref.origin.line, ref.origin.column


def _maybe(ref: Ref | None) -> RefRow | None:
    return None if ref is None else _ref_row(ref)
