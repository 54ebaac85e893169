"""Where things stand in a model: every binding, every file entry."""

from collections.abc import Iterator

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.instances import marked
from gitcfg.model import Binding, FileEntry, Model, Origin


def bindings(fleet: Fleet) -> Iterator[tuple[str, Binding]]:
    """Every binding as nodes may get it: what names an instance's part is read from instances."""
    for pair in fleet.bindings:
        if "${" not in pair[0] and not marked(pair[1].given):
            yield pair
    for feature in fleet.layers.instances:
        yield from feature.params.items()


def constrained(model: Model) -> Iterator[tuple[str, Origin]]:
    """Every parameter that a rule gives a domain; what one gives the instances of a feature is none."""
    for rule in model.rules.values():
        if rule.over is None:
            yield from ((name, domain.origin) for name, domain in rule.domains.items())


def files(model: Model) -> Iterator[FileEntry]:
    """Every file entry that puts a file somewhere."""
    for layer in model.layers():
        yield from (entry for entry in layer.files.values() if not entry.removed)
