"""JSON Schemas of one repository: the program's own, with the repository's names and values in them."""

from collections.abc import Mapping

from gitcfg.check.findings import CODES
from gitcfg.check.results import is_ignorable
from gitcfg.editor.choices import (
    Schema,
    collect_schema,
    has_unread,
    load_schema,
    name_choices,
    one_of,
    open_to,
    prune_definitions,
    ref,
    selection_schema,
)
from gitcfg.editor.parameters import (
    MARKED,
    SECRET,
    binding_name,
    default_schemas,
    params_schema,
    secret_schema,
    type_schema,
)
from gitcfg.model import Model
from gitcfg.model.names import FAMILY, NAME, SINGLES
from gitcfg.render.formats import formats


def file_schema() -> Schema:
    """Return the definition of a file entry."""
    file: Schema = load_schema("feature")["definitions"]["file"]
    properties = file["properties"]
    for key in ("template", "source"):
        properties[key] = {"description": properties[key]["description"], **ref(key)}
    properties["format"] = {"description": properties["format"]["description"], **one_of(formats())}
    properties["mode"]["pattern"] = "^0?[0-7]{3}$"
    properties["params"]["items"] = ref("selected")
    properties["params"]["properties"]["tags"]["items"] = ref("tag")
    contents = {"oneOf": [{"required": [key]} for key in ("format", "template", "text", "source")]}
    needs_params = {"if": {"required": ["format"]}, "then": {"required": ["params"]}}
    return {**file, "if": {"type": "object"}, "then": {"allOf": [contents, needs_params]}}


# The schema of rules for an editor: names of what they install, set and protect.

_GLOBS: Schema = {"type": "string", "pattern": "[*?]"}
_PERMITTED = {"features": "feature", "subsystems": "subsystem", "templates": "template", "secrets": "secret"}


def rules_schema(model: Model, names: Mapping[str, Schema], shared: Mapping[str, Schema]) -> Schema:
    """Return the schema of files of rules; they may set what layers may bind."""
    schema = load_schema("rules")
    schema["definitions"] = {**schema["definitions"], **shared}
    found = schema["properties"]["rules"]
    found["propertyNames"] = {"pattern": f"^{NAME.pattern}$"}
    entry = found["additionalProperties"]["properties"]
    for key in ("install", "limit", "over"):
        entry[key] = {"description": entry[key]["description"], **names["feature"]}
    entry["set"] = ref("params")
    permitted = schema["definitions"]["permit"]["properties"]
    # Existing names, and globs.
    text: Schema = {"type": "string", "minLength": 1}
    known = one_of(model.rules, model.rules)
    groups = one_of({*model.groups, model.settings.default_group}, model.groups)
    choices = {
        **{key: {"anyOf": [names[name], _GLOBS]} for key, name in _PERMITTED.items()},
        "params": ref("selected"),
        "groups": {"anyOf": [groups, _GLOBS]},
        "rules": open_to(model.rules, text) if has_unread(model, "rules") else {"anyOf": [known, _GLOBS]},
        "nodes": names["nodes"],
    }
    for key, choice in choices.items():
        items = {"items": choice, "uniqueItems": True}
        permitted[key] = {"type": "array", "description": permitted[key]["description"], **items}
    return schema


# JSON Schemas of one repository: the program's own, with the repository's names and values in them.

KINDS: Mapping[str, str] = {
    "gitcfg": "gitcfg",
    "parameters": "parameters",
    "subsystems": "subsystems",
    "features": "feature",
    "groups": "group",
    "nodes": "node",
    "nodesets": "nodeset",
    "overrides": "override",
    "holds": "hold",
    "secrets": "secret",
    "rules": "rules",
    "allocations": "allocation",
}
"""The program's own schema of each kind of file, by folder; the first is that of gitcfg.yaml."""
_LISTS = {"include": "use", "features": "use", "groups": "group", "labels": "label"} | dict.fromkeys(
    ("depends", "conflicts", "after", "without"), "feature"
)


def build_schemas(model: Model) -> dict[str, Schema]:
    """Return a schema for each kind of file, by folder. The schemas accept all that the checks accept."""
    names = name_choices(model)
    shared = _shared(model, names)
    schemas = {folder: _single(folder, shared) for folder in SINGLES}
    schemas["gitcfg"] = _settings(model)
    schemas["parameters"] = _parameters(names)
    schemas["subsystems"] = _subsystems(names)
    schemas["rules"] = rules_schema(model, names, shared)
    return {folder: prune_definitions(schemas[folder]) for folder in KINDS}


