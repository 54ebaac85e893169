"""What all definitions of a repository say in outline, followed from commit to commit."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from gitcfg.git.tree import DictTree
from gitcfg.history.documents import Documents
from gitcfg.history.snapshot import KINDS, Key, Snapshot, everything
from gitcfg.load.nodesets import unique_members
from gitcfg.load.reading import Reading
from gitcfg.model import Binding, Model, NodeSet, Settings


class Pool(msgspec.Struct, frozen=True):
    """Definitions by kind and name; a kind of which nothing is different is the same object as before.

    `bindings` are those of each definition that has any; they too are the same object where they are.
    `settings` are None where there is no repository that this program reads, and so no definition.
    """

    settings: Settings | None = None
    definitions: Mapping[str, Mapping[str, Any]] = msgspec.field(
        default_factory=lambda: {kind: {} for kind in KINDS}
    )
    bindings: Mapping[Key, Mapping[str, Binding]] = {}

    def same(self, other: "Pool", *kinds: str) -> bool:
        """Is nothing of these kinds, or of any, different?"""
        mine, theirs = self.definitions, other.definitions
        return self.settings == other.settings and all(mine[kind] is theirs[kind] for kind in kinds or KINDS)


def settings_of(documents: Documents, snapshot: Snapshot) -> Settings | None:
    """The settings that definitions are read by, if there is a repository."""
    return documents.settings(snapshot.settings) if snapshot.settings is not None else None


def followed(documents: Documents, pool: Pool, snapshot: Snapshot, keys: Iterable[Key]) -> Pool:
    """The pool of a neighbour; what is different there is among `keys`."""
    settings = settings_of(documents, snapshot)
    if settings is None:
        return Pool()
    if settings != pool.settings:
        pool, keys = Pool(settings), everything(snapshot)
    fresh: dict[str, dict[str, Any]] = {}
    bound = dict(pool.bindings)
    for kind, name in keys:
        if kind not in KINDS:
            continue
        place = snapshot.place(kind, name)
        definition = documents.definition(*place, settings) if place else None
        if kind == "nodesets" or definition is not pool.definitions[kind].get(name):
            _put(fresh.setdefault(kind, dict(pool.definitions[kind])), name, definition)
            _put(bound, (kind, name), _params(definition))
    if "nodesets" in fresh:  # a set's file may only have moved, but of sets that overlap the first counts
        by_path = sorted(fresh["nodesets"], key=lambda name: snapshot.definitions["nodesets"][name])
        fresh["nodesets"] = {name: fresh["nodesets"][name] for name in by_path}
    same = bound.keys() == pool.bindings.keys() and all(bound[key] is pool.bindings[key] for key in bound)
    return Pool(settings, {**pool.definitions, **fresh}, pool.bindings if same else bound)


def _put(said: dict[Any, Any], key: Any, value: Any) -> None:
    said.pop(key, None)
    if value is not None:
        said[key] = value


def _params(definition: Any) -> Mapping[str, Binding] | None:
    """The bindings of a definition, if it has any."""
    return getattr(definition, "definition", definition).params or None if definition is not None else None


def model_of(settings: Settings, pool: Pool) -> Model:
    """The definitions as a model; sets that share a node lose it but for the first."""
    said = pool.definitions
    sets = unique_members(Reading(DictTree({})), {}, within(settings.max_nodes, said["nodesets"]))
    return Model(
        settings,
        features=said["features"],
        groups=said["groups"],
        nodes=said["nodes"],
        nodesets=sets,
        overrides=said["overrides"],
    )


def within(most: int, nodesets: Mapping[str, NodeSet]) -> dict[str, NodeSet]:
    """Sets as far as the budget of nodes goes, which the loader gives out in order of path."""
    result: dict[str, NodeSet] = {}
    for name, nodeset in nodesets.items():
        fits = len(nodeset.members) <= most
        most -= len(nodeset.members) if fits else 0
        result[name] = nodeset if fits else msgspec.structs.replace(nodeset, members=())
    return result
