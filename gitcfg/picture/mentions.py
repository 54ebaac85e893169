"""Names that something mentions, and that no file defines."""

from collections.abc import Iterator, Mapping

from gitcfg.model import Model, Origin, Use


def missing_features(model: Model) -> Mapping[str, list[Origin]]:
    """Features that are nowhere defined, in order of name, with the places that mention them."""
    found: dict[str, list[Origin]] = {}
    for name, origin in _features(model):
        if name not in model.features:
            found.setdefault(name, []).append(origin)
    return dict(sorted(found.items()))


def missing_groups(model: Model) -> Mapping[str, list[Origin]]:
    """Groups that are nowhere defined, in order of name, with the places that mention them."""
    found: dict[str, list[Origin]] = {}
    for node in model.hosts():
        for ref in node.groups.items:
            if ref.name not in model.groups and ref.name != model.settings.default_group:
                found.setdefault(ref.name, []).append(ref.origin)
    return dict(sorted(found.items()))


def feature_names(model: Model) -> frozenset[str]:
    """Every feature that is defined or mentioned."""
    return frozenset((*model.features, *missing_features(model)))


def group_names(model: Model) -> frozenset[str]:
    """Every group that is defined or mentioned, and the default group, which need not be."""
    return frozenset((model.settings.default_group, *model.groups, *missing_groups(model)))


def _features(model: Model) -> Iterator[tuple[str, Origin]]:
    for use in _uses(model):
        yield use.feature, use.origin
    for feature in model.features.values():
        for ref in (*feature.depends, *feature.conflicts, *feature.after):
            yield ref.name, ref.origin
    for node in model.hosts():
        for ref in node.without.items:
            yield ref.name, ref.origin
    for override in model.overrides.values():
        for ref in override.without:
            yield ref.name, ref.origin
    for subsystem in model.subsystems.values():
        for ref in subsystem.features or ():
            yield ref.name, ref.origin


def _uses(model: Model) -> Iterator[Use]:
    for feature in model.features.values():
        yield from feature.include
    for group in model.groups.values():
        yield from group.features
    for node in model.hosts():
        yield from node.features.items
    for override in model.overrides.values():
        yield from override.features


def told(origins: list[Origin]) -> str:
    """Why something is drawn that is not there."""
    return f"Not defined. Mentioned at {', '.join(dict.fromkeys(map(str, origins)))}."
