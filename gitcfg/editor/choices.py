"""A repository's names as the choices that an editor offers, and that it holds what is written against."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from gitcfg.compile.operations import NAME
from gitcfg.editor.base import Schema
from gitcfg.editor.families import to_regex
from gitcfg.model import Model
from gitcfg.model.names import is_glob
from gitcfg.model.nodeset import fold

MOST_NODES = 500  # with more an editor is slow, and nobody reads the list


def one_of(names: Iterable[str], said: Mapping[str, Any] | None = None) -> Schema:
    """One of these names; `said` are their definitions, whose descriptions are shown beside them."""
    found = sorted(set(names))
    if not found:
        return {"not": {}}  # editors take no empty `enum`
    if said is None or not any(name in said and said[name].description for name in found):
        return {"enum": found}
    told = [str(said[name].description) if name in said else "" for name in found]
    return {"enum": found, "enumDescriptions": told}


def open_to(names: Iterable[str], other: Schema) -> Schema:
    """These names are offered, and whatever else fits is taken."""
    found = sorted(set(names))
    return {"anyOf": [{"enum": found}, other]} if found else other


def name_choices(model: Model) -> dict[str, Schema]:
    """The choices of a repository by what they name."""
    groups = set(model.groups) - {model.settings.default_group}
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
        # An instance makes its own name of one that is marked.
        "secret": {"anyOf": [one_of(model.secrets, model.secrets), {"type": "string", "pattern": r"\$\{"}]},
        "fact": open_to({key for node in model.hosts() for key in node.facts}, text),
        "tag": open_to({tag for one in model.parameters.values() for tag in one.tags}, text),
        "nodes": open_to(_nodes(model), text),
    }


def has_unread(model: Model, kind: str) -> bool:
    """Is there a file of this kind of which not even the names are known?"""
    return any("/" in name for name in model.unread.get(kind, ()))


def selection_schema(model: Model) -> Schema:
    """What a file entry's `params:` may name: parameters, families' members, globs, and `!` excludes."""
    known = {name for name in model.parameters if not is_glob(name)}
    found: set[str] = set()
    for name, _ in model.bindings():
        found.add(name)
    marked = "|".join(filter(None, map(_made, sorted(name for name in found if "${" in name))))
    families = [to_regex(name) for name in model.parameters if is_glob(name)]
    rest = [r"^!|[*?]", *(f"^({one})$" for one in families), *([f"^({marked})$"] if marked else [])]
    others: Schema = {"type": "string", "pattern": "|".join(rest)}
    if has_unread(model, "parameters"):
        others = {"type": "string", "minLength": 1}
    bound = {name for name in found - known if "${" not in name}
    return {"anyOf": [one_of(known | bound, model.parameters), others]}


def collect_schema(model: Model, said: Schema, names: Mapping[str, Schema]) -> Schema:
    """What `$collect` takes: names are offered, and judged by the checks."""
    offered = {
        "param": open_to({NAME, *model.parameters}, {}),
        "feature": open_to(model.features, {}),
        "same": {"items": names["fact"]},
    }
    parts = {key: {**part, **offered.get(key, {})} for key, part in said["properties"].items()}
    return {**said, "properties": parts}


def _made(name: str) -> str:
    """The names that instances make of one with marks."""
    pieces = re.split(r"\$\{[^{}]*\}", name)
    return ".*".join(re.sub(r"([\\.*+?^$(){}\[\]|/])", r"\\\1", piece) for piece in pieces)


def _nodes(model: Model) -> list[str]:
    """Nodes by name where there are few, and node sets as they are written."""
    names = list(model.nodes) if len(model.nodes) <= MOST_NODES else []
    sets = [fold(nodeset.members) for nodeset in model.nodesets.values() if nodeset.members]
    return [*names, *(sets if len(sets) <= MOST_NODES else [])]
