"""Which nodes mention which groups, features and secrets: found once for the nodes that a tree holds."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

import msgspec
from msgspec.structs import replace

from gitcfg.compile.declarations import Declarations
from gitcfg.compile.node_class import NodeClass
from gitcfg.compile.nodes import Roster, Said
from gitcfg.git.tree import Tree, changed_paths
from gitcfg.load.collections import Shelf
from gitcfg.load.context import Reading
from gitcfg.load.repository import load_settings
from gitcfg.model import Binding, Feature, Group, Model, Node, NodeSet, Op, Override, Settings
from gitcfg.model.folders import LAYERS, SETTINGS, TEXTS

ANY = "${"
"""Instead of a name: whichever secret an instance makes of what is written."""


class Mentions(msgspec.Struct, frozen=True):
    """The nodes that are in each group, and those that list each feature themselves, by name.

    `secrets`: those that bind each secret in files of their own, or ANY.
    """

    groups: dict[str, list[str]]
    features: dict[str, list[str]]
    secrets: dict[str, list[str]]


def mentions(roster: Roster) -> Mentions:
    """What all nodes say, their sets' lists included."""
    return _told((roster.said(name), (name,)) for name in roster.names())


def mentions_of(classes: Iterable[NodeClass]) -> Mentions:
    """The same where all classes are known already: nodes of one class are in the same groups."""
    return _told((kind.said, kind.names) for kind in classes)


def _told(sayings: Iterable[tuple[Said, Sequence[str]]]) -> Mentions:
    found = Mentions({}, {}, {})
    for said, names in sayings:
        for ref in said.groups:
            found.groups.setdefault(ref.name, []).extend(names)
        for use, _ in said.features:
            found.features.setdefault(use.feature, []).extend(names)
        own = said.own
        for secret in secrets_of(own.params.values()) if own is not None and own.params else ():
            found.secrets.setdefault(secret, []).extend(names)
    return found


def collecting(nodes: Mapping[str, Node]) -> list[str]:
    """The nodes whose own files collect values of other nodes; of what was read before none is looked at."""
    names = nodes.holding(Op.COLLECT.value.encode()) if isinstance(nodes, Shelf) else nodes
    return [name for name in names if collects(nodes[name].params.values())]


def collects(bound: Iterable[Binding]) -> bool:
    """Does one of some bindings take values of other nodes?"""
    return any(one.op is Op.COLLECT for one in bound)


def secrets_of(bound: Iterable[Binding]) -> set[str]:
    """The secrets that bindings name, each as written; ANY of one whose name is made."""
    given = [one.given for one in bound if one.op is Op.SECRET]
    return {ANY if ANY in name else name for name in given}


# Which nodes a change of files can concern at all: only they need be compared.

_NOBODY = ("subsystems",)  # they say what must happen on nodes that change, and change none
# Rules and allocations, as all other kinds that are no layers, may concern all nodes.
_PLACES = (SETTINGS, "parameters", "secrets", "rules", "allocations", *TEXTS, *LAYERS)


class Version(msgspec.Struct, frozen=True):
    """One of two versions: its tree, what that says, and who mentions what, which is asked for if needed."""

    tree: Tree
    model: Model
    mentions: Callable[[], Mentions]


class _Everybody(Exception):
    """The change may concern all nodes."""


def concerned(old: Version, new: Version) -> frozenset[str] | None:
    """The nodes that may differ between two versions, those that came and went among them; None: all."""
    changed = changed_paths(old.tree, new.tree, _PLACES)
    if SETTINGS in changed and (settings := _of_nodes(old)) is not None and settings == _of_nodes(new):
        changed -= {SETTINGS}
    return concerned_by(changed, (old, new))


def _of_nodes(version: Version) -> Settings | None:
    """The settings that nodes depend on: not those of the gate, nor `ignore`. None: they cannot be read."""
    found = load_settings(Reading(version.tree))
    if found is None:
        return None
    return replace(found, protected=(), check="", ratchet=False, signatures="", release=None, ignore=())


def concerned_by(changed: Iterable[str], sides: Iterable[Version]) -> frozenset[str] | None:
    """The nodes that are made from what stands at some paths on some sides; None: it may be all of them."""
    try:
        return frozenset(name for side in sides for name in _concerned(side, changed))
    except _Everybody:
        return None


