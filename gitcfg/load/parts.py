"""Parts of definitions of several kinds, from documents and packs: bindings, names, features, files."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from sys import intern
from typing import Any

import msgspec

from gitcfg.load.document import Document, place, source
from gitcfg.load.loader import Loader
from gitcfg.model import Binding, FileEntry, Op, Origin, Ref, Use
from gitcfg.model.names import shown
from gitcfg.nodeset import NodeSetError, expand

MAX_INSTANCES = 10_000
MAX_LISTED = 100_000
NONE: Mapping[str, Any] = {}
"""Shared by all definitions for parts that they do not have."""
_OPS = {f"${op.value}": op for op in Op if op not in (Op.SET, Op.NULL)}
_CONTENTS = ("format", "template", "text", "source")


def read_description(doc: Document) -> str:
    """Return the definition's description, as text."""
    return str(doc.value.get("description") or "")


def read_params(doc: Document) -> Mapping[str, Binding]:
    """Return the bindings under `params`."""
    given = doc.value.get("params")
    return read_bindings(doc.file, doc.top["params"], given) if given else NONE


def read_bindings(file: str, node: Any, given: Mapping[str, Any]) -> Mapping[str, Binding]:
    """Return the bindings in a mapping, by parameter."""
    result: dict[str, Binding] = {}
    for (name, inner), (param, value) in zip(node.value, given.items(), strict=True):
        result[intern(param)] = read_binding(file, name, inner, value)
    return result


def read_binding(file: str, key: Any, node: Any, given: Any) -> Binding:
    """Return the binding at a key. A map whose key is not an operation is a value."""
    origin = place(file, key)
    at = place(file, node)
    if type(given) is dict and len(given) == 1:
        (word,) = given
        if word in _OPS:
            text = source(node.value[0][1], given[word])
            return Binding(_OPS[word], given[word], text, origin, at)
    if given is None:
        return Binding(Op.NULL, None, None, origin, at)
    return Binding(Op.SET, given, source(node, given), origin, at)


def read_refs(loader: Loader, file: str, node: Any, given: list[str], banned: str = "") -> tuple[Ref, ...]:
    """Return a list of names, each once. Report repeated names and the banned one."""
    found = []
    for item in node.value:
        mark = item.start_mark  # `place` inlined: the call takes a third of the time
        found.append(Ref(intern(item.value), Origin(file, mark.line + 1, mark.column + 1)))
    sound = len(set(given)) == len(given) and banned not in given
    return tuple(found if sound else _drop_repeated(loader, found, banned))


def _drop_repeated(loader: Loader, refs: Iterable[Ref], banned: str) -> Iterable[Ref]:
    result: dict[str, Ref] = {}
    for ref in refs:
        if ref.name in result:
            message = f"{shown(ref.name)} is in this list twice."
            loader.report("GC103", ref.name, message, ref.origin, result[ref.name].origin)
        elif banned and ref.name == banned:
            message = f"{ref.name} is the default group: every node is a member of it."
            loader.report("GC103", ref.name, message, ref.origin, hint="Take it out of the list.")
        else:
            result[ref.name] = ref
    return result.values()


def read_names(loader: Loader, doc: Document, key: str) -> tuple[Ref, ...]:
    """Return the names under a key of a document."""
    return read_refs(loader, doc.file, doc.top[key], doc.value[key]) if key in doc.top else ()


def read_features(loader: Loader, doc: Document, key: str) -> tuple[Use, ...]:
    """Return the features under a key of a document."""
    return read_uses(loader, doc.file, doc.top[key], doc.value[key]) if key in doc.top else ()


def read_uses(loader: Loader, file: str, node: Any, given: list[Any]) -> tuple[Use, ...]:
    """Return a list of features, plain or as instances; instances are listed one by one, highest first."""
    result: dict[tuple[str, str | None], Use] = {}
    for inner, item in zip(node.value, given, strict=True):
        if len(result) > MAX_LISTED:
            message = f"The list installs more than {MAX_LISTED:,} instances."
            at = place(file, inner)
            loader.report("GC103", str(file), message, at, hint="List fewer, or divide them among groups.")
            break
        for use in _read_item(loader, file, inner, item):
            key = (use.feature, use.instance)
            if key in result:
                name = use.feature if use.instance is None else f"{use.feature} as {use.instance}"
                message = f"{shown(name)} is in this list twice."
                loader.report("GC103", use.feature, message, use.origin, result[key].origin)
            else:
                result[key] = use
    return tuple(result.values())


def _read_item(loader: Loader, file: str, node: Any, item: Any) -> tuple[Use, ...]:
    if isinstance(item, str):
        return (Use(intern(item), place(file, node), None, NONE),)
    nodes = {key.value: value for key, value in node.value}
    origin = place(file, nodes["feature"])
    attributes = _read_attributes(file, nodes["with"], item["with"]) if "with" in item else NONE
    if "as" not in item:
        return (Use(item["feature"], origin, None, attributes),)
    names = _instance_names(loader, item["as"], place(file, nodes["as"]))
    return tuple(Use(item["feature"], origin, name, attributes) for name in names)


def _read_attributes(file: str, node: Any, given: Mapping[str, Any]) -> dict[str, Binding]:
    result = {}
    for (_, inner), (name, value) in zip(node.value, given.items(), strict=True):
        at = place(file, inner)
        result[name] = Binding(Op.SET, value, source(inner, value), at, at)
    return result


