"""features/**/*.yaml and groups/**/*.yaml, and the `files:` of any definition."""

from collections.abc import Mapping
from typing import Any

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
from gitcfg.load.document import Document, place
from gitcfg.load.parts import NONE, bindings, description, listed, names
from gitcfg.model import Feature, FileEntry, Group, Origin, Ref
from gitcfg.model.names import NAME

CONTENTS = ("format", "template", "text", "source")


def files(doc: Document) -> Mapping[str, FileEntry]:
    """Return the file entries of a document, by path."""
    given = doc.value.get("files")
    if not given:
        return NONE
    pairs = zip(doc.top["files"].value, given.items(), strict=True)
    return {path: _file(doc.file, path, entry, *nodes) for nodes, (path, entry) in pairs}


def _file(file: str, path: str, entry: Mapping[str, Any] | None, key: Any, node: Any) -> FileEntry:
    origin = place(file, key)
    if entry is None:
        return FileEntry(path, origin, (), removed=True)
    said = {inner.value: value for inner, value in node.value}
    params = entry.get("params", ())
    tags = params.get("tags", ()) if isinstance(params, dict) else ()
    return FileEntry(
        path,
        origin,
        tuple(key for key in CONTENTS if key in entry),
        format=entry.get("format"),
        params=() if isinstance(params, dict) else tuple(params),
        tags=tuple(tags),
        template=_ref(file, said.get("template")),
        text=entry.get("text"),
        source=_ref(file, said.get("source")),
        mode=entry.get("mode", "0644"),
        owner=entry.get("owner", "root"),
        group=entry.get("group", "root"),
        mode_said="mode" in entry,
    )


def _ref(file: str, node: Any) -> Ref | None:
    return None if node is None else Ref(node.value, place(file, node))


# features/**/*.yaml and groups/**/*.yaml: one definition a file.


class _Packed(msgspec.Struct, frozen=True, array_like=True):
    """A feature, or a group, whose features are what it includes."""

    description: str
    include: list[UseRow]
    params: list[BindingRow]
    files: list[FileRow]
    depends: list[RefRow] = []
    conflicts: list[RefRow] = []
    after: list[RefRow] = []


def load_features(reading: Reading) -> dict[str, Feature]:
    """Return every feature by name."""
    return taken(reading, FEATURES)


def load_groups(reading: Reading) -> dict[str, Group]:
    """Return every group by name."""
    return taken(reading, GROUPS)


def _feature(reading: Reading, doc: Document, name: str) -> Feature:
    if doc.value.get("resources"):
        message = "`resources` is not supported by this version."
        reading.report("GC105", "resources", message, doc.key("resources"))
    return Feature(
        name,
        Origin(doc.file),
        description(doc),
        include=listed(reading, doc, "include"),
        depends=names(reading, doc, "depends"),
        conflicts=names(reading, doc, "conflicts"),
        after=names(reading, doc, "after"),
        params=bindings(reading, doc),
        files=files(doc),
    )


def _pack_feature(said: Feature) -> _Packed:
    return _Packed(
        *(said.description, pack_uses(said.include), pack_bindings(said.params), pack_files(said.files)),
        *map(pack_refs, (said.depends, said.conflicts, said.after)),
    )


def _unpack_feature(packed: _Packed, name: str, origin: Origin) -> Feature:
    file = origin.file
    return Feature(
        name,
        origin,
        packed.description,
        unpack_uses(file, packed.include),
        unpack_refs(file, packed.depends),
        unpack_refs(file, packed.conflicts),
        unpack_refs(file, packed.after),
        unpack_bindings(file, packed.params),
        unpack_files(file, packed.files),
    )


def _group(reading: Reading, doc: Document, name: str) -> Group:
    return Group(
        name,
        Origin(doc.file),
        description(doc),
        features=listed(reading, doc, "features"),
        params=bindings(reading, doc),
        files=files(doc),
    )


def _pack_group(said: Group) -> _Packed:
    params = pack_bindings(said.params)
    return _Packed(said.description, pack_uses(said.features), params, pack_files(said.files))


def _unpack_group(packed: _Packed, name: str, origin: Origin) -> Group:
    return Group(
        name,
        origin,
        packed.description,
        unpack_uses(origin.file, packed.include),
        unpack_bindings(origin.file, packed.params),
        unpack_files(origin.file, packed.files),
    )


FEATURES: Kind[Feature] = Kind(
    "features", "feature", NAME, _feature, Feature, _Packed, _pack_feature, _unpack_feature
)
GROUPS: Kind[Group] = Kind("groups", "group", NAME, _group, Group, _Packed, _pack_group, _unpack_group)
