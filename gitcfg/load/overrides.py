"""overrides/**/*.yaml: what holds for some nodes for some time."""

from datetime import date

import msgspec

from gitcfg.load.document import Document
from gitcfg.load.files import files
from gitcfg.load.kind import Kind
from gitcfg.load.packed import (
    BindingRow,
    FileRow,
    RefRow,
    UseRow,
    pack_bindings,
    pack_files,
    pack_refs,
    pack_uses,
    unpack_bindings,
    unpack_files,
    unpack_refs,
    unpack_uses,
)
from gitcfg.load.parts import bindings, listed, names
from gitcfg.load.reading import Reading
from gitcfg.load.shelf import taken
from gitcfg.load.terms import NEVER, chosen, until
from gitcfg.model import Origin, Override, Settings
from gitcfg.model.names import NAME


class _Packed(msgspec.Struct, frozen=True, array_like=True):
    """An override; parts that hold its file's path are rows."""

    reason: str
    until: date
    members: tuple[str, ...] | None
    place: tuple[int, int]
    until_at: tuple[int, int]
    where: RefRow | None
    params: list[BindingRow]
    features: list[UseRow]
    without: list[RefRow]
    files: list[FileRow]


def load_overrides(reading: Reading, settings: Settings) -> dict[str, Override]:
    """Every override by name."""
    return taken(reading, overrides_kind(settings))


def overrides_kind(settings: Settings) -> Kind[Override]:
    """Overrides, of which each may name as many nodes as there may be."""

    def build(reading: Reading, doc: Document, name: str) -> Override:
        return _override(reading, doc, name, settings.max_nodes)

    def empty(name: str, origin: Origin) -> Override:
        return Override(name, origin, "", NEVER, members=())

    return Kind("overrides", "override", NAME, build, empty, _Packed, _pack, _unpack)


def _override(reading: Reading, doc: Document, name: str, most: int) -> Override:
    members, where, place = chosen(reading, doc, most)
    return Override(
        name,
        Origin(doc.file),
        str(doc.value["reason"]),
        until(reading, doc),
        members=members,
        place=place,
        until_at=doc.at("until"),
        where=where,
        params=bindings(reading, doc),
        features=listed(reading, doc, "features"),
        without=names(reading, doc, "without"),
        files=files(doc),
    )


def _pack(said: Override) -> _Packed:
    place, until_at = (at or said.origin for at in (said.place, said.until_at))
    return _Packed(
        said.reason,
        said.until,
        said.members,
        (place.line, place.column),
        (until_at.line, until_at.column),
        pack_refs([said.where])[0] if said.where is not None else None,
        pack_bindings(said.params),
        pack_uses(said.features),
        pack_refs(said.without),
        pack_files(said.files),
    )


def _unpack(packed: _Packed, name: str, origin: Origin) -> Override:
    file = origin.file
    return Override(
        name,
        origin,
        packed.reason,
        packed.until,
        packed.members,
        Origin(file, *packed.place),
        Origin(file, *packed.until_at),
        unpack_refs(file, [packed.where])[0] if packed.where is not None else None,
        unpack_bindings(file, packed.params),
        unpack_uses(file, packed.features),
        unpack_refs(file, packed.without),
        unpack_files(file, packed.files),
    )
