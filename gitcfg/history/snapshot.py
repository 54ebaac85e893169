"""Which files a repository's tree consists of, followed from one tree to the next."""

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import field

from gitcfg.git.commit_tree import FileChange
from gitcfg.git.repository import MARKER
from gitcfg.model.folders import LAYERS, TEXTS

KINDS = LAYERS
"""The folders that hold one definition a file, as far as a result can depend on it."""
OTHERS = ("parameters", "secrets", "rules", "allocations", *TEXTS)
"""The other folders that a result can depend on."""

Place = tuple[str, bytes]
"""A path, and the id of the file there."""
Key = tuple[str, str]
"""A folder of KINDS with the name of a definition, or another folder with a path."""


class Snapshot(msgspec.Struct, frozen=True):
    """The files of one tree; what neighbours have in common is the same object.

    `definitions`: by kind and name the places where it is defined, in order of path: the first counts.
    `others`: by folder and path the remaining files.
    """

    settings: bytes | None = None
    definitions: Mapping[str, Mapping[str, tuple[Place, ...]]] = field(
        default_factory=lambda: {kind: {} for kind in KINDS}
    )
    others: Mapping[str, Mapping[str, bytes]] = field(
        default_factory=lambda: {folder: {} for folder in OTHERS}
    )

    def place(self, kind: str, name: str) -> Place | None:
        """Where a definition, or a file of another folder, is, if there is one."""
        if kind in OTHERS:
            file = self.others[kind].get(name)
            return None if file is None else (name, file)
        found = self.definitions[kind].get(name)
        return found[0] if found else None


def followed(snapshot: Snapshot, changes: Iterable[FileChange]) -> tuple[Snapshot, frozenset[Key]]:
    """The snapshot of a neighbour, and what is different there; the settings are not among it."""
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
            places = definitions.setdefault(folder, dict(snapshot.definitions[folder]))
            _move(places, name, change)
            keys.add((folder, name))
        elif name is not None and folder in OTHERS:
            files = others.setdefault(folder, dict(snapshot.others[folder]))
            _put(files, change)
            keys.add((folder, change.path))
    after = Snapshot(settings, {**snapshot.definitions, **definitions}, {**snapshot.others, **others})
    same = (key for key in keys if key[0] in KINDS and snapshot.place(*key) == after.place(*key))
    return after, frozenset(keys.difference(same))


def everything(snapshot: Snapshot) -> frozenset[Key]:
    """All that is different from a tree without anything."""
    definitions = {(kind, name) for kind in KINDS for name in snapshot.definitions[kind]}
    return frozenset(
        definitions.union((folder, path) for folder in OTHERS for path in snapshot.others[folder])
    )


def name_of(folder: str, path: str) -> str | None:
    """The name that a path in a folder stands for; None if the loader passes over it."""
    name = path.rpartition("/")[2]
    if not name or name.startswith("."):
        return None
    plain = folder in TEXTS
    return name.removesuffix(".yaml") if plain or name.endswith(".yaml") else None


def _move(places: dict[str, tuple[Place, ...]], name: str, change: FileChange) -> None:
    kept = [place for place in places.pop(name, ()) if place[0] != change.path]
    if change.new is not None:
        kept.append((change.path, change.new))
    if kept:
        places[name] = tuple(sorted(kept))


def _put(files: dict[str, bytes], change: FileChange) -> None:
    files.pop(change.path, None)
    if change.new is not None:
        files[change.path] = change.new
