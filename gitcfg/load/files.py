"""The `files:` of a definition: what is written onto nodes."""

from collections.abc import Mapping
from typing import Any

from gitcfg.load.document import Document
from gitcfg.load.marks import place
from gitcfg.load.parts import NONE
from gitcfg.model import FileEntry, Ref

CONTENTS = ("format", "template", "text", "source")


def files(doc: Document) -> Mapping[str, FileEntry]:
    """The file entries of a document, by path."""
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
