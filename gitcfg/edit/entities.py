"""What the files of a repository say, by entity and key: lines, order and comments do not count."""

from collections.abc import Mapping
from typing import Any

import msgspec

from gitcfg.edit.kinds import KINDS, Kind
from gitcfg.load.document import parse

Key = tuple[str, ...]
"""Where in an entity something is said; the whole entity, if it is empty."""
Entity = Mapping[Key, Any]

_KINDS = {kind.folder: kind for kind in KINDS.values()}
_TEXTS = {"templates": "template", "files": "file"}
_MAPPINGS = {key for kind in KINDS.values() for key in kind.maps}
"""Keys under which every entry counts by itself."""
WHOLE: Key = ()
ABSENT = "\0absent"
"""What is said of nothing: no document holds a NUL."""


def read_entities(path: str, data: bytes | None) -> dict[str, Entity]:
    """What each entity of a file says, key by key; what cannot be read says only its text."""
    if data is None:
        return {}
    folder, _, rest = path.partition("/")
    kind = _kind(folder)
    if kind is not None and rest.endswith(".yaml"):
        name = rest.rpartition("/")[2].removesuffix(".yaml")
        return _sheet(path, data, kind) if kind.sheet else {f"{kind.name}/{name}": _said(path, data)}
    if folder in _TEXTS and rest:
        return {f"{_TEXTS[folder]}/{rest}": _text(data)}
    return {f"path/{path}": _text(data)}


def path_in_file(path: str, entity: str, key: Key) -> Key:
    """Where in its file something is said: keys from the top on."""
    kind = _kind(path.partition("/")[0])
    word, _, name = entity.partition("/")
    return (kind.sheet, name, *key) if kind is not None and kind.sheet and word == kind.name else key


def _kind(folder: str) -> Kind | None:
    return _KINDS.get(folder)


def is_alike(one: Any, other: Any) -> bool:
    """Do two values mean the same? `1` and `true` do not, although Python takes them for equal."""
    return bool(one == other) and _form(one) == _form(other)


def _form(value: Any) -> bytes:
    return msgspec.json.encode(value, order="deterministic")


def _sheet(path: str, data: bytes, kind: Kind) -> dict[str, Entity]:
    value = parse(path, data).value
    named = value.get(kind.sheet) if isinstance(value, dict) else None
    if not isinstance(named, dict):
        return {f"path/{path}": _text(data)}
    found: dict[str, Entity] = {f"{kind.name}/{name}": _flat(said) for name, said in named.items()}
    rest = {key: said for key, said in value.items() if key != kind.sheet}
    return {**found, f"path/{path}": _flat(rest)} if rest else found


def _said(path: str, data: bytes) -> Entity:
    document = parse(path, data)
    return _text(data) if document.value is None and data.strip() else _flat(document.value)


def _text(data: bytes) -> Entity:
    return {WHOLE: data}


def _flat(value: Any) -> Entity:
    """A definition's entries: those of parameters, files and facts by name, items of lists each by itself."""
    if not isinstance(value, dict):
        return {WHOLE: value} if value is not None else {}
    found: dict[Key, Any] = {}
    for key, said in value.items():
        if key in _MAPPINGS and (said is None or isinstance(said, dict)):
            found.update({(key, name): inner for name, inner in (said or {}).items()})
        else:
            found[(key,)] = said
    return found
