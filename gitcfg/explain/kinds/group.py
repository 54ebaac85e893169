"""Groups: what they say, and who is in them."""

from collections.abc import Iterator

from gitcfg.compile.fleet import Fleet
from gitcfg.explain.definition import Definition, Field, Flag, Kind, Nodes, Summary
from gitcfg.explain.layers import given, labelled
from gitcfg.explain.said import files, mentioning, settings, uses
from gitcfg.model import Group, Node, Origin
from gitcfg.render.templates import TemplateEngine


def _groups(fleet: Fleet) -> dict[str, Group]:
    """All groups; the default one is there although it may have no file."""
    default = fleet.model.settings.default_group
    return {default: Group(default, Origin(f"groups/{default}.yaml")), **fleet.model.groups}


def _summaries(fleet: Fleet) -> Iterator[Summary]:
    groups = _groups(fleet)
    counts = dict.fromkeys(groups, 0)
    for kind in fleet.classes:
        for name in {*kind.groups, fleet.model.settings.default_group}:
            counts[name] += len(kind.names)
    for name in sorted(groups):
        group = groups[name]
        features = len({use.feature for use in group.features})
        yield Summary(
            name, group.description, _origin(fleet, name), {"features": features, "nodes": counts[name]}
        )


def _definition(fleet: Fleet, engine: TemplateEngine, name: str) -> Definition:
    group = _groups(fleet)[name]
    label = f"group {name}"
    lists = [(who, given(node.groups)) for who, node in labelled(fleet.model) if isinstance(node, Node)]
    fields: dict[str, Field] = {
        "nodes": Nodes(members(fleet, name)),
        "default": Flag(name == fleet.model.settings.default_group),
        "features": uses(group.features),
        "settings": settings(fleet, label, group),
        "files": files(fleet, engine, label, group),
        "listed_by": mentioning(name, lists),
    }
    return Definition(name, group.description, _origin(fleet, name), fields)


def _origin(fleet: Fleet, name: str) -> Origin | None:
    return fleet.model.groups[name].origin if name in fleet.model.groups else None


def members(fleet: Fleet, group: str) -> tuple[str, ...]:
    """The nodes that are in a group."""
    if group == fleet.model.settings.default_group:
        return fleet.names
    return tuple(sorted(name for kind in fleet.classes if group in kind.groups for name in kind.names))


GROUP = Kind("group", _summaries, _groups, _definition)
