"""Definitions by the labels that their layers have in paths, and who says what."""

from collections.abc import Iterator
from typing import Any

import msgspec

from gitcfg.compile.fleetnode import FleetNode
from gitcfg.model import Feature, Group, ListEdit, Model, Node, Op, Origin, Override, Rule, Use
from gitcfg.model.rules import RuleKind

Definition = Feature | Group | Node | Override


class Mention(msgspec.Struct, frozen=True):
    """A place where a layer (by its label) says something."""

    layer: str
    origin: Origin


def labelled(model: Model) -> Iterator[tuple[str, Definition]]:
    """Every definition that binds parameters, brings files or lists features, with its layer's label.

    What a rule brings lies on nodes as what a group brings.
    """
    for feature in model.features.values():
        yield f"feature {feature.name}", feature
    for group in model.groups.values():
        yield f"group {group.name}", group
    for nodeset in model.nodesets.values():
        yield f"node set {nodeset.name}", nodeset.definition
    for node in model.nodes.values():
        yield f"node {node.name}", node
    for override in model.overrides.values():
        yield f"override {override.name}", override
    for rule in model.rules.values():
        if rule.kind in (RuleKind.INSTALL, RuleKind.SET):
            yield f"rule {rule.name}", _brought(rule)


def _brought(rule: Rule) -> Group:
    features = (Use(rule.feature.name, rule.feature.origin),) if rule.feature is not None else ()
    return Group(rule.name, rule.origin, rule.description, features, rule.params)


def listed(definition: Definition) -> tuple[Use, ...]:
    """The features that a definition's list installs or includes."""
    if isinstance(definition, Feature):
        return definition.include
    if isinstance(definition, Node):
        return given(definition.features)
    return definition.features


def given(edit: ListEdit) -> tuple[Any, ...]:
    """The items that a node's or a set's list adds: none where it only removes others."""
    return () if edit.op is Op.REMOVE else edit.items


def bringing(model: Model, path: str) -> Iterator[Mention]:
    """Every layer that brings a file, whoever has it."""
    for label, definition in labelled(model):
        entry = definition.files.get(path)
        if entry is not None and not entry.removed:
            yield Mention(label, entry.origin)


def said_by(node: FleetNode, origin: Origin) -> Mention:
    """Which layer speaks of this node at a place: its own, its set's, or an override's."""
    said = node.said
    labels = {override.origin.file: f"override {override.name}" for override in node.kind.overrides}
    if said.nodeset is not None:
        labels[said.nodeset.origin.file] = f"node set {said.nodeset.name}"
    return Mention(labels.get(origin.file, f"node {node.name}"), origin)
