"""What a change of files can affect: the nodes that are made from the files at some paths.

This is the only answer to that question: for comparing two versions, for checking again after a change, for
the gate, for rendering, and for the inventory. It errs on the safe side: a node in the result may be
unchanged, but a node that is not in it certainly is.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

import msgspec
from msgspec.structs import replace

from gitcfg.compile.declarations import Declarations
from gitcfg.compile.node_class import NodeClass
from gitcfg.compile.nodes import NodeDefinition, Roster
from gitcfg.git.tree import Tree, changed_paths
from gitcfg.load.collections import LazyDefinitions
from gitcfg.load.loader import Loader
from gitcfg.load.repository import load_settings
from gitcfg.model import Binding, Feature, Group, Model, Node, NodeSet, Op, Override, Settings, Use
from gitcfg.model.names import LAYERS, SETTINGS, TEXTS

_ANY = "${"
"""In place of a secret's name: an instance completes the name, so it may be any."""
_NO_NODE = ("subsystems",)  # they define what happens on nodes that change, but change no node
# Rules and allocations may concern all nodes, and so may all other kinds that are not layers.
_PLACES = (SETTINGS, "parameters", "secrets", "rules", "allocations", *TEXTS, *LAYERS)


class Mentions(msgspec.Struct, frozen=True):
    """The nodes in each group, and those that list each feature themselves, by name.

    `secrets`: the nodes that bind each secret in files of their own; under "${" those that may bind any.
    """

    groups: dict[str, list[str]]
    features: dict[str, list[str]]
    secrets: dict[str, list[str]]


class Version(msgspec.Struct, frozen=True):
    """A version of the repository: its tree, its model, and its mentions, found when needed."""

    tree: Tree
    model: Model
    mentions: Callable[[], Mentions]


class _AllNodes(Exception):
    """The change may concern all nodes."""


def index_nodes(roster: Roster) -> Mentions:
    """Return the mentions of all nodes, including those in their sets' lists."""
    return _index((roster.definition(name), (name,)) for name in roster.names())


def index_classes(classes: Iterable[NodeClass]) -> Mentions:
    """Return the mentions if all classes are known: nodes of one class have the same."""
    return _index((node_class.definition, node_class.names) for node_class in classes)


def _index(definitions: Iterable[tuple[NodeDefinition, Sequence[str]]]) -> Mentions:
    found = Mentions({}, {}, {})
    for definition, names in definitions:
        for ref in definition.groups:
            found.groups.setdefault(ref.name, []).extend(names)
        for use, _ in definition.features:
            found.features.setdefault(use.feature, []).extend(names)
        own = definition.own
        for secret in _secrets_of(own.params.values()) if own is not None and own.params else ():
            found.secrets.setdefault(secret, []).extend(names)
    return found


def find_collecting_nodes(nodes: Mapping[str, Node]) -> list[str]:
    """Return the nodes whose own files collect values of other nodes.

    Only files that contain the operation's name are read.
    """
    names = nodes.holding(Op.COLLECT.value.encode()) if isinstance(nodes, LazyDefinitions) else nodes
    return [name for name in names if has_collect(nodes[name].params.values())]


def has_collect(bound: Iterable[Binding]) -> bool:
    """Return whether any of these bindings collects values of other nodes."""
    return any(one.op is Op.COLLECT for one in bound)


def _secrets_of(bound: Iterable[Binding]) -> set[str]:
    """Return the secrets that bindings name, as written; _ANY for a name that an instance completes."""
    given = [one.given for one in bound if one.op is Op.SECRET]
    return {_ANY if _ANY in name else name for name in given}


def find_changed_nodes(old: Version, new: Version) -> frozenset[str] | None:
    """Return the nodes that may differ between two versions, including new and deleted ones; None: all."""
    changed = changed_paths(old.tree, new.tree, _PLACES)
    members = frozenset[str]()
    for path in [path for path in changed if path.startswith("nodesets/")]:
        found = _find_changed_facts(*(each.model.nodesets.get(_stem(path)) for each in (old, new)))
        if found is not None:
            changed, members = changed - {path}, members | found
    if SETTINGS in changed and (settings := _of_nodes(old)) is not None and settings == _of_nodes(new):
        changed -= {SETTINGS}
    names = find_nodes_using(changed, (old, new))
    return None if names is None else names | members


def _find_changed_facts(old: NodeSet | None, new: NodeSet | None) -> frozenset[str] | None:
    """Return the members of a set whose own facts differ; None: the set differs in other ways too.

    The comparison uses text, since 1, 1.0 and true are equal in Python.
    """
    if old is None or new is None or old.members != new.members:
        return None
    if repr(old.definition) != repr(new.definition):
        return None
    pairs = ((name, old.facts.get(name), new.facts.get(name)) for name in old.members)
    return frozenset(name for name, before, after in pairs if repr(before) != repr(after))


def _of_nodes(version: Version) -> Settings | None:
    """Return the settings that nodes depend on, without those of the gate, and `ignore`.

    None: they cannot be read.
    """
    found = load_settings(Loader(version.tree))
    if found is None:
        return None
    return replace(found, protected=(), check="", ratchet=False, signatures="", release=None, ignore=())


