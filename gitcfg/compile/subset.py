"""What some nodes are made from: the part of a model, and its files; and the effect of parts of it."""

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any, TypeVar

from msgspec.structs import replace

from gitcfg.compile.declarations import Declarations
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.impact import has_collect
from gitcfg.compile.layers import NOWHERE
from gitcfg.compile.node_class import NodeClass
from gitcfg.compile.nodes import Roster
from gitcfg.load.repository import findings_so_far
from gitcfg.model import Model, NodeSet, Origin, Override, Ref
from gitcfg.model.names import SHEETS, SINGLES

T = TypeVar("T")


class Part(Mapping[str, T]):
    """A mapping whose iteration is limited to some names; any name of the whole can be looked up."""

    def __init__(self, whole: Mapping[str, T], names: Iterable[str]) -> None:
        self._whole = whole
        self._names = tuple(sorted(name for name in set(names) if name in whole))

    def __getitem__(self, name: str) -> T:
        return self._whole[name]

    def __contains__(self, name: object) -> bool:
        return name in self._whole

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def take_part(model: Model, names: Iterable[str]) -> Model:
    """Return the part of a model that some nodes are made from, with all that it refers to.

    That is not enough if the type of a parameter follows from operations in all definitions: see `is_typed`.
    """
    roster = Roster(model)
    hosts = {name: roster.definition(name) for name in names}
    overrides = _overrides(model, roster, hosts)
    groups = {model.settings.default_group}
    features: set[str] = set()
    sets: set[str] = set()
    for definition in hosts.values():
        groups.update(ref.name for ref in definition.groups)
        features.update(use.feature for use, _ in definition.features)
        sets.update(() if definition.nodeset is None else (definition.nodeset.name,))
    for override in overrides.values():
        features.update(use.feature for use in override.features)
    features.update(rule.feature.name for rule in model.rules.values() if rule.feature is not None)
    for name in groups & model.groups.keys():
        features.update(use.feature for use in model.groups[name].features)
    return narrow_model(
        model,
        features=Part(model.features, _leading(model, features)),
        groups=Part(model.groups, groups),
        nodes=Part(model.nodes, hosts),
        nodesets=limit_nodesets({name: model.nodesets[name] for name in sets}, hosts.keys()),
        overrides=overrides,
    )


def limit_nodesets(nodesets: Mapping[str, NodeSet], names: Set[str]) -> dict[str, NodeSet]:
    """Return node sets without members that are not in `names`."""
    return {
        name: replace(nodeset, members=tuple(member for member in nodeset.members if member in names))
        for name, nodeset in nodesets.items()
    }


def narrow_model(model: Model, **parts: Mapping[str, Any]) -> Model:
    """Return a model with less of some kinds.

    It has only the findings and unread definitions known so far.
    """
    unread = {}
    for kind in (*SINGLES, *SHEETS):
        wrong = model.unread.get(kind, frozenset())
        unread[kind] = frozenset(name for name in parts.get(kind, wrong) if name in wrong)
    unread = {kind: names for kind, names in unread.items() if names}
    return replace(model, **parts, unread=unread, findings=findings_so_far(model))


def _overrides(model: Model, roster: Roster, names: Mapping[str, Any]) -> dict[str, Override]:
    """Return the overrides that list one of the nodes, and those whose condition may select one."""
    listed = (override for name in names for override in roster.listed.get(name, ()))
    return {override.name: override for override in sorted([*listed, *roster.selecting], key=_name)}


def _name(override: Override) -> str:
    return override.name


def _leading(model: Model, features: set[str]) -> set[str]:
    """Return features with all that they include and depend on."""
    found: set[str] = set()
    todo = [name for name in features if name in model.features]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            feature = model.features[name]
            named = [*(use.feature for use in feature.include), *_names(feature.depends)]
            todo += [other for other in named if other in model.features]
    return found


def _names(refs: Iterable[Ref]) -> Iterator[str]:
    return (ref.name for ref in refs)


def is_alone(model: Model) -> bool:
    """Return whether nodes do not depend on what other nodes have."""
    return not has_collect(bound for _, bound in model.bindings())


def is_typed(model: Model) -> bool:
    """Return whether every bound parameter has a declared type."""
    known = Declarations(model.parameters, {}).typed
    return all(map(known, {name for name, _ in model.bindings()}))


# Where the configuration of nodes comes from, and how it would be without some parts.


def find_source_files(fleet: Fleet, name: str) -> frozenset[str]:
    """Return the files of the repository that a node is made from."""
    model, kind = fleet.model, fleet[name].node_class
    definitions: list[Any] = [model.settings, *kind.overrides]
    definitions += [model.features[feature] for feature in fleet.stacks.unfiltered(kind)]
    groups = (model.settings.default_group, *kind.groups)
    definitions += [model.groups[group] for group in groups if group in model.groups]
    definitions += [layer for layer in (kind.definition.own, kind.definition.nodeset) if layer is not None]
    definitions += [model.rules[rule] for rule in kind.effects.rules]
    definitions += [model.allocations[rule] for rule in kind.effects.decided]
    definitions += [found for found in map(fleet.declarations.find, kind.params) if found is not None]
    secrets = [model.secrets[secret] for secret in kind.secrets.values()]
    definitions += secrets
    templates = {f"templates/{entry.template.name}" for entry in kind.files.values() if entry.template}
    sealed = {secret.sealed.file for secret in secrets if secret.sealed is not None}
    return frozenset({definition.origin.file for definition in definitions} | templates | sealed)


def find_withheld(fleet: Fleet, name: str, param: str) -> list[tuple[str, Origin]]:
    """Return features that would bind a parameter on a node, and the places where `without` excludes them."""
    kind = fleet[name].node_class
    had = fleet.stacks.unfiltered(kind) if kind.without else NOWHERE
    return [
        (ref.name, ref.origin)
        for ref in kind.without
        if ref.name in had and _is_bound_by(fleet, ref.name, param, kind)
    ]


def _is_bound_by(fleet: Fleet, feature: str, param: str, node_class: NodeClass) -> bool:
    """Return whether an excluded feature, or what is excluded with it, binds a parameter."""
    gone = fleet.layers.expanded([feature]) - node_class.features
    return any(param in fleet.model.features[name].params for name in gone)


def has_effect(fleet: Fleet, override: Override, node_class: NodeClass) -> bool:
    """Return whether the nodes of a class would differ without this override."""
    rest = tuple(other for other in node_class.overrides if other.name != override.name)
    bare = fleet.stacks.compile(node_class.definition, rest, node_class.effects)
    return (bare.params, bare.features, bare.files) != (
        node_class.params,
        node_class.features,
        node_class.files,
    )
