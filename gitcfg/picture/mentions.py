"""Names that something mentions, and that no file defines."""

from collections.abc import Mapping

from gitcfg.model import Model, Origin


def missing_features(model: Model) -> Mapping[str, list[Origin]]:
    """Features that are nowhere defined, in order of name, with the places that mention them."""
    found: dict[str, list[Origin]] = {}
    for ref in model.mentioned_features():
        if ref.name not in model.features:
            found.setdefault(ref.name, []).append(ref.origin)
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


def told(origins: list[Origin]) -> str:
    """Why something is drawn that is not there."""
    return f"Not defined. Mentioned at {', '.join(dict.fromkeys(map(str, origins)))}."
