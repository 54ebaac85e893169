"""A repository's names as the choices that an editor offers, in JSON Schema draft-07."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import msgspec

from gitcfg.bundled import read_schema
from gitcfg.compile.operations import NAME
from gitcfg.model import Model, Parameter
from gitcfg.model.names import glob, is_glob
from gitcfg.nodeset import fold

DIALECT = "http://json-schema.org/draft-07/schema#"
_HERE, _THERE = "#/$defs/", "#/definitions/"

Schema = dict[str, Any]


def load_schema(kind: str) -> Schema:
    """Return a copy of schema/KIND.json. It has nothing that the two JSON Schema drafts read differently."""
    found: Schema = _to_draft_07(_read(kind))
    found["definitions"] = found.pop("$defs", {})
    del found["$id"]  # in another repository the same id has other names
    return {**found, "$schema": DIALECT}


def ref(name: str) -> Schema:
    """Return a reference to a definition."""
    return {"$ref": _THERE + name}


def prune_definitions(schema: Schema) -> Schema:
    """Return the schema with only the definitions that it refers to."""
    every = schema.pop("definitions")
    used: dict[str, Schema] = {}
    pending = [schema]
    while pending:
        for name in _find_refs(pending.pop()) & every.keys() - used.keys():
            used[name] = every[name]
            pending.append(every[name])
    return {**schema, "definitions": {name: used[name] for name in sorted(used)}}


def _find_refs(part: Any) -> set[str]:
    if isinstance(part, list):
        return {name for inner in part for name in _find_refs(inner)}
    if not isinstance(part, dict):
        return set()
    target = part.get("$ref")
    own = {target.rpartition("/")[2]} if isinstance(target, str) else set()
    return own | {name for inner in part.values() for name in _find_refs(inner)}


@cache
def _read(kind: str) -> Any:
    return msgspec.json.decode(read_schema(kind))


def _to_draft_07(part: Any) -> Any:
    if isinstance(part, list):
        return [_to_draft_07(inner) for inner in part]
    if not isinstance(part, dict):
        return part
    result = {key: _to_draft_07(inner) for key, inner in part.items()}
    if isinstance(result.get("$ref"), str):
        result["$ref"] = result["$ref"].replace(_HERE, _THERE)
    return result


# Families of parameters as regular expressions of which exactly the best match applies, as in the program.

MARK = r"\$\{"


def family_patterns(families: Iterable[Parameter], names: Iterable[str]) -> Mapping[str, Parameter]:
    """Return each family by the expression of the names that it alone declares, best matches first.

    An editor applies all expressions that match, in addition to a name's own entry: so each one excludes
    the declared names and the families before it. Names that an instance completes are left out.
    """
    declared = tuple(names)
    before: list[str] = []
    result: dict[str, Parameter] = {}
    for family in families:
        others = [_escape_dots(name) for name in declared if glob(family.name).matches(name)]
        others += [to_regex(other) for other in before if _overlap(other, family.name)]
        excluded = f"(?!(?:{'|'.join(others)})$)" if others else ""
        result.setdefault(f"^(?!.*{MARK}){excluded}{to_regex(family.name)}$", family)
        before.append(family.name)
    return result


def to_regex(pattern: str) -> str:
    """Return a pattern of names as a regular expression. Only dots in names need escaping."""
    while "**" in pattern:
        pattern = pattern.replace("**", "*")
    return _escape_dots(pattern).replace("*", ".*").replace("?", ".")


def _escape_dots(name: str) -> str:
    return name.replace(".", r"\.")


def _overlap(one: str, other: str) -> bool:
    """Return whether two patterns may match the same name: not if their beginnings or ends differ."""
    for pair in ((one, other), (one[::-1], other[::-1])):
        first, second = (pattern.replace("?", "*").partition("*")[0] for pattern in pair)
        if not (first.startswith(second) or second.startswith(first)):
            return False
    return True


# A repository's names as the choices that an editor offers and checks against.

MOST_NODES = 500  # with more, editors are slow, and the list is too long to read


def one_of(names: Iterable[str], definitions: Mapping[str, Any] | None = None) -> Schema:
    """Return a schema of one of these names, with the descriptions of their definitions."""
    found = sorted(set(names))
    if not found:
        return {"not": {}}  # editors do not accept an empty `enum`
    known = definitions or {}
    if not any(name in known and known[name].description for name in found):
        return {"enum": found}
    descriptions = [str(known[name].description) if name in known else "" for name in found]
    return {"enum": found, "enumDescriptions": descriptions}


def open_to(names: Iterable[str], other: Schema) -> Schema:
    """Return a schema that offers these names and accepts any other value that fits."""
    found = sorted(set(names))
    return {"anyOf": [{"enum": found}, other]} if found else other


def name_choices(model: Model) -> dict[str, Schema]:
    """Return the choices of a repository by what they are names of."""
    groups = set(model.groups) - {model.settings.default_group}
    few = list(model.nodes) if len(model.nodes) <= MOST_NODES else []
    sets = [fold(nodeset.members) for nodeset in model.nodesets.values() if nodeset.members]
    nodes = [*few, *(sets if len(sets) <= MOST_NODES else [])]  # sets in their notation
    subsystems = {*model.subsystems, "*"}
    parameters = one_of(model.parameters, model.parameters)
    open_parameters, open_subsystems = (has_unread(model, kind) for kind in ("parameters", "subsystems"))
    text: Schema = {"type": "string", "minLength": 1}
    return {
        "feature": one_of(model.features, model.features),
        "group": one_of(groups, model.groups),
        "parameter": {"anyOf": [parameters, text]} if open_parameters else parameters,
        "subsystem": open_to(subsystems, text) if open_subsystems else one_of(subsystems, model.subsystems),
        "template": one_of(model.templates),
        "source": one_of(model.sources),
        "label": open_to({ref.name for node in model.hosts() for ref in node.labels.items}, text),
        # An instance completes a name with a mark.
        "secret": {"anyOf": [one_of(model.secrets, model.secrets), {"type": "string", "pattern": r"\$\{"}]},
        "fact": open_to({name for _, name, _ in model.facts()}, text),
        "tag": open_to({tag for one in model.parameters.values() for tag in one.tags}, text),
        "nodes": open_to(nodes, text),
    }


def has_unread(model: Model, kind: str) -> bool:
    """Return whether there is a file of this kind with names that could not be read."""
    return any("/" in name for name in model.unread.get(kind, ()))


def selection_schema(model: Model) -> Schema:
    """Return the schema of `params:` in a file entry: parameters, members of families, globs, excludes."""
    known = {name for name in model.parameters if not is_glob(name)}
    found = {name for name, _ in model.bindings()}
    marked = "|".join(filter(None, map(_instances_regex, sorted(name for name in found if "${" in name))))
    families = [to_regex(name) for name in model.parameters if is_glob(name)]
    rest = [r"^!|[*?]", *(f"^({one})$" for one in families), *([f"^({marked})$"] if marked else [])]
    others: Schema = {"type": "string", "pattern": "|".join(rest)}
    if has_unread(model, "parameters"):
        others = {"type": "string", "minLength": 1}
    bound = {name for name in found - known if "${" not in name}
    return {"anyOf": [one_of(known | bound, model.parameters), others]}


def collect_schema(model: Model, schema: Schema, names: Mapping[str, Schema]) -> Schema:
    """Return the schema of `$collect`: names are offered, and only the checks judge them."""
    offered = {
        "param": open_to({NAME, *model.parameters}, {}),
        "feature": open_to(model.features, {}),
        "same": {"items": names["fact"]},
    }
    parts = {key: {**part, **offered.get(key, {})} for key, part in schema["properties"].items()}
    return {**schema, "properties": parts}


def _instances_regex(name: str) -> str:
    """Return the names that instances may make of a name with marks, as a regular expression."""
    pieces = re.split(r"\$\{[^{}]*\}", name)
    return ".*".join(re.sub(r"([\\.*+?^$(){}\[\]|/])", r"\\\1", piece) for piece in pieces)
