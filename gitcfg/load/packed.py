"""The parts of definitions as packs hold them: rows without the file's path, which is the same for all."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from sys import intern
from typing import Any

import msgspec

from gitcfg.load.parts import NONE
from gitcfg.model import Binding, FileEntry, Op, Origin, Ref, Use

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
    """Names as rows."""
    return [_ref_row(ref) for ref in refs]


def unpack_refs(file: str, rows: Iterable[RefRow]) -> tuple[Ref, ...]:
    """The names that rows hold."""
    return tuple([Ref(intern(name), Origin(file, line, column)) for name, line, column in rows])


def pack_bindings(params: Mapping[str, Binding]) -> list[BindingRow]:
    """Bindings as rows."""
    return [
        (name, said.op, said.given, said.text, *_place(said.origin), *_place(said.at))
        for name, said in params.items()
    ]


def unpack_bindings(file: str, rows: list[BindingRow]) -> Mapping[str, Binding]:
    """The bindings that rows hold."""
    if not rows:
        return NONE
    return {
        intern(name): Binding(op, given, text, Origin(file, line, column), Origin(file, lower, further))
        for name, op, given, text, line, column, lower, further in rows
    }


def pack_uses(uses: Iterable[Use]) -> list[UseRow]:
    """Features as rows: the instances that were written as one stay one."""
    rows: list[UseRow] = []
    for (feature, origin), found in groupby(uses, lambda use: (use.feature, use.origin)):
        same = list(found)
        instances = [use.instance for use in same]
        rows.append((feature, *_place(origin), instances, pack_bindings(same[0].attributes)))
    return rows


def unpack_uses(file: str, rows: Iterable[UseRow]) -> tuple[Use, ...]:
    """The features that rows hold."""
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
    """The file entries that rows hold."""
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
