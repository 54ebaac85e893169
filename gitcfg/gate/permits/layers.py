"""What layers say: features, groups, nodes, node sets and overrides, and holds beside them."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from gitcfg.gate.permits.named import Thing, to_glob
from gitcfg.gate.permits.statement import ANY, Item, Key, Statement, node_things
from gitcfg.gate.permits.whole import Version
from gitcfg.history.definitions import said
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
    Use,
)

Pieces = Iterator[tuple[Key, Statement]]
_LISTS = {"groups": "groups", "features": "features", "without": "features"}
"""What nodes' lists hold."""


def list_layers(model: Model, whole: Version) -> Pieces:
    """Every piece of them."""
    for feature in model.features.values():
        yield from _feature(feature, whole)
    for group in model.groups.values():
        yield from _group(group, whole)
    for node in model.nodes.values():
        yield from _definition(("nodes", node.name), (Thing("nodes", node.name),), node, whole)
    for nodeset in model.nodesets.values():
        yield from _nodeset(nodeset, whole)
    for override in model.overrides.values():
        yield from _override(override, whole)
    for hold in model.holds.values():
        yield from _selected(("holds", hold.name), hold, (hold.commit, hold.reason, hold.until))


def _feature(feature: Feature, whole: Version) -> Pieces:
    key, about = ("features", feature.name), (Thing("features", feature.name),)
    rest = (feature.description, feature.depends, feature.conflicts, feature.after)
    yield key, Statement(said(rest), feature.origin, about)
    yield from _uses((*key, "include"), about, feature.include, feature.origin, whole)
    yield from _bound(key, about, feature)


def _group(group: Group, whole: Version) -> Pieces:
    key, about = ("groups", group.name), (Thing("groups", group.name),)
    yield key, Statement(said(group.description), group.origin, about)
    yield from _uses((*key, "features"), about, group.features, group.origin, whole)
    yield from _bound(key, about, group)


def _definition(key: Key, about: tuple[Thing, ...], node: Node, whole: Version) -> Pieces:
    """What is said of nodes. One that has a list of its own instead of its set's drops what that gives."""
    rest = (node.description, node.labels, node.facts, node.address, node.state)
    yield key, Statement(said(rest), node.origin, about)
    for name, kind in _LISTS.items():
        edit: ListEdit = getattr(node, name)
        yield from _listed((*key, name), about, edit, kind, whole)
        if edit.op is Op.SET and key[0] == "nodes":
            dropped = partial(_dropped, node.name, name, whole)
            yield (*key, name, "instead"), Statement("", edit.origin or node.origin, about, besides=dropped)
    yield from _bound(key, about, node)


def _dropped(node: str, key: str, whole: Version) -> tuple[Thing, ...]:
    return tuple(Thing(_LISTS[key], _name(item)) for item in whole.given(node, key))


def _nodeset(nodeset: NodeSet, whole: Version) -> Pieces:
    """A set is the files of all its nodes in one: who comes to it gets what it gives."""
    key = ("nodesets", nodeset.name)
    given = _given(_definition(key, (), nodeset.definition, whole))
    yield (*key, "nodes"), Statement("", nodeset.origin, given, members=frozenset(nodeset.members))
    yield from _definition(key, node_things(nodeset.members), nodeset.definition, whole)


def _override(override: Override, whole: Version) -> Pieces:
    key = ("overrides", override.name)
    given = _given(_overriding(key, (), override, whole))
    yield from _selected(key, override, (override.reason, override.until), given)
    yield from _overriding(key, _selected_nodes(override), override, whole)


def _overriding(key: Key, about: tuple[Thing, ...], override: Override, whole: Version) -> Pieces:
    yield from _uses((*key, "features"), about, override.features, override.origin, whole)
    yield from _uses((*key, "without"), about, override.without, override.origin, whole)
    yield from _bound(key, about, override)


def _selected(
    key: Key, some: Override | Hold, rest: tuple[Any, ...], given: tuple[Thing, ...] = ()
) -> Pieces:
    """For how long and for whom; that is about all that they are given."""
    yield key, Statement(said((*rest, some.where)), some.origin, (*_selected_nodes(some), *given))
    yield (*key, "nodes"), Statement("", some.origin, given, members=frozenset(some.members or ()))


def _given(pieces: Pieces) -> tuple[Thing, ...]:
    """All that pieces are about."""
    return tuple(dict.fromkeys(thing for _, piece in pieces for thing in piece.about))


def _selected_nodes(some: Override | Hold) -> tuple[Thing, ...]:
    """Of which nodes a condition holds is not looked up."""
    return (ANY,) if some.members is None else node_things(some.members)


def _listed(key: Key, about: tuple[Thing, ...], edit: ListEdit, kind: str, whole: Version) -> Pieces:
    """What a node's own list says; composing is something else than replacing, whatever the items are."""
    if edit.origin is not None or edit.items:
        yield from _items(key, about, edit.items, kind, edit.origin or edit.items[0].origin, whole, edit.op)


def _uses(
    key: Key, about: tuple[Thing, ...], uses: Iterable[Use | Ref], origin: Origin, whole: Version
) -> Pieces:
    yield from _items(key, about, tuple(uses), "features", origin, whole)


def _items(
    key: Key,
    about: tuple[Thing, ...],
    items: tuple[Any, ...],
    kind: str,
    origin: Origin,
    whole: Version,
    op: str = "",
) -> Pieces:
    """A list and its items: each installs what it names, or makes a node its member."""
    listed = [
        Item(said((_name(item), getattr(item, "instance", None))), Thing(kind, _name(item))) for item in items
    ]
    yield key, Statement(op, origin, about, tuple(listed))
    for item, (id, thing) in zip(items, listed, strict=True):
        made = whole.made(_name(item)) if isinstance(item, Use) and (item.instance or item.attributes) else ()
        yield (*key, id), Statement(f"{op} {said(item)}", item.origin, (*about, thing or ANY, *made))


def _name(item: Use | Ref) -> str:
    return to_glob(item.feature if isinstance(item, Use) else item.name)


def _bound(key: Key, about: tuple[Thing, ...], layer: Feature | Group | Node | Override) -> Pieces:
    maps: tuple[tuple[str, Mapping[str, Any]], ...] = (("params", layer.params), ("files", layer.files))
    for kind, bound in maps:
        for name, one in bound.items():
            thing = Thing(kind, to_glob(name))
            yield (*key, kind, name), Statement(said(one), one.origin, (*about, thing))
