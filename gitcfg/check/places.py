"""Where things stand in a model: every list of features, every binding, every file entry."""

from collections.abc import Iterator

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.instances import marked
from gitcfg.model import Binding, Feature, FileEntry, Group, Model, Node, Override, Ref, Use


def nodes(model: Model) -> Iterator[Node]:
    """What is said of nodes: their own files and their sets'."""
    yield from model.nodes.values()
    for nodeset in model.nodesets.values():
        yield nodeset.definition


def layers(model: Model) -> Iterator[Feature | Group | Node | Override]:
    """Every definition that binds parameters and brings files."""
    yield from model.features.values()
    yield from model.groups.values()
    yield from nodes(model)
    yield from model.overrides.values()


def uses(model: Model) -> Iterator[Use]:
    """Every mention of a feature that would install it."""
    for feature in model.features.values():
        yield from feature.include
    for group in model.groups.values():
        yield from group.features
    for node in nodes(model):
        yield from node.features.items
    for override in model.overrides.values():
        yield from override.features


def withouts(model: Model) -> Iterator[Ref]:
    """Every mention of a feature under `without`."""
    for node in nodes(model):
        yield from node.without.items
    for override in model.overrides.values():
        yield from override.without


def bindings(fleet: Fleet) -> Iterator[tuple[str, Binding]]:
    """Every binding as nodes may get it: what names an instance's part is read from instances."""
    for layer in layers(fleet.model):
        for name, binding in layer.params.items():
            if "${" not in name and not marked(binding.given):
                yield name, binding
    for feature in fleet.layers.instances:
        yield from feature.params.items()


def files(model: Model) -> Iterator[FileEntry]:
    """Every file entry that puts a file somewhere."""
    for layer in layers(model):
        yield from (entry for entry in layer.files.values() if not entry.removed)
