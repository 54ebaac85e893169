"""The files of a repository's tree, followed from one commit to the next."""

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from functools import lru_cache, partial
from typing import Any

import msgspec
from msgspec import field

from gitcfg.git.commit_tree import FileChange
from gitcfg.git.repository import MARKER
from gitcfg.git.tree import DictTree
from gitcfg.load.collections import load_definitions, load_sections
from gitcfg.load.definitions import (
    ALLOCATIONS,
    FEATURES,
    GROUPS,
    PARAMETERS,
    RULES,
    overrides_kind,
    secrets_kind,
)
from gitcfg.load.loader import Loader
from gitcfg.load.nodes import load_nodesets, nodes_kind, unique_members
from gitcfg.load.repository import FILE, load_settings
from gitcfg.model import Binding, Model, NodeSet, Origin, Parameter, Secret, Settings
from gitcfg.model.names import LAYERS, TEXTS

KINDS = LAYERS
"""The folders with one definition per file, as far as a result can depend on them."""
OTHERS = ("parameters", "secrets", "rules", "allocations", *TEXTS)
"""The other folders on which a result can depend."""

Place = tuple[str, bytes]
"""A path, and the id of the file there."""
Key = tuple[str, str]
"""A folder of KINDS with the name of a definition, or another folder with a path."""


class Snapshot(msgspec.Struct, frozen=True):
    """The files of one tree; what neighbours have in common is the same object.

    `definitions`: by kind and name the places of definitions, in order of path: the first counts. `others`:
    by folder and path the remaining files.
    """

    settings: bytes | None = None
    definitions: Mapping[str, Mapping[str, tuple[Place, ...]]] = field(
        default_factory=lambda: {kind: {} for kind in KINDS}
    )
    others: Mapping[str, Mapping[str, bytes]] = field(
        default_factory=lambda: {folder: {} for folder in OTHERS}
    )

    def place(self, kind: str, name: str) -> Place | None:
        """Return the place of a definition, or of a file of another folder, if there is one."""
        if kind in OTHERS:
            file = self.others[kind].get(name)
            return None if file is None else (name, file)
        found = self.definitions[kind].get(name)
        return found[0] if found else None


def update_snapshot(snapshot: Snapshot, changes: Iterable[FileChange]) -> tuple[Snapshot, frozenset[Key]]:
    """Return the snapshot of a neighbour, and the keys that differ; these do not include the settings."""
    settings = snapshot.settings
    definitions: dict[str, dict[str, tuple[Place, ...]]] = {}
    others: dict[str, dict[str, bytes]] = {}
    keys = set[Key]()
    for change in changes:
        folder, _, below = change.path.partition("/")
        name = name_of(folder, below)
        if change.path == MARKER:
            settings = change.new
        elif name is not None and folder in KINDS:
            by_name = definitions.setdefault(folder, dict(snapshot.definitions[folder]))
            places = [place for place in by_name.get(name, ()) if place[0] != change.path]
            if change.new is not None:
                places.append((change.path, change.new))
            _put(by_name, name, tuple(sorted(places)) or None)
            keys.add((folder, name))
        elif name is not None and folder in OTHERS:
            _put(others.setdefault(folder, dict(snapshot.others[folder])), change.path, change.new)
            keys.add((folder, change.path))
    after = Snapshot(settings, {**snapshot.definitions, **definitions}, {**snapshot.others, **others})
    same = (key for key in keys if key[0] in KINDS and snapshot.place(*key) == after.place(*key))
    return after, frozenset(keys.difference(same))


def everything(snapshot: Snapshot) -> frozenset[Key]:
    """Return all keys, which are those that differ from an empty tree."""
    definitions = {(kind, name) for kind in KINDS for name in snapshot.definitions[kind]}
    return frozenset(
        definitions.union((folder, path) for folder in OTHERS for path in snapshot.others[folder])
    )


def name_of(folder: str, path: str) -> str | None:
    """Return the name that a path in a folder defines; None if the loader ignores it."""
    name = path.rpartition("/")[2]
    if not name or name.startswith("."):
        return None
    plain = folder in TEXTS
    return name.removesuffix(".yaml") if plain or name.endswith(".yaml") else None


def _put(mapping: dict[Any, Any], key: Any, value: Any) -> None:
    """Put a value after all others; None removes the present one."""
    mapping.pop(key, None)
    if value is not None:
        mapping[key] = value


# Single files of a repository as definitions, each read once for a path and a content.

_MOST = 1 << 13
_Content = Callable[[bytes], bytes]
_Load = Callable[[Loader, Settings], Mapping[str, Any]]
_LOADS: Mapping[str, _Load] = {
    "features": lambda loader, settings: load_definitions(loader, FEATURES),
    "groups": lambda loader, settings: load_definitions(loader, GROUPS),
    "nodes": lambda loader, settings: load_definitions(loader, nodes_kind(settings)),
    "nodesets": load_nodesets,
    "overrides": lambda loader, settings: load_definitions(loader, overrides_kind(settings)),
    "allocations": lambda loader, settings: load_definitions(loader, ALLOCATIONS),
    "rules": lambda loader, settings: {"": tuple(load_sections(loader, RULES).values())},
}
"""The loader of each folder. The rules in a file are defined together."""


