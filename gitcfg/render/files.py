"""A node's files and digests, from its parameters and the file entries of its layers."""

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.fleetnode import FleetNode
from gitcfg.model import FileEntry, Subsystem
from gitcfg.model.names import selects
from gitcfg.model.secrets import shown
from gitcfg.render.formats import Format, formats
from gitcfg.render.holding import mode_of
from gitcfg.render.pieces import pieces
from gitcfg.render.templates import TemplateEngine, TemplateProblem


class RenderedFile(msgspec.Struct, frozen=True):
    """A file as a node gets it. `digest` is over content, mode, owner and group."""

    path: str
    content: str
    mode: str
    owner: str
    group: str
    digest: str


def selected(fleet: Fleet, entry: FileEntry, params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that a file entry takes, without bare ones; of secrets what is shown."""
    if entry.tags:
        wanted = set(entry.tags)
        found = ((n, v) for n, v in params.items() if not wanted.isdisjoint(_tags(fleet, n)))
    else:
        found = ((n, v) for n, v in params.items() if selects(entry.params, n))
    return {n: shown(v) if type(v) is dict else v for n, v in found if v is not None}


def _tags(fleet: Fleet, name: str) -> tuple[str, ...]:
    parameter = fleet.declarations.find(name)
    return parameter.tags if parameter else ()


def separators(fleet: Fleet, names: Mapping[str, Any]) -> dict[str, str | None]:
    """How each parameter's lists are written as text."""
    found = {name: fleet.declarations.find(name) for name in names}
    return {name: parameter.separator if parameter else None for name, parameter in found.items()}


def context(node: FleetNode, secrets: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What a template sees; `secrets` are parameters whose true values it is to see."""
    shows = {name: shown(node.params[name]) for name in node.secrets} if secrets is None else secrets
    about = {
        "name": node.name,
        "groups": list(node.groups),
        "features": list(node.features),
        "labels": list(node.said.labels),
        "facts": node.said.fact_values(),
        "address": node.said.address or node.name,
    }
    return {
        "params": {**node.params, **shows},
        "node": about,
        "features": about["features"],
        "groups": about["groups"],
    }


def content(fleet: Fleet, node: FleetNode, entry: FileEntry, engine: TemplateEngine) -> str | None:
    """What a file holds; None where its entry is not whole (GC209) or its source no text.

    TemplateProblem: the template fails on this node.
    """
    if len(entry.contents) != 1:
        return None
    if entry.format is not None:
        chosen = formats().get(entry.format)
        return _written(fleet, chosen, entry, node) if chosen else None
    if entry.template is not None:
        known = entry.template.name in fleet.templates
        return engine.render(entry.template.name, context(node)) if known else None
    if entry.source is not None:
        return fleet.sources.get(entry.source.name)
    return entry.text


def _written(fleet: Fleet, chosen: Format, entry: FileEntry, node: FleetNode) -> str:
    """Values in a format. What it cannot carry (GC309, GC310) is left out: it might smuggle lines in."""
    known = pieces(fleet, chosen, entry)
    text = known.text(node.kind) if known else None
    if text is not None:
        return text
    values = selected(fleet, entry, node.params)
    apart = separators(fleet, values)
    unfit = {unfit.subjects[-1] for unfit in chosen.unfit(values, apart)}
    return chosen.write({name: value for name, value in values.items() if name not in unfit}, apart)


def rendered(fleet: Fleet, node: FleetNode, engine: TemplateEngine) -> dict[str, RenderedFile]:
    """A node's files by path. What cannot be rendered is left out: it is a finding."""
    files = {path: rendered_file(fleet, node, entry, engine) for path, entry in node.entries.items()}
    return {path: file for path, file in files.items() if file is not None}


def rendered_file(
    fleet: Fleet, node: FleetNode, entry: FileEntry, engine: TemplateEngine
) -> RenderedFile | None:
    """One file of a node; None where it cannot be rendered."""
    try:
        text = content(fleet, node, entry, engine)
    except TemplateProblem:
        return None
    if text is None:
        return None
    mode = mode_of(fleet, node, entry, engine)
    digest = file_digest(text, mode, entry)
    return RenderedFile(entry.path, text, mode, entry.owner, entry.group, digest)


def file_digest(text: str, mode: str, entry: FileEntry) -> str:
    """SHA-256 over a file's mode, owner, group and content."""
    head = "\0".join((mode, entry.owner, entry.group, ""))
    return hashlib.sha256(head.encode() + text.encode()).hexdigest()


def node_digest(fleet: Fleet, node: FleetNode, files: Mapping[str, RenderedFile]) -> str:
    """SHA-256 over a node's files and the subsystems that run on it.

    Over its secrets' versions too: a template may use a secret, and not show which one it is.
    """
    parts = [[path, file.digest] for path, file in sorted(files.items())]
    parts += [[name, shown(value)] for name, value in node.kind.some(node.secrets).items()]
    parts += [[name, subsystem_digest(subsystem)] for name, subsystem in subsystems(fleet, node).items()]
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def subsystems(fleet: Fleet, node: FleetNode) -> dict[str, Subsystem]:
    """The subsystems that run on a node, by name; none on a retired one."""
    if node.said.retired:
        return {}
    return {
        name: subsystem
        for name, subsystem in sorted(fleet.model.subsystems.items())
        if subsystem.features is None or any(ref.name in node.kind.features for ref in subsystem.features)
    }


def subsystem_digest(subsystem: Subsystem) -> str:
    """SHA-256 over what a subsystem does, wherever it is written."""
    said = msgspec.to_builtins(subsystem)
    told = {key: _names(value) for key, value in said.items() if key not in ("origin", "description")}
    return hashlib.sha256(msgspec.json.encode(told, order="sorted")).hexdigest()


def _names(value: Any) -> Any:
    if isinstance(value, list):
        return [item["name"] if isinstance(item, dict) else item for item in value]
    return value
