"""Which files of a node hold secrets: nobody but their owner may read those."""

from collections.abc import Mapping

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.fleetnode import FleetNode
from gitcfg.model import FileEntry
from gitcfg.render.taken import Taken
from gitcfg.render.templates import Analysis, TemplateEngine

PRIVATE = "0600"
"""The mode of a file that holds a secret, if its entry says none."""


def holding(fleet: Fleet, node: FleetNode, engine: TemplateEngine) -> Mapping[str, tuple[str, ...]]:
    """The files of a node that hold secrets, in order of path, with the secrets' names in order."""
    if not node.secrets:
        return {}
    found = {path: held(fleet, node, entry, engine) for path, entry in node.entries.items()}
    return {path: tuple(sorted(set(params.values()))) for path, params in found.items() if params}


def held(fleet: Fleet, node: FleetNode, entry: FileEntry, engine: TemplateEngine) -> Mapping[str, str]:
    """The parameters with secrets that a file entry of a node takes, and the secrets' names.

    It is what the entry may take that counts: a template that looks at a parameter holds it.
    """
    secrets = node.secrets
    if not secrets or len(entry.contents) != 1:
        return {}
    if entry.format is not None:
        taken = Taken(fleet.declarations, entry)
        return {param: name for param, name in secrets.items() if taken.separators(param) is not None}
    if entry.template is not None and entry.template.name in fleet.templates:
        analysis = engine.analyse(entry.template.name)
        if _anything(analysis):
            return secrets
        mentioned = {param for param, _ in analysis.params}
        return {param: name for param, name in secrets.items() if param in mentioned}
    return {}


def _anything(analysis: Analysis) -> bool:
    """May a template use any parameter, as far as can be said before it is rendered?"""
    return analysis.everything or analysis.computed or analysis.problem is not None


def mode_of(fleet: Fleet, node: FleetNode, entry: FileEntry, engine: TemplateEngine) -> str:
    """The mode that a file of a node has."""
    private = not entry.mode_said and bool(held(fleet, node, entry, engine))
    return PRIVATE if private else entry.mode
