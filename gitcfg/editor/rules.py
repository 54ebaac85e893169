"""The schema of rules for an editor: what they install, set and protect, by name."""

from collections.abc import Mapping

from gitcfg.editor.base import Schema, load_schema, ref
from gitcfg.editor.choices import has_unread, one_of, open_to
from gitcfg.model import Model
from gitcfg.model.names import NAME

_GLOBS: Schema = {"type": "string", "pattern": "[*?]"}
_FEATURES = ("install", "limit", "over")
_PERMITTED = {
    "features": "feature",
    "subsystems": "subsystem",
    "templates": "template",
    "secrets": "secret",
}


def rules_schema(model: Model, names: Mapping[str, Schema], shared: Mapping[str, Schema]) -> Schema:
    """Rules of many a file; what they set is what layers may bind."""
    schema = load_schema("rules")
    schema["definitions"] = {**schema["definitions"], **shared}
    found = schema["properties"]["rules"]
    found["propertyNames"] = {"pattern": f"^{NAME.pattern}$"}
    entry = found["additionalProperties"]["properties"]
    for key in _FEATURES:
        entry[key] = {"description": entry[key]["description"], **names["feature"]}
    entry["set"] = ref("params")
    permitted = schema["definitions"]["permit"]["properties"]
    for key, choices in _permitted(model, names).items():
        items = {"items": choices, "uniqueItems": True}
        permitted[key] = {"type": "array", "description": permitted[key]["description"], **items}
    return schema


def _permitted(model: Model, names: Mapping[str, Schema]) -> dict[str, Schema]:
    """What may be named, by key: names of what there is, and globs."""
    text: Schema = {"type": "string", "minLength": 1}
    known = one_of(model.rules, model.rules)
    groups = one_of({*model.groups, model.settings.default_group}, model.groups)
    return {
        **{key: {"anyOf": [names[name], _GLOBS]} for key, name in _PERMITTED.items()},
        "params": ref("selected"),
        "groups": {"anyOf": [groups, _GLOBS]},
        "rules": open_to(model.rules, text) if has_unread(model, "rules") else {"anyOf": [known, _GLOBS]},
        "nodes": names["nodes"],
    }
