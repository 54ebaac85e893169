"""holds/**/*.yaml: nodes that are pinned to a commit for some time."""

from datetime import date

import msgspec

from gitcfg.load.document import Document
from gitcfg.load.kind import Kind
from gitcfg.load.packed import RefRow, pack_refs, unpack_refs
from gitcfg.load.reading import Reading
from gitcfg.load.terms import NEVER, chosen, until
from gitcfg.model import Hold, Origin, Ref, Settings
from gitcfg.model.names import NAME


class _Packed(msgspec.Struct, frozen=True, array_like=True):
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

    return Kind("holds", "hold", NAME, build, empty, _Packed, _pack, _unpack)


def _pack(said: Hold) -> _Packed:
    place, until_at = (at or said.origin for at in (said.place, said.until_at))
    return _Packed(
        said.reason,
        said.until,
        pack_refs([said.commit])[0],
        said.members,
        (place.line, place.column),
        (until_at.line, until_at.column),
        pack_refs([said.where])[0] if said.where is not None else None,
    )


def _unpack(packed: _Packed, name: str, origin: Origin) -> Hold:
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
