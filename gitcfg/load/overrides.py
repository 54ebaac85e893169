"""overrides/**/*.yaml: what holds for some nodes for some time."""

from datetime import date

import msgspec

from gitcfg.load.document import Document
from gitcfg.load.files import files
from gitcfg.load.kind import Kind
from gitcfg.load.nodesets import node_names
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
from gitcfg.model import Origin, Override, Ref, Settings
from gitcfg.model.names import NAME

NEVER = date.max


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
    where = doc.value.get("where")
    place = doc.at("nodes" if where is None else "where")
    nodes = doc.value.get("nodes")
    return Override(
        name,
        Origin(doc.file),
        str(doc.value["reason"]),
        _until(reading, doc),
        members=None if nodes is None else node_names(reading, Ref(nodes, doc.at("nodes")), most),
        place=place,
        until_at=doc.at("until"),
        where=None if where is None else Ref(where, place),
        params=bindings(reading, doc),
        features=listed(reading, doc, "features"),
        without=names(reading, doc, "without"),
        files=files(doc),
    )


def _until(reading: Reading, doc: Document) -> date:
    text = doc.value["until"]
    try:
        return date.fromisoformat(text)
    except ValueError:
        reading.report("GC102", doc.file, f"{text} is not a date.", doc.at("until"), hint="Write YYYY-MM-DD.")
        return NEVER


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
