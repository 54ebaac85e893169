"""The parts that definitions of several kinds share: bindings, feature lists, files, names."""

from collections.abc import Mapping
from typing import Any

from gitcfg.load.document import Document
from gitcfg.load.marks import Mark
from gitcfg.load.names import once
from gitcfg.load.reading import Reading
from gitcfg.model import Binding, FileEntry, Op, Origin, Ref, Use
from gitcfg.model.names import shown
from gitcfg.nodeset import NodeSetError, expand

LATER = {"$collect": "rules across nodes", "$secret": "secrets"}
MAX_INSTANCES = 10_000
CONTENTS = ("format", "template", "text", "source")
_OPS = {f"${op.value}": op for op in Op if op not in (Op.SET, Op.NULL)}


def bindings(reading: Reading, doc: Document, *path: str) -> dict[str, Binding]:
    """The `params:` that the path leads to."""
    mark = doc.mark_at(*path)
    result = {}
    for name, given in doc.get(*path).items():
        bound = binding(reading, doc.file, mark, name, given)
        if bound is not None:
            result[name] = bound
    return result


def binding(reading: Reading, file: str, mark: Mark, name: str, given: Any) -> Binding | None:
    """What a mapping says of one of its keys; None: an operation this version does not know."""
    origin = Origin(file, *mark.keys[name])
    below = mark.values[name]
    at = Origin(file, below.line, below.column)
    if isinstance(given, dict) and len(given) == 1:
        word = next(iter(given))
        if word in LATER:
            message = f"{word} belongs to {LATER[word]}, which this version does not support."
            reading.report("GC105", word, message, at)
            return None
        if word in _OPS:
            return Binding(_OPS[word], given[word], below.values[word].text, origin, at)
    if given is None:
        return Binding(Op.NULL, None, None, origin, at)
    return Binding(Op.SET, given, below.text, origin, at)


def refs(reading: Reading, doc: Document, *path: str, banned: str = "") -> tuple[Ref, ...]:
    """A list of names."""
    found = [Ref(name, doc.at(*path, index)) for index, name in enumerate(doc.get(*path))]
    return once(reading, found, banned)


def uses(reading: Reading, doc: Document, *path: str) -> tuple[Use, ...]:
    """A list of features, plain or as instances; instances are listed one by one, highest first."""
    result: dict[tuple[str, str | None], Use] = {}
    for index, item in enumerate(doc.get(*path)):
        for use in _use(reading, doc, item, (*path, index)):
            key = (use.feature, use.instance)
            if key in result:
                name = use.feature if use.instance is None else f"{use.feature} as {use.instance}"
                message = f"{shown(name)} stands twice in this list."
                reading.report("GC103", use.feature, message, use.origin, result[key].origin)
            else:
                result[key] = use
    return tuple(result.values())


def _use(reading: Reading, doc: Document, item: Any, path: tuple[str | int, ...]) -> list[Use]:
    if isinstance(item, str):
        return [Use(item, doc.at(*path))]
    origin = doc.at(*path, "feature")
    attributes = _attributes(doc, item.get("with", {}), (*path, "with"))
    if "as" not in item:
        return [Use(item["feature"], origin, None, attributes)]
    names = instance_names(reading, item["as"], doc.at(*path, "as"))
    return [Use(item["feature"], origin, name, attributes) for name in names]


def _attributes(doc: Document, given: Mapping[str, Any], path: tuple[str | int, ...]) -> dict[str, Binding]:
    result = {}
    for name, value in given.items():
        at = doc.at(*path, name)
        result[name] = Binding(Op.SET, value, doc.mark_at(*path, name).text, at, at)
    return result


def instance_names(reading: Reading, text: str, origin: Origin) -> tuple[str, ...]:
    """The instances that `as` names; one that holds `${` is left for its outer instance to say."""
    if "${" in text:
        return (text,)
    try:
        return expand(text, MAX_INSTANCES)
    except NodeSetError as error:
        reading.report("GC103", text, f"{shown(text)!r} names no instances: {error}.", origin)
        return ()


def files(doc: Document, *path: str) -> dict[str, FileEntry]:
    """The `files:` that the path leads to."""
    return {name: _file(doc, name, entry, (*path, name)) for name, entry in doc.get(*path).items()}


def _file(doc: Document, name: str, entry: Mapping[str, Any] | None, path: tuple[str, ...]) -> FileEntry:
    origin = doc.key(*path)
    if entry is None:
        return FileEntry(name, origin, (), removed=True)
    params = entry.get("params", ())
    tags = params.get("tags", ()) if isinstance(params, dict) else ()
    return FileEntry(
        name,
        origin,
        tuple(key for key in CONTENTS if key in entry),
        format=entry.get("format"),
        params=() if isinstance(params, dict) else tuple(params),
        tags=tuple(tags),
        template=_ref(doc, entry, path, "template"),
        text=entry.get("text"),
        source=_ref(doc, entry, path, "source"),
        mode=entry.get("mode", "0644"),
        owner=entry.get("owner", "root"),
        group=entry.get("group", "root"),
    )


def _ref(doc: Document, entry: Mapping[str, Any], path: tuple[str, ...], key: str) -> Ref | None:
    return Ref(entry[key], doc.at(*path, key)) if key in entry else None


def description(doc: Document) -> str:
    """The definition's description, as text."""
    return str(doc.value.get("description") or "")
