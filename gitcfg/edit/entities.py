"""What the files of a repository say, by entity and key: lines, order and comments do not count."""

from collections.abc import Mapping
from typing import Any

from gitcfg.load.document import parse

Key = tuple[str, ...]
"""Where in an entity something is said; the whole entity, if it is empty."""
Said = Mapping[Key, Any]

_OF_FILES = {
    "features": "feature",
    "groups": "group",
    "nodes": "node",
    "nodesets": "nodeset",
    "overrides": "override",
}
_OF_SHEETS = {"parameters": "parameter", "subsystems": "subsystem"}
_PLAIN = {"templates": "template", "files": "file"}
_MAPPINGS = ("params", "files", "facts")
"""Keys under which every entry counts by itself."""
WHOLE: Key = ()


def entities(path: str, data: bytes | None) -> dict[str, Said]:
    """What each entity of a file says, key by key; what cannot be read says only its text."""
    if data is None:
        return {}
    folder, _, rest = path.partition("/")
    name = rest.rpartition("/")[2].removesuffix(".yaml")
    if folder in _OF_FILES and rest.endswith(".yaml"):
        return {f"{_OF_FILES[folder]}/{name}": _said(path, data)}
    if folder in _OF_SHEETS and rest.endswith(".yaml"):
        return _sheet(path, data, folder)
    if folder in _PLAIN and rest:
        return {f"{_PLAIN[folder]}/{rest}": _text(data)}
    return {f"path/{path}": _text(data)}


def _sheet(path: str, data: bytes, folder: str) -> dict[str, Said]:
    value = parse(path, data).value
    named = value.get(folder) if isinstance(value, dict) else None
    if not isinstance(named, dict):
        return {f"path/{path}": _text(data)}
    found: dict[str, Said] = {f"{_OF_SHEETS[folder]}/{name}": _flat(said) for name, said in named.items()}
    rest = {key: said for key, said in value.items() if key != folder}
    return {**found, f"path/{path}": _flat(rest)} if rest else found


def _said(path: str, data: bytes) -> Said:
    document = parse(path, data)
    return _text(data) if document.value is None and data.strip() else _flat(document.value)


def _text(data: bytes) -> Said:
    return {WHOLE: data}


def _flat(value: Any) -> Said:
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