class Documents:
    """Reads files with the loader, as if each were alone in its tree; `content` returns their bytes."""

    def __init__(self, content: _Content) -> None:
        self.definition = lru_cache(maxsize=_MOST)(partial(_definition, content))
        self.parameters = lru_cache(maxsize=_MOST)(partial(_parameters, content))
        self.secrets = lru_cache(maxsize=_MOST)(partial(_secrets, content))
        self.settings = lru_cache(maxsize=_MOST)(partial(_settings, content))

    def outlined(self, outline: Callable[[Any], Any]) -> "Documents":
        """Return the same documents with outlines of their definitions."""
        result = copy(self)
        result.definition = lru_cache(maxsize=_MOST)(partial(_outlined, self.definition, outline))
        return result


def _definition(content: _Content, path: str, file: bytes, settings: Settings) -> Any:
    """Return the definition in a file of a kind's folder; None if its name is not legal."""
    found = _LOADS[path.partition("/")[0]](_loader(content, path, file), settings)
    return next(iter(found.values()), None)


def _outlined(
    definition: Callable[..., Any], outline: Callable[[Any], Any], path: str, file: bytes, settings: Settings
) -> Any:
    found = definition(path, file, settings)
    return outline(found) if found is not None else None


def _parameters(content: _Content, path: str, file: bytes) -> Mapping[str, Parameter]:
    """Return what a file of parameters declares."""
    return load_sections(_loader(content, path, file), PARAMETERS)


def _secrets(content: _Content, path: str, file: bytes) -> Mapping[str, Secret]:
    """Return the content of a file of secrets/."""
    loader = _loader(content, path, file)
    return load_definitions(loader, secrets_kind(loader.tree))


def _settings(content: _Content, file: bytes) -> Settings | None:
    """Return the settings that matter here; None if this program cannot read the format."""
    found = load_settings(_loader(content, FILE, file))
    if found is None:
        return None
    return Settings(
        Origin(FILE),
        default_group=found.default_group,
        max_nodes=found.max_nodes,
        max_places=found.max_places,
    )


def _loader(content: _Content, path: str, file: bytes) -> Loader:
    return Loader(DictTree({path: content(file)}))


# All definitions of a repository in outline, followed from commit to commit.


class Pool(msgspec.Struct, frozen=True):
    """Definitions by kind and name; a kind without differences is the same object as before.

    `bindings` are those of each definition that has any; they also are the same object if nothing differs.
    `settings` are None without a repository that this program reads; there are then no definitions.
    """

    settings: Settings | None = None
    definitions: Mapping[str, Mapping[str, Any]] = msgspec.field(
        default_factory=lambda: {kind: {} for kind in KINDS}
    )
    bindings: Mapping[Key, Mapping[str, Binding]] = {}

    def same(self, other: "Pool", *kinds: str) -> bool:
        """Return whether nothing of these kinds, or by default of any kind, differs."""
        mine, theirs = self.definitions, other.definitions
        return self.settings == other.settings and all(mine[kind] is theirs[kind] for kind in kinds or KINDS)


def settings_of(documents: Documents, snapshot: Snapshot) -> Settings | None:
    """Return the settings for reading definitions; None if there is no repository."""
    return documents.settings(snapshot.settings) if snapshot.settings is not None else None


def update_pool(documents: Documents, pool: Pool, snapshot: Snapshot, keys: Iterable[Key]) -> Pool:
    """Return the pool of a neighbour; all that differs is in `keys`."""
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
            params = getattr(definition, "definition", definition).params if definition is not None else None
            _put(bound, (kind, name), params or None)
    if "nodesets" in fresh:  # a set's file may only have been moved, but of overlapping sets the first counts
        by_path = sorted(fresh["nodesets"], key=lambda name: snapshot.definitions["nodesets"][name])
        fresh["nodesets"] = {name: fresh["nodesets"][name] for name in by_path}
    same = bound.keys() == pool.bindings.keys() and all(bound[key] is pool.bindings[key] for key in bound)
    return Pool(settings, {**pool.definitions, **fresh}, pool.bindings if same else bound)


def model_of(settings: Settings, pool: Pool) -> Model:
    """Return the definitions as a model; of sets that share a node, only the first keeps it."""
    definitions = pool.definitions
    sets = unique_members(Loader(DictTree({})), {}, within(settings.max_nodes, definitions["nodesets"]))
    return Model(
        settings,
        features=definitions["features"],
        groups=definitions["groups"],
        nodes=definitions["nodes"],
        nodesets=sets,
        overrides=definitions["overrides"],
    )


def within(most: int, nodesets: Mapping[str, NodeSet]) -> dict[str, NodeSet]:
    """Return the sets; as in the loader, one that exceeds the rest of the node limit has no members."""
    result: dict[str, NodeSet] = {}
    for name, nodeset in nodesets.items():
        fits = len(nodeset.members) <= most
        most -= len(nodeset.members) if fits else 0
        result[name] = nodeset if fits else msgspec.structs.replace(nodeset, members=())
    return result
