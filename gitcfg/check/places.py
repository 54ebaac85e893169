"""Where things stand in a model: every list of features, every binding, every file entry."""

from collections.abc import Iterator

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.instances import marked
from gitcfg.model import Binding, FileEntry, Model, Ref, Use


def uses(model: Model) -> Iterator[Use]:
    """Every mention of a feature that would install it."""
    for feature in model.features.values():
        yield from feature.include
    for group in model.groups.values():
        yield from group.features
    for node in model.hosts():
        yield from node.features.items
    for override in model.overrides.values():
        yield from override.features


def withouts(model: Model) -> Iterator[Ref]:
    """Every mention of a feature under `without`."""
    for node in model.hosts():
        yield from node.without.items
    for override in model.overrides.values():
        yield from override.without


def bindings(fleet: Fleet) -> Iterator[tuple[str, Binding]]:
    """Every binding as nodes may get it: what names an instance's part is read from instances."""
    for name, binding in fleet.model.bindings():
        if "${" not in name and not marked(binding.given):
            yield name, binding
    for feature in fleet.layers.instances:
        yield from feature.params.items()


def files(model: Model) -> Iterator[FileEntry]:
    """Every file entry that puts a file somewhere."""
    for layer in model.layers():
        yield from (entry for entry in layer.files.values() if not entry.removed)