def _settings(model: Model) -> Schema:
    schema = load_schema("gitcfg")
    group = schema["properties"]["default_group"]
    schema["properties"]["default_group"] = {
        "description": group["description"],
        **open_to(model.groups, {"type": "string", "minLength": 1}),
    }
    entry = schema["properties"]["ignore"]["items"]["properties"]
    entry["code"] = {"description": entry["code"]["description"], "enum": list(filter(is_ignorable, CODES))}
    return schema


def _parameters(names: Mapping[str, Schema]) -> Schema:
    schema = load_schema("parameters")
    schema["definitions"] = {**schema["definitions"], **names}
    properties = schema["properties"]
    properties["parameters"]["propertyNames"] = {"pattern": f"^{FAMILY.pattern}$"}
    properties["parameters"]["additionalProperties"]["allOf"] = default_schemas()
    for entry in (properties["defaults"], properties["parameters"]["additionalProperties"]):
        for key in ("depends", "conflicts"):
            entry["properties"][key] |= {"items": ref("parameter"), "uniqueItems": True}
    return schema


def _subsystems(names: Mapping[str, Schema]) -> Schema:
    schema = load_schema("subsystems")
    listed = {"anyOf": [names["parameter"], _GLOBS]}
    schema["definitions"] = {**schema["definitions"], **names, "listed": listed}
    schema["properties"]["subsystems"]["propertyNames"] = {"pattern": f"^{NAME.pattern}$"}
    entry = schema["properties"]["subsystems"]["additionalProperties"]["properties"]
    for key, name in (("params", "listed"), ("features", "feature"), ("covers", "subsystem")):
        entry[key] |= {"items": ref(name), "uniqueItems": True}
    return schema


def _single(folder: str, shared: Mapping[str, Schema]) -> Schema:
    """Return a schema of definitions with a file for each."""
    schema = load_schema(KINDS[folder])
    schema["definitions"] = {**schema["definitions"], **shared}
    schema["definitions"].pop("uses", None)
    properties = schema["properties"]
    for key, name in _LISTS.items():
        if key in properties:
            properties[key] = _list_of_names(properties[key], name)
    if folder in ("overrides", "holds"):
        nodes = properties["nodes"]
        properties["nodes"] = {"description": nodes["description"], **ref("nodes")}
    return schema


def _list_of_names(schema: Schema, name: str) -> Schema:
    """Return a list of distinct names; a node's list may compose with its set's."""
    items = {"items": ref(name), "uniqueItems": True}
    if "properties" not in schema:
        return {"type": "array", "description": schema.get("description", "Highest priority first."), **items}
    edits = {key: {**schema["properties"][key], **items} for key in ("$prepend", "$append", "$remove")}
    return {**schema, **items, "properties": edits}


def _shared(model: Model, names: Mapping[str, Schema]) -> dict[str, Schema]:
    """Return the definitions that all layers have in common."""
    base = load_schema("feature")["definitions"]
    operations = {**base["binding"]["then"]["properties"]}
    for word in ("fact", "secret"):
        operations[f"${word}"] = {"description": operations[f"${word}"]["description"], **names[word]}
    operations["$collect"] = collect_schema(model, operations["$collect"], names)
    types = {binding_name(one): one for one in model.parameters.values() if one.type is not None}
    use = base["use"]
    instance = {
        "type": "object",
        **{key: use[key] for key in ("properties", "required", "additionalProperties")},
    }
    instance["properties"] = {**use["properties"], "feature": ref("feature")}
    return {
        **names,
        "marked": MARKED,
        "plain": base["plain"],
        "binding": {
            "if": base["binding"]["if"],
            "then": {**base["binding"]["then"], "properties": operations},
        },
        SECRET: secret_schema(operations),
        **{name: type_schema(one, operations) for name, one in types.items()},
        "params": params_schema(model, base["params"]["description"]),
        "selected": selection_schema(model),
        "use": {"anyOf": [ref("feature"), instance]},
        "file": file_schema(),
    }
