"""The definitions that one node or one layer is made of, however far features include others."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from gitcfg.history.ruling import NOTHING, Ruling
from gitcfg.history.snapshot import Key, Snapshot
from gitcfg.model import Feature, Group, Settings, Use

Define = Callable[[str, str], Any]
"""A definition by its kind's folder and its name; None where there is none."""


class Roots(msgspec.Struct, frozen=True):
    """What a scope begins with.

    `said` are definitions beside features and groups, None where one is not there; `looked` are the
    names that were looked for to find them, and `kinds` the folders of which any file may matter.
    `ruling` is what rules may bring to it.
    """

    groups: tuple[str, ...] = ()
    uses: tuple[Use, ...] = ()
    said: tuple[Any, ...] = ()
    looked: frozenset[Key] = frozenset()
    kinds: frozenset[str] = frozenset()
    ruling: Ruling = NOTHING


Rooted = Callable[[Define, Snapshot, Settings, Ruling], Roots]
"""What a scope begins with in a snapshot."""


class Scope(msgspec.Struct, frozen=True):
    """Roots with the features and groups that they lead to.

    `looked` are all names that were looked for; `binds` are the parameters that something binds.
    """

    roots: Roots
    groups: Mapping[str, Group]
    features: Mapping[str, Feature]
    looked: frozenset[Key]
    binds: frozenset[str]

    def concerned(self, keys: Iterable[Key]) -> bool:
        """Can the scope be another where these are different?"""
        return any(key in self.looked or key[0] in self.roots.kinds for key in keys)

    def stacked_as(self, other: "Scope") -> bool:
        """Are the features, groups and rules the very same?"""
        ruled = self.roots.ruling is other.roots.ruling
        return ruled and _same(self.groups, other.groups) and _same(self.features, other.features)

    def said_as(self, other: "Scope") -> bool:
        """Are the definitions beside them the very same?"""
        mine, theirs = self.roots.said, other.roots.said
        return len(mine) == len(theirs) and all(one is two for one, two in zip(mine, theirs, strict=True))


def scope(define: Define, roots: Roots) -> Scope:
    """Everything that roots lead to."""
    groups = {name: found for name in roots.groups if (found := define("groups", name)) is not None}
    uses = [*roots.uses, *(use for group in groups.values() for use in group.features)]
    features: dict[str, Feature] = {}
    looked = set[str]()
    while uses:
        name = uses.pop().feature
        if name not in looked:
            looked.add(name)
            found = define("features", name)
            if found is not None:
                features[name] = found
                uses += found.include
    keys = {*(("groups", name) for name in roots.groups), *(("features", name) for name in looked)}
    return _scope(roots, groups, features, roots.looked | keys)


def followed(older: Scope, define: Define, keys: Iterable[Key]) -> Scope | None:
    """The scope of a neighbour that is different in `keys`, if it leads to the same names; else None."""
    groups, features = dict(older.groups), dict(older.features)
    for key in keys:
        if key[0] in older.roots.kinds or key in older.roots.looked:
            return None
        if key not in older.looked:
            continue
        layers: dict[str, Any] = groups if key[0] == "groups" else features
        before, after = layers.get(key[1]), define(*key)
        if before is None or after is None or _mentioned(before) != _mentioned(after):
            return None
        layers[key[1]] = after
    return _scope(older.roots, groups, features, older.looked)


def _mentioned(layer: Feature | Group) -> list[str]:
    return [use.feature for use in (layer.include if isinstance(layer, Feature) else layer.features)]


def _scope(
    roots: Roots, groups: Mapping[str, Group], features: Mapping[str, Feature], looked: frozenset[Key]
) -> Scope:
    layers = (*groups.values(), *features.values(), *roots.said)
    binds = (getattr(layer, "definition", layer).params for layer in layers if layer is not None)
    return Scope(roots, groups, features, looked, roots.ruling.binds.union(*binds))


def _same(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
    return ours.keys() == theirs.keys() and all(found is theirs[name] for name, found in ours.items())
