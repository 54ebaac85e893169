"""The content of a repository in pieces, and the things that each is about, so that rules can name them."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from gitcfg.compile.fleet import read_texts
from gitcfg.gate.permits.rules import Thing, to_glob
from gitcfg.gate.policy import load_signers
from gitcfg.git.signatures import signer_lines
from gitcfg.git.tree import Tree
from gitcfg.history.definitions import meaning_text
from gitcfg.load.loader import Loader
from gitcfg.load.repository import is_repository, load, load_settings, settings_entry
from gitcfg.model import (
    Feature,
    Group,
    Hold,
    ListEdit,
    Model,
    Node,
    NodeSet,
    Op,
    Origin,
    Override,
    Ref,
    Rule,
    Use,
)
from gitcfg.model.names import SETTINGS, SIGNERS, TEXTS
from gitcfg.model.rules import RuleKind


class Item(NamedTuple):
    """An entry of a list whose order counts."""

    id: str
    thing: Thing | None


ANY = Thing("nodes", "*")
"""Any node: which ones is not computed, or there are very many."""
_MANY = 100_000
Key = tuple[str, ...]
"""The key of a piece: the kind and name of a definition, and the part of it."""


class Statement(msgspec.Struct, frozen=True, gc=False):
    """One piece. `text` is equal if the meaning is; `items` are a list's entries in their order.

    `members` are the nodes of the piece, which are touched only if they are added or removed. `besides` finds
    further things that it is about, which must be looked up.
    """

    text: str
    origin: Origin
    about: tuple[Thing, ...]
    items: tuple[Item, ...] = ()
    members: frozenset[str] = frozenset()
    besides: Callable[[], tuple[Thing, ...]] = tuple


def node_things(nodes: Collection[str]) -> tuple[Thing, ...]:
    """Return nodes as things. A line can name millions of nodes: very many become any node."""
    return (ANY,) if len(nodes) > _MANY else tuple(Thing("nodes", name) for name in sorted(nodes))


def find_moved(old: tuple[Item, ...], new: tuple[Item, ...]) -> tuple[Thing, ...]:
    """Return the things that moved among the common items of two lists."""
    were, are = ({item.id: item for item in items} for items in (old, new))
    before = [item for id, item in were.items() if id in are]
    after = [item for id, item in are.items() if id in were]
    differing = [place for place, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]]
    moved = after[differing[0] : differing[-1] + 1] if differing else []
    return tuple(item.thing for item in moved if item.thing is not None)


# A version of the repository, read only as far as needed.

_INCLUSION = re.compile(r"\{%[-+]?\s*(?:include|import|from|extends)\b")
_NAMED = re.compile(
    _INCLUSION.pattern + r"""\s*(?:"[^"\\]*"|'[^'\\]*')\s*(?:[-+]?%\}|(?:import|as|ignore|with|without)\b)"""
)
"""An inclusion of a plain name only. Anything else is computed, and may result in any name."""


class Version:
    """A version of the repository, for what a piece is about that is not in the piece."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._made: dict[str, tuple[Thing, ...]] = {}

    def names_of(self, feature: str) -> tuple[Thing, ...]:
        """Return the parameters and files whose names depend on an instance of a feature."""
        if feature not in self._made:
            found: dict[Thing, None] = {}
            for one in self._included(feature):
                for kind, names in (("params", one.params), ("files", one.files)):
                    found.update((Thing(kind, to_glob(name)), None) for name in names if "${" in name)
            self._made[feature] = tuple(found)
        return self._made[feature]

    def given(self, node: str, key: str) -> tuple[Use | Ref, ...]:
        """Return what a node gets from one of its set's lists."""
        found = self._sets.get(node)
        edit: ListEdit = getattr(found, key) if found is not None else ListEdit()
        return edit.items

    def rule(self, name: str) -> Rule | None:
        """Return the rule of a name."""
        return self._model.rules.get(name)

    def filled(self, folder: str, name: str) -> tuple[Thing, ...]:
        """Return the files on nodes that are made from a template or a file below files/."""
        return self._filled.get((folder, name), ())

    @cached_property
    def _model(self) -> Model:
        return load(self._tree)

    @cached_property
    def _sets(self) -> Mapping[str, Node]:
        sets = self._model.nodesets.values()
        return {name: nodeset.definition for nodeset in sets for name in nodeset.members}

    def _included(self, name: str) -> Iterator[Feature]:
        """Yield a feature and all that it includes, directly or not."""
        seen, todo = {name}, [name]
        while todo:
            feature = self._model.features.get(todo.pop())
            if feature is not None:
                yield feature
                more = {use.feature for use in feature.include} - seen
                seen |= more
                todo += more

    @cached_property
    def _filled(self) -> Mapping[tuple[str, str], tuple[Thing, ...]]:
        found: dict[tuple[str, str], dict[Thing, None]] = {}
        for layer in self._model.layers():
            for path, entry in layer.files.items():
                thing = Thing("files", to_glob(path))
                for name in self._including.get(entry.template.name, ()) if entry.template else ():
                    found.setdefault(("templates", name), {})[thing] = None
                if entry.source is not None:
                    found.setdefault(("files", entry.source.name), {})[thing] = None
        return {key: tuple(things) for key, things in found.items()}

    @cached_property
    def _including(self) -> Mapping[str, frozenset[str]]:
        """The templates that each one includes, and itself; all if it computes the name of one."""
        read = read_texts(self._tree, "templates", self._model.templates)
        direct = {name: _find_mentioned(text or "", read) for name, text in read.items()}
        return {name: _find_closure(direct, name) for name in direct}