def find_nodes_using(paths: Iterable[str], versions: Iterable[Version]) -> frozenset[str] | None:
    """Return the nodes that are made from the files at some paths in some versions; None: it may be all."""
    try:
        return frozenset(name for version in versions for name in _find_users(version, paths))
    except _AllNodes:
        return None


def find_bearers(version: Version, features: Set[str], groups: Set[str]) -> frozenset[str] | None:
    """Return the nodes that have some of these features, or are in some of these groups; None: maybe all."""
    try:
        return frozenset(_bearers(version, features, groups))
    except _AllNodes:
        return None


def _find_users(version: Version, paths: Iterable[str]) -> Iterator[str]:
    names, model = _by_kind(paths), version.model
    if names["secrets"]:
        _add_users(names, version)
    _require_types(model, names)
    yield from _bearers(version, names["features"], names["groups"])
    yield from names["nodes"] & model.nodes.keys()
    for name in names["nodesets"] & model.nodesets.keys():
        yield from model.nodesets[name].members
    for name in names["overrides"] & model.overrides.keys():
        yield from _members(model.overrides[name])
    yield from _collecting(version)


def _bearers(version: Version, features: Set[str], groups: Set[str]) -> Iterator[str]:
    model = version.model
    features = _with_including(model, features)
    groups = groups | {name for name, group in model.groups.items() if _lists(group.features, features)}
    # The nodes on which a rule installs a feature are not searched.
    ruled = any(rule.feature is not None and rule.feature.name in features for rule in model.rules.values())
    if ruled or model.settings.default_group in groups:
        raise _AllNodes
    for override in model.overrides.values():
        if _lists(override.features, features):
            yield from _members(override)
    if groups or features:
        mentions = version.mentions()
        for name in groups:
            yield from mentions.groups.get(name, ())
        for name in features:
            yield from mentions.features.get(name, ())


def _by_kind(changed: Iterable[str]) -> dict[str, set[str]]:
    """Return what changed, by folder and name. Raise _AllNodes if it may concern all nodes."""
    names: dict[str, set[str]] = {kind: set() for kind in (*LAYERS, "secrets")}
    for path in changed:
        kind, stem = path.partition("/")[0], _stem(path)
        if kind == "secrets" and not path.endswith(".yaml"):
            continue  # no configuration depends on its content
        if kind in names:
            names[kind].add(stem)
        elif kind not in _NO_NODE:
            raise _AllNodes
    return names


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".yaml")


def _add_users(names: dict[str, set[str]], side: Version) -> None:
    """Add the definitions that bind a changed secret.

    Files of nodes, which may be many, are not read: mentions have their secrets. Raise _AllNodes if a rule
    binds such a secret, since the nodes of rules are not searched, or if any secret may be bound.
    """
    if any(_among(_secrets_of(rule.params.values()), names["secrets"]) for rule in side.model.rules.values()):
        raise _AllNodes
    for kind in LAYERS:
        for name, layer in getattr(side.model, kind).items() if kind != "nodes" else ():
            definition = layer.definition if isinstance(layer, NodeSet) else layer
            if _among(_secrets_of(definition.params.values()), names["secrets"]):
                names[kind].add(name)
    users = side.mentions().secrets
    for secret in users:
        if _among({secret}, names["secrets"]):
            names["nodes"].update(users[secret])


def _among(bound: Set[str], secrets: Set[str]) -> bool:
    """Return whether any of these secrets is bound. Raise _AllNodes if the bound one may be any."""
    if _ANY in bound:
        raise _AllNodes
    return not bound.isdisjoint(secrets)


def _collecting(side: Version) -> Iterable[str]:
    """Return the nodes whose own files collect from others. Raise _AllNodes if other layers do."""
    for kind in (*LAYERS, "rules"):
        for layer in getattr(side.model, kind).values() if kind != "nodes" else ():
            definition = layer.definition if isinstance(layer, NodeSet) else layer
            if has_collect(definition.params.values()):
                raise _AllNodes
    return find_collecting_nodes(side.model.nodes)


def _members(override: Override) -> Iterable[str]:
    if override.members is None:
        raise _AllNodes
    return override.members


def _with_including(model: Model, changed: Set[str]) -> set[str]:
    """Return features with all that include them, directly or not."""
    found, todo = set[str](), list(changed)
    above: dict[str, list[str]] = {}
    for name, feature in model.features.items() if changed else ():
        for use in feature.include:
            above.setdefault(use.feature, []).append(name)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += above.get(name, ())
    return found


def _lists(uses: Iterable[Use], features: Set[str]) -> bool:
    """Return whether a list has any of these features."""
    return any(use.feature in features for use in uses)


def _require_types(model: Model, names: Mapping[str, set[str]]) -> None:
    """Raise _AllNodes if a changed definition may determine the type of a parameter for all bindings."""
    declarations = Declarations(model.parameters, {})
    for kind in LAYERS:
        known: Mapping[str, Feature | Group | Node | NodeSet | Override] = getattr(model, kind)
        for name in names[kind] & known.keys():
            layer = known[name]
            definition = layer.definition if isinstance(layer, NodeSet) else layer
            if not all(map(declarations.typed, definition.params)):
                raise _AllNodes