def _instance_names(loader: Loader, text: str, at: Origin) -> tuple[str, ...]:
    """Return the instances that `as` names.

    A text with `${` stays as it is, for the outer instance to fill in.
    """
    if "${" in text:
        return (text,)
    try:
        return expand(text, MAX_INSTANCES)
    except NodeSetError as error:
        loader.report("GC103", text, f"{shown(text)!r} names no instances: {error}.", at)
        return ()


def read_files(doc: Document) -> Mapping[str, FileEntry]:
    """Return the file entries of a document, by path."""
    given = doc.value.get("files")
    if not given:
        return NONE
    pairs = zip(doc.top["files"].value, given.items(), strict=True)
    return {path: _read_file(doc.file, path, entry, *nodes) for nodes, (path, entry) in pairs}


def _read_file(file: str, path: str, entry: Mapping[str, Any] | None, key: Any, node: Any) -> FileEntry:
    origin = place(file, key)
    if entry is None:
        return FileEntry(path, origin, (), removed=True)
    nodes = {inner.value: value for inner, value in node.value}
    params = entry.get("params", ())
    template, text_source = (
        Ref(nodes[name].value, place(file, nodes[name])) if name in nodes else None
        for name in ("template", "source")
    )
    return FileEntry(
        path,
        origin,
        tuple(key for key in _CONTENTS if key in entry),
        format=entry.get("format"),
        params=() if isinstance(params, dict) else tuple(params),
        tags=tuple(params.get("tags", ())) if isinstance(params, dict) else (),
        template=template,
        text=entry.get("text"),
        source=text_source,
        mode=entry.get("mode", "0644"),
        owner=entry.get("owner", "root"),
        group=entry.get("group", "root"),
        mode_said="mode" in entry,
    )


# The same parts in packs: rows without the file's path, which is the same for all.

RefRow = tuple[str, int, int]
"""A name, line and column."""
BindingRow = tuple[str, Op, Any, str | None, int, int, int, int]
"""A parameter, its operation, value and text, and line and column of its name and of its value."""
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


def pack_ref(ref: Ref | None) -> RefRow | None:
    """Return a name as a row, or None."""
    return None if ref is None else (ref.name, ref.origin.line, ref.origin.column)


def unpack_ref(file: str, row: RefRow | None) -> Ref | None:
    """Return the name of a row, or None."""
    return None if row is None else Ref(intern(row[0]), Origin(file, row[1], row[2]))


def pack_refs(refs: Iterable[Ref]) -> list[RefRow]:
    """Return names as rows."""
    return [(ref.name, ref.origin.line, ref.origin.column) for ref in refs]


def unpack_refs(file: str, rows: Iterable[RefRow]) -> tuple[Ref, ...]:
    """Return the names of rows."""
    return tuple([Ref(intern(name), Origin(file, line, column)) for name, line, column in rows])


def pack_bindings(params: Mapping[str, Binding]) -> list[BindingRow]:
    """Return bindings as rows."""
    return [
        (name, bound.op, bound.given, bound.text, *_position(bound.origin), *_position(bound.at))
        for name, bound in params.items()
    ]


def unpack_bindings(file: str, rows: list[BindingRow]) -> Mapping[str, Binding]:
    """Return the bindings of rows."""
    if not rows:
        return NONE
    return {
        intern(name): Binding(op, given, text, Origin(file, line, column), Origin(file, lower, further))
        for name, op, given, text, line, column, lower, further in rows
    }


def pack_uses(uses: Iterable[Use]) -> list[UseRow]:
    """Return features as rows. Instances that were written as one entry are one row."""
    rows: list[UseRow] = []
    for (feature, origin), found in groupby(uses, lambda use: (use.feature, use.origin)):
        same = list(found)
        instances = [use.instance for use in same]
        rows.append((feature, *_position(origin), instances, pack_bindings(same[0].attributes)))
    return rows


def unpack_uses(file: str, rows: Iterable[UseRow]) -> tuple[Use, ...]:
    """Return the features of rows."""
    result: list[Use] = []
    for feature, line, column, instances, rows_of_attributes in rows:
        name, origin = intern(feature), Origin(file, line, column)
        attributes = unpack_bindings(file, rows_of_attributes)
        result += [Use(name, origin, instance, attributes) for instance in instances]
    return tuple(result)


def pack_files(files: Mapping[str, FileEntry]) -> list[FileRow]:
    """Return file entries as rows."""
    return [
        FileRow(
            *(path, *_position(entry.origin), entry.contents, entry.removed, entry.format, entry.params),
            *(entry.tags, pack_ref(entry.template), entry.text, pack_ref(entry.source)),
            *(entry.mode, entry.owner, entry.group, entry.mode_said),
        )
        for path, entry in files.items()
    ]


def unpack_files(file: str, rows: list[FileRow]) -> Mapping[str, FileEntry]:
    """Return the file entries of rows."""
    return {row.path: _unpack_file(file, row) for row in rows} if rows else NONE


def _unpack_file(file: str, row: FileRow) -> FileEntry:
    return FileEntry(
        *(row.path, Origin(file, row.line, row.column), row.contents, row.removed, row.format),
        *(row.params, row.tags, unpack_ref(file, row.template), row.text, unpack_ref(file, row.source)),
        *(row.mode, row.owner, row.group, row.mode_said),
    )


def _position(origin: Origin) -> tuple[int, int]:
    return origin.line, origin.column