def _find_mentioned(text: str, names: Iterable[str]) -> frozenset[str]:
    if len(_INCLUSION.findall(text)) > len(_NAMED.findall(text)):
        return frozenset(names)
    return frozenset(name for name in names if name in text)


def _find_closure(direct: Mapping[str, frozenset[str]], name: str) -> frozenset[str]:
    seen, todo = {name}, [name]
    while todo:
        more = direct.get(todo.pop(), frozenset()) - seen
        seen |= more
        todo += more
    return frozenset(seen)


# Layers: features, groups, nodes, node sets and overrides, and also holds.

Pieces = Iterator[tuple[Key, Statement]]
_LISTS = {"groups": "groups", "features": "features", "without": "features"}
"""What the lists of nodes contain."""


def _layers(model: Model, version: Version) -> Pieces:
    for feature in model.features.values():
        yield from _feature(feature, version)
    for group in model.groups.values():
        yield from _group(group, version)
    for node in model.nodes.values():
        yield from _definition(("nodes", node.name), (Thing("nodes", node.name),), node, version)
    for nodeset in model.nodesets.values():
        yield from _nodeset(nodeset, version)
    for override in model.overrides.values():
        yield from _override(override, version)
    for hold in model.holds.values():
        yield from _selected(("holds", hold.name), hold, (hold.commit, hold.reason, hold.until))


def _feature(feature: Feature, version: Version) -> Pieces:
    key, about = ("features", feature.name), (Thing("features", feature.name),)
    rest = (feature.description, feature.depends, feature.conflicts, feature.after)
    yield key, Statement(meaning_text(rest), feature.origin, about)
    yield from _uses((*key, "include"), about, feature.include, feature.origin, version)
    yield from _bound(key, about, feature)


def _group(group: Group, version: Version) -> Pieces:
    key, about = ("groups", group.name), (Thing("groups", group.name),)
    yield key, Statement(meaning_text(group.description), group.origin, about)
    yield from _uses((*key, "features"), about, group.features, group.origin, version)
    yield from _bound(key, about, group)


def _definition(key: Key, about: tuple[Thing, ...], node: Node, version: Version) -> Pieces:
    """Yield the pieces of a node or node set. A list of the node's own replaces what its set gives."""
    rest = (node.description, node.labels, node.facts, node.address, node.state)
    yield key, Statement(meaning_text(rest), node.origin, about)
    for name, kind in _LISTS.items():
        edit: ListEdit = getattr(node, name)
        if edit.origin is not None or edit.items:  # composing differs from replacing, with any items
            origin = edit.origin or edit.items[0].origin
            yield from _items((*key, name), about, edit.items, kind, origin, version, edit.op)
        if edit.op is Op.SET and key[0] == "nodes":
            dropped = partial(_dropped, node.name, name, version)
            yield (*key, name, "instead"), Statement("", edit.origin or node.origin, about, besides=dropped)
    yield from _bound(key, about, node)


def _dropped(node: str, key: str, version: Version) -> tuple[Thing, ...]:
    return tuple(Thing(_LISTS[key], _name(item)) for item in version.given(node, key))


def _nodeset(nodeset: NodeSet, version: Version) -> Pieces:
    """Yield the pieces of a set.

    It is the files of all its nodes in one, so a node that joins gets all of it.
    """
    key = ("nodesets", nodeset.name)
    given = _given(_definition(key, (), nodeset.definition, version))
    yield (*key, "nodes"), Statement("", nodeset.origin, given, members=frozenset(nodeset.members))
    yield from _definition(key, node_things(nodeset.members), nodeset.definition, version)
    for member, facts in nodeset.facts.items():
        about = (Thing("nodes", member),)
        yield (*key, "node_facts", member), Statement(meaning_text(facts), nodeset.origin, about)


