"""Small Wallaby dumps as Ruby writes them, and what an import makes of them as plain values."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from gitcfg.convert.base import Note
from gitcfg.convert.wallaby.repository import WallabyImport, import_wallaby
from gitcfg.load.document import parse

TAG = "!ruby/object:Mrg::Grid::SerializedConfigs::"
DEFAULT = "+++DEFAULT"


def feature(name: str, **fields: Any) -> dict[str, Any]:
    return {"conflicts": [], "depends": [], "included": [], "name": name, "params": {}, **fields}


def group(name: str, **fields: Any) -> dict[str, Any]:
    return {"features": [], "is_identity_group": False, "name": name, "params": {}, **fields}


def node(name: str, **fields: Any) -> dict[str, Any]:
    return {"idgroup": "", "membership": [], "name": name, "provisioned": True, **fields}


def parameter(name: str, **fields: Any) -> dict[str, Any]:
    plain = {"conflicts": [], "default_val": "", "depends": [], "description": "It is.", "kind": "String"}
    return {**plain, "level": 0, "must_change": False, "name": name, "needs_restart": False, **fields}


def subsystem(name: str, *params: str) -> dict[str, Any]:
    return {"name": name, "params": list(params)}


def dump(
    features: Sequence[Mapping[str, Any]] = (),
    groups: Sequence[Mapping[str, Any]] = (),
    nodes: Sequence[Mapping[str, Any]] = (),
    params: Sequence[Mapping[str, Any]] = (),
    subsystems: Sequence[Mapping[str, Any]] = (),
) -> bytes:
    """A whole dump; strings are quoted, numbers are not, as in Ruby's YAML."""
    lists = {
        ("features", "Feature"): features,
        ("groups", "Group"): groups,
        ("nodes", "Node"): nodes,
        ("params", "Parameter"): params,
        ("subsystems", "Subsystem"): subsystems,
    }
    text = f"--- {TAG}Store \n" + "".join(_list(*kind, items) for kind, items in lists.items())
    return text.encode()


def _list(key: str, kind: str, items: Sequence[Mapping[str, Any]]) -> str:
    if not items:
        return f"{key}: []\n\n"
    return f"{key}: \n" + "".join(f"- {TAG}{kind} \n{_fields(item)}" for item in items)


def _fields(item: Mapping[str, Any]) -> str:
    return "".join(f"  {key}: {json.dumps(value)}\n" for key, value in item.items())


def read(imported: WallabyImport) -> dict[str, Any]:
    """Every file's plain value; that all of them are sound YAML is asserted."""
    documents = {path: parse(path, text.encode()) for path, text in imported.files.items()}
    assert [finding for document in documents.values() for finding in document.findings] == []
    return {path: document.value for path, document in documents.items()}


def declared(imported: WallabyImport) -> dict[str, Any]:
    """Every parameter's declaration, with what its file says of all."""
    result = {}
    for path, value in read(imported).items():
        if path.startswith("parameters/"):
            for name, body in value["parameters"].items():
                result[name] = {**value["defaults"], **body}
    return result


def bound(*params: Mapping[str, Any], declarations: Sequence[Mapping[str, Any]] = ()) -> list[Any]:
    """What features F0, F1, ... bind when they set this in Wallaby."""
    features = [feature(f"F{place}", params=said) for place, said in enumerate(params)]
    files = read(import_wallaby(dump(features, params=declarations)))
    return [files[f"features/F{place}.yaml"].get("params") for place in range(len(params))]


def said(imported: WallabyImport, kind: str = "") -> list[str]:
    """The notes of a kind (all but the one that every dump with subsystems has) as short text."""
    return [_short(note) for note in imported.notes if not kind or note.kind == kind]


def _short(note: Note) -> str:
    return " ".join(filter(None, [note.weight, note.kind, note.name, note.field]))