def _concerned(side: Version, changed: Iterable[str]) -> Iterator[str]:
    """The nodes of one side that are made from something that changed."""
    names, model = _by_kind(changed), side.model
    if names["secrets"]:
        _add_users(names, side)
    _require_types(model, names)
    features = leading(model, names["features"])
    groups = names["groups"] | {
        name for name, group in model.groups.items() if lists(group.features, features)
    }
    if model.settings.default_group in groups or installed_by_rules(model, features):
        raise _Everybody
    yield from names["nodes"] & model.nodes.keys()
    for name in names["nodesets"] & model.nodesets.keys():
        yield from model.nodesets[name].members
    for name, override in model.overrides.items():
        if name in names["overrides"] or lists(override.features, features):
            yield from _selected(override)
    yield from _collecting(side)
    if groups or features:
        said = side.mentions()
        for name in groups:
            yield from said.groups.get(name, ())
        for name in features:
            yield from said.features.get(name, ())


def _by_kind(changed: Iterable[str]) -> dict[str, set[str]]:
    """What changed, by kind and name. _Everybody: something of which all nodes may be made."""
    names: dict[str, set[str]] = {kind: set() for kind in (*LAYERS, "secrets")}
    for path in changed:
        kind, stem = path.partition("/")[0], path.rpartition("/")[2].removesuffix(".yaml")
        if kind == "secrets" and not path.endswith(".yaml"):
            continue  # what is in it no configuration says
        if kind in names:
            names[kind].add(stem)
        elif kind not in _NOBODY:
            raise _Everybody
    return names


def _add_users(names: dict[str, set[str]], side: Version) -> None:
    """Add to the definitions that changed those that bind a secret which did. _Everybody: any may bind it.

    Of nodes, which may be many, none is read for it: it is known which of them bind what. On which nodes
    a rule binds one is not looked for.
    """
    if any(_among(secrets_of(rule.params.values()), names["secrets"]) for rule in side.model.rules.values()):
        raise _Everybody
    for kind in LAYERS:
        for name, layer in getattr(side.model, kind).items() if kind != "nodes" else ():
            said = layer.definition if isinstance(layer, NodeSet) else layer
            if _among(secrets_of(said.params.values()), names["secrets"]):
                names[kind].add(name)
    users = side.mentions().secrets
    for secret in users:
        if _among({secret}, names["secrets"]):
            names["nodes"].update(users[secret])


def _among(bound: Set[str], secrets: Set[str]) -> bool:
    """Is one of some secrets bound?"""
    if ANY in bound:
        raise _Everybody
    return not bound.isdisjoint(secrets)


def _collecting(side: Version) -> Iterable[str]:
    """The nodes that collect from others by what they say themselves. _Everybody: other layers do."""
    for kind in (*LAYERS, "rules"):
        for layer in getattr(side.model, kind).values() if kind != "nodes" else ():
            said = layer.definition if isinstance(layer, NodeSet) else layer
            if collects(said.params.values()):
                raise _Everybody
    return collecting(side.model.nodes)


def installed_by_rules(model: Model, features: set[str]) -> bool:
    """Do rules install one of some features? On which nodes is not looked for."""
    return any(rule.feature is not None and rule.feature.name in features for rule in model.rules.values())


def _selected(override: Override) -> Iterable[str]:
    if override.members is None:
        raise _Everybody
    return override.members


def leading(model: Model, changed: Set[str]) -> set[str]:
    """Features with all that include them, however far."""
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


def lists(uses: Iterable[object], features: set[str]) -> bool:
    """Is one of some features in a list?"""
    return any(getattr(use, "feature", None) in features for use in uses)


def _require_types(model: Model, names: Mapping[str, set[str]]) -> None:
    """_Everybody: the type of a parameter may follow from what changed, on whatever nodes it is bound."""
    declarations = Declarations(model.parameters, {})
    for kind in LAYERS:
        known: Mapping[str, Feature | Group | Node | NodeSet | Override] = getattr(model, kind)
        for name in names[kind] & known.keys():
            definition = known[name]
            said = definition.definition if isinstance(definition, NodeSet) else definition
            if not all(map(declarations.typed, said.params)):
                raise _Everybody
