"""overrides/**/*.yaml and holds/**/*.yaml: for which nodes something holds, why, and until when."""

from datetime import date

import msgspec

from gitcfg.load.cache import (
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
from gitcfg.load.collections import Kind, taken
from gitcfg.load.context import Reading
from gitcfg.load.document import Document
from gitcfg.load.features import files
from gitcfg.load.nodes import node_names
from gitcfg.load.parts import bindings, listed, names
from gitcfg.model import Hold, Origin, Override, Ref, Settings
from gitcfg.model.names import NAME

NEVER = date.max


def until(reading: Reading, doc: Document) -> date:
    """Return the last day."""
    return day(reading, doc, doc.value["until"], doc.at("until"))


def day(reading: Reading, doc: Document, text: str, at: Origin) -> date:
    """Return a day as it is written; what is none is GC102, and far away."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        reading.report("GC102", doc.file, f"{text} is not a date.", at, hint="Write YYYY-MM-DD.")
        return NEVER


def chosen(reading: Reading, doc: Document, most: int) -> tuple[tuple[str, ...] | None, Ref | None, Origin]:
    """Return the nodes that are named, or the condition that they fulfil, and where it stands."""
    where, nodes = doc.value.get("where"), doc.value.get("nodes")
    place = doc.at("nodes" if where is None else "where")
    members = None if nodes is None else node_names(reading, Ref(nodes, doc.at("nodes")), most)
    return members, None if where is None else Ref(where, place), place


# overrides/**/*.yaml: what holds for some nodes for some time.


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
    """Return every override by name."""
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


# holds/**/*.yaml: nodes that are pinned to a commit for some time.


class _Packed_holds(msgspec.Struct, frozen=True, array_like=True):
    """A hold; parts that hold its file's path are rows."""

    reason: str
    until: date
    commit: RefRow
    members: tuple[str, ...] | None
    place: tuple[int, int]
    until_at: tuple[int, int]
    where: RefRow | None


def holds_kind(settings: Settings) -> Kind[Hold]:
    """Holds, of which each may name as many nodes as there may be."""

    def build(reading: Reading, doc: Document, name: str) -> Hold:
        members, where, place = chosen(reading, doc, settings.max_nodes)
        return Hold(
            name,
            Origin(doc.file),
            str(doc.value["reason"]),
            until(reading, doc),
            Ref(doc.value["commit"], doc.at("commit")),
            members,
            place,
            doc.at("until"),
            where,
        )

    def empty(name: str, origin: Origin) -> Hold:
        return Hold(name, origin, "", NEVER, Ref("", origin), members=())

    return Kind("holds", "hold", NAME, build, empty, _Packed_holds, _pack_holds, _unpack_holds)


def _pack_holds(said: Hold) -> _Packed_holds:
    place, until_at = (at or said.origin for at in (said.place, said.until_at))
    return _Packed_holds(
        said.reason,
        said.until,
        pack_refs([said.commit])[0],
        said.members,
        (place.line, place.column),
        (until_at.line, until_at.column),
        pack_refs([said.where])[0] if said.where is not None else None,
    )


def _unpack_holds(packed: _Packed_holds, name: str, origin: Origin) -> Hold:
    file = origin.file
    return Hold(
        name,
        origin,
        packed.reason,
        packed.until,
        unpack_refs(file, [packed.commit])[0],
        packed.members,
        Origin(file, *packed.place),
        Origin(file, *packed.until_at),
        unpack_refs(file, [packed.where])[0] if packed.where is not None else None,
    )