def _override(override: Override, version: Version) -> Pieces:
    key = ("overrides", override.name)
    given = _given(_overriding(key, (), override, version))
    yield from _selected(key, override, (override.reason, override.until), given)
    yield from _overriding(key, _selected_nodes(override), override, version)


def _overriding(key: Key, about: tuple[Thing, ...], override: Override, version: Version) -> Pieces:
    yield from _uses((*key, "features"), about, override.features, override.origin, version)
    yield from _uses((*key, "without"), about, override.without, override.origin, version)
    yield from _bound(key, about, override)


def _selected(
    key: Key, some: Override | Hold, rest: tuple[Any, ...], given: tuple[Thing, ...] = ()
) -> Pieces:
    """Yield the piece for the last day and the nodes; it is about everything that these nodes get."""
    yield key, Statement(meaning_text((*rest, some.where)), some.origin, (*_selected_nodes(some), *given))
    yield (*key, "nodes"), Statement("", some.origin, given, members=frozenset(some.members or ()))


def _given(pieces: Pieces) -> tuple[Thing, ...]:
    """Return all things that pieces are about."""
    return tuple(dict.fromkeys(thing for _, piece in pieces for thing in piece.about))


def _selected_nodes(some: Override | Hold) -> tuple[Thing, ...]:
    """Return the nodes of an override or hold; those of a condition are not looked up."""
    return (ANY,) if some.members is None else node_things(some.members)


def _uses(
    key: Key, about: tuple[Thing, ...], uses: Iterable[Use | Ref], origin: Origin, version: Version
) -> Pieces:
    yield from _items(key, about, tuple(uses), "features", origin, version)


def _items(
    key: Key,
    about: tuple[Thing, ...],
    items: tuple[Any, ...],
    kind: str,
    origin: Origin,
    version: Version,
    op: str = "",
) -> Pieces:
    """Yield the pieces of a list and its items: each installs what it names, or makes a node its member."""
    listed = [
        Item(meaning_text((_name(item), getattr(item, "instance", None))), Thing(kind, _name(item)))
        for item in items
    ]
    yield key, Statement(op, origin, about, tuple(listed))
    for item, (id, thing) in zip(items, listed, strict=True):
        is_instance = isinstance(item, Use) and (item.instance or item.attributes)
        made = version.names_of(_name(item)) if is_instance else ()
        yield (*key, id), Statement(f"{op} {meaning_text(item)}", item.origin, (*about, thing or ANY, *made))


def _name(item: Use | Ref) -> str:
    return to_glob(item.feature if isinstance(item, Use) else item.name)


def _bound(key: Key, about: tuple[Thing, ...], layer: Feature | Group | Node | Override) -> Pieces:
    maps: tuple[tuple[str, Mapping[str, Any]], ...] = (("params", layer.params), ("files", layer.files))
    for kind, bound in maps:
        for name, one in bound.items():
            thing = Thing(kind, to_glob(name))
            yield (*key, kind, name), Statement(meaning_text(one), one.origin, (*about, thing))


# All pieces

_KINDS_BY_FOLDER = {
    "parameters": "params",
    "subsystems": "subsystems",
    "features": "features",
    "groups": "groups",
    "nodes": "nodes",
    "secrets": "secrets",
    "rules": "rules",
    "allocations": "rules",
}
"""The kind of things of definitions, by folder; in other folders they are about the nodes that they select.
"""


def is_readable(tree: Tree) -> bool:
    """Return whether a tree is a configuration in a format that can be read."""
    return is_repository(tree) and load_settings(Loader(tree)) is not None


def read_statements(tree: Tree, version: Version) -> dict[Key, Statement]:
    """Return the pieces of a tree, or of an excerpt of it; `version` is its whole version.

    Without a configuration there are no pieces.
    """
    if not is_repository(tree):
        return {}
    return dict(list_pieces(tree, load(tree), version))


def list_pieces(tree: Tree, model: Model, version: Version) -> Pieces:
    """Yield the pieces of a model that was read from the tree."""
    yield from _settings(tree, model)
    yield from _layers(model, version)
    for parameter in model.parameters.values():
        about = (Thing("params", parameter.name),)
        yield ("parameters", parameter.name), Statement(meaning_text(parameter), parameter.origin, about)
    for subsystem in model.subsystems.values():
        about = (Thing("subsystems", subsystem.name),)
        yield ("subsystems", subsystem.name), Statement(meaning_text(subsystem), subsystem.origin, about)
    for key in model.keys.values():
        yield ("keys", key.node), Statement(key.text, key.origin, (Thing("nodes", key.node),))
    yield from _secrets(tree, model)
    for rule in model.rules.values():
        yield from _rule(rule)
    yield from _allocations(model, version)
    yield from _texts(tree, version)
    yield from _misread(tree, model)


