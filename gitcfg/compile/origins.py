"""Where the configuration of nodes comes from, and what it were without."""

from typing import Any

from gitcfg.compile.classes import NodeClass
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.layers import NOWHERE
from gitcfg.model import Origin, Override


def files_of(fleet: Fleet, name: str) -> frozenset[str]:
    """The files of the repository that a node is made from."""
    model, kind = fleet.model, fleet[name].kind
    definitions: list[Any] = [model.settings, *kind.overrides]
    definitions += [model.features[feature] for feature in fleet.stacks.unfiltered(kind)]
    groups = (model.settings.default_group, *kind.groups)
    definitions += [model.groups[group] for group in groups if group in model.groups]
    definitions += [said for said in (kind.said.own, kind.said.nodeset) if said is not None]
    definitions += [model.rules[rule] for rule in kind.brought.rules]
    definitions += [model.allocations[rule] for rule in kind.brought.decided]
    definitions += [found for found in map(fleet.declarations.find, kind.params) if found is not None]
    secrets = [model.secrets[secret] for secret in kind.secrets.values()]
    definitions += secrets
    templates = {f"templates/{entry.template.name}" for entry in kind.files.values() if entry.template}
    sealed = {secret.sealed.file for secret in secrets if secret.sealed is not None}
    return frozenset({definition.origin.file for definition in definitions} | templates | sealed)


def withheld(fleet: Fleet, name: str, param: str) -> list[tuple[str, Origin]]:
    """Features that would bind a parameter on a node, and where `without` takes them away."""
    kind = fleet[name].kind
    had = fleet.stacks.unfiltered(kind) if kind.without else NOWHERE
    return [
        (ref.name, ref.origin)
        for ref in kind.without
        if ref.name in had and _brings(fleet, ref.name, param, kind)
    ]


def _brings(fleet: Fleet, feature: str, param: str, kind: NodeClass) -> bool:
    """Would a feature, or what only it includes, bind a parameter?"""
    gone = fleet.layers.expanded([feature]) - kind.features
    return any(param in fleet.model.features[name].params for name in gone)


def matters(fleet: Fleet, override: Override, kind: NodeClass) -> bool:
    """Would the nodes of a class be any different without this override?"""
    rest = tuple(other for other in kind.overrides if other.name != override.name)
    bare = fleet.stacks.compile(kind.said, rest, kind.brought)
    return (bare.params, bare.features, bare.files) != (kind.params, kind.features, kind.files)
