"""Nodes and node sets: who they are, and what is said of them."""

from collections.abc import Iterator, Mapping

from gitcfg.compile.fleet import Fleet, FleetNode
from gitcfg.explain.definition import (
    Definition,
    Field,
    Flag,
    Kind,
    Names,
    Nodes,
    Reference,
    Summary,
    Value,
    layer_files,
    layer_settings,
    name_references,
    use_references,
)
from gitcfg.explain.trail import added_items
from gitcfg.model import Fact, Node
from gitcfg.render.templates import TemplateEngine


def _definitions(node: FleetNode) -> list[Node]:
    """What is said of a node: by its own file, and by its set's."""
    found = (node.definition.own, node.definition.nodeset.definition if node.definition.nodeset else None)
    return [given for given in found if given is not None]


def _description(node: FleetNode) -> str:
    return next((given.description for given in _definitions(node) if given.description), "")


def _nodes(fleet: Fleet) -> Iterator[Summary]:
    for name in fleet.names:
        node = fleet[name]
        figures = {
            "groups": list(node.groups),
            "features": len(node.features),
            "retired": node.definition.retired,
        }
        yield Summary(name, _description(node), _definitions(node)[0].origin, figures)


def _node(fleet: Fleet, _: TemplateEngine, name: str) -> Definition:
    node = fleet[name]
    said, nodeset = node.definition, node.definition.nodeset
    fields: dict[str, Field] = {
        "node_set": (Reference(nodeset.name, nodeset.origin),) if nodeset else (),
        "retired": Flag(said.retired),
        "groups": name_references(said.groups),
        "features": Names(node.features),
        "without": name_references(node.node_class.without),
        "labels": Names(said.labels),
        "facts": _facts(said.facts),
        "address": Value(said.address),
        "overrides": tuple(Reference(found.name, found.origin) for found in node.node_class.overrides),
        "parameters": Value(len(node.params)),
        "files": Names(tuple(node.entries)),
    }
    return Definition(name, _description(node), _definitions(node)[0].origin, fields)


def _nodesets(fleet: Fleet) -> Iterator[Summary]:
    for name in sorted(fleet.model.nodesets):
        found = fleet.model.nodesets[name]
        groups = [ref.name for ref in found.definition.groups.items]
        figures = {"nodes": len(found.members), "groups": groups}
        yield Summary(name, found.definition.description, found.origin, figures)


def _nodeset(fleet: Fleet, engine: TemplateEngine, name: str) -> Definition:
    found = fleet.model.nodesets[name]
    said, label = found.definition, f"node set {name}"
    fields: dict[str, Field] = {
        "nodes": Nodes(tuple(sorted(found.members))),
        "state": Value(said.state),
        "groups": name_references(added_items(said.groups)),
        "features": use_references(added_items(said.features)),
        "without": name_references(added_items(said.without)),
        "labels": Names(tuple(ref.name for ref in added_items(said.labels))),
        "facts": _facts(said.facts),
        "address": Value(said.address),
        "settings": layer_settings(fleet, label, said),
        "files": layer_files(fleet, engine, label, said),
        "with_own_file": Nodes(tuple(sorted(set(found.members) & fleet.model.nodes.keys()))),
    }
    return Definition(name, said.description, found.origin, fields)


def _facts(facts: Mapping[str, Fact]) -> Value:
    return Value({name: fact.value for name, fact in facts.items()} or None)


NODE = Kind("node", _nodes, lambda fleet: fleet.names, _node, also=lambda fleet, name: name in fleet)
NODESET = Kind("nodeset", _nodesets, lambda fleet: fleet.model.nodesets, _nodeset)