def _settings(tree: Tree, model: Model) -> Pieces:
    own, settings = Thing("rules", SETTINGS), model.settings
    about = {
        "default_group": (Thing("groups", settings.default_group), ANY),
        "walk_in": tuple(Thing("groups", group.name) for group in settings.walk_in or ()),
    }
    for name in settings.__struct_fields__:
        if name != "origin":
            things = (own, *about.get(name, ()))
            yield (SETTINGS, name), Statement(meaning_text(getattr(settings, name)), settings.origin, things)
    loader, entry = Loader(tree), settings_entry(tree)
    if load_settings(loader) is None or loader.findings:
        yield (SETTINGS, "", "unread"), Statement(entry.id, settings.origin, (own,))
    for line in signer_lines(load_signers(tree)):
        yield (SIGNERS, repr(line)), Statement("", Origin(SIGNERS), (Thing("rules", SIGNERS),))


def _secrets(tree: Tree, model: Model) -> Pieces:
    """Yield the pieces of secrets. If a byte of an encrypted file differs, anything may have changed."""
    for secret in model.secrets.values():
        about = (Thing("secrets", secret.name),)
        entry = tree.entry(secret.sealed.file) if secret.sealed is not None else None
        yield (
            ("secrets", secret.name),
            Statement(meaning_text(replace(secret, sealed=None)), secret.origin, about),
        )
        if entry is not None:
            yield ("secrets", secret.name, "age"), Statement(entry.id, Origin(entry.path), about)


def _rule(rule: Rule) -> Pieces:
    """Yield the pieces of a rule.

    It is a layer, too: it touches what it installs and binds as a layer does.
    """
    key, own = ("rules", rule.name), Thing("rules", rule.name)
    domains = {name: replace(domain, places=()) for name, domain in rule.domains.items()}
    installed = rule.kind is RuleKind.INSTALL and rule.feature is not None
    about = (own, Thing("features", rule.feature.name)) if installed and rule.feature else (own,)
    yield key, Statement(meaning_text(replace(rule, params={}, domains={})), rule.origin, about)
    bound: dict[str, Any] = {**rule.params, **domains}
    for name, one in bound.items():
        things = (own,) if rule.over is not None else (own, Thing("params", name))
        yield (
            (*key, "params", name),
            Statement(meaning_text((one, rule.where, rule.unique)), one.origin, things),
        )


def _allocations(model: Model, version: Version) -> Pieces:
    """Yield the pieces of allocations.

    They are layers, too: they give nodes the rule's feature, or values.
    """
    for name, decided in model.allocations.items():
        key, own, rule = ("allocations", name), Thing("rules", name), version.rule(name)
        yield key, Statement("", decided.origin, (own,))
        feature = rule.feature if rule is not None else None
        things = (own, Thing("features", feature.name)) if feature is not None else (own,)
        for slot in decided.install:
            yield (*key, slot.name), Statement("", slot.origin, (*things, _node_of_slot(slot.name)))
        for place, values in decided.values.items():
            for param, one in values.items():
                of = (Thing("params", param),) if rule is None or rule.over is None else ()
                about = (own, _node_of_slot(place), *of)
                yield (*key, place, param), Statement(meaning_text(one), one.origin, about)


def _node_of_slot(slot: str) -> Thing:
    return Thing("nodes", slot.partition("/")[0])


def _texts(tree: Tree, version: Version) -> Pieces:
    for folder in TEXTS:
        for entry in tree.entries(folder):
            name = entry.path.removeprefix(f"{folder}/")
            about = (Thing("templates", name), *version.filled(folder, name))
            yield (folder, name), Statement(f"{entry.kind.value} {entry.id}", Origin(entry.path), about)


def _misread(tree: Tree, model: Model) -> Pieces:
    """Yield the text of files that cannot be read; a file with unknown names may be about anything."""
    for folder, names in model.unread.items():
        kind = _KINDS_BY_FOLDER.get(folder, "nodes")
        for name in names:
            is_path = "/" in name
            known = getattr(model, folder).get(name) if not is_path else None
            path = name if is_path else known.origin.file if known is not None else folder
            entry = tree.entry(path)
            about = (Thing(kind, "*" if is_path or folder not in _KINDS_BY_FOLDER else name),)
            yield (folder, name, "unread"), Statement(entry.id if entry else "", Origin(path), about)
