"""The names in a repository by kind, for completion: only legal ones, so that no shell runs what one says."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from gitcfg.cli.complete.files import Files

_PATH = r"/?[A-Za-z0-9_.][A-Za-z0-9_ .+@,:=%/-]*"
_REVISION = r"[A-Za-z0-9_][A-Za-z0-9_.+@/,=%#-]*"
_PATTERNS = {
    "path": _PATH,
    "template": _PATH,
    "entity": _PATH,
    "revision": _REVISION,
    "snapshot": _REVISION,
    "run": r"[0-9a-hj-km-np-tv-z]{10}|last",
}
_BINDERS = ("features", "groups", "nodesets", "overrides", "nodes")

Source = Callable[["Names"], Iterable[str]]


class Names:
    """Names that begin with a prefix, small and capital letters being the same."""

    def __init__(self, folder: str, patterns: Mapping[str, str], prefix: str) -> None:
        self.files = Files(folder)
        self.folder = folder
        self.patterns = {**_PATTERNS, **patterns}
        self.prefix = prefix.casefold()

    def within(self, prefix: str) -> "Names":
        """The names of the same repository that begin with something else."""
        return Names(self.folder, self.patterns, prefix)

    def of(self, kinds: Iterable[str]) -> set[str]:
        """All names of these kinds."""
        known = (kind for kind in kinds if kind in _SOURCES and kind in self.patterns)
        return {name for kind in known for name in self._legal(kind)}

    def _legal(self, kind: str) -> Iterator[str]:
        pattern = re.compile(self.patterns[kind])
        for name in _SOURCES[kind](self):
            if self.begins(name) and pattern.fullmatch(name):
                yield name

    def begins(self, name: str) -> bool:
        """Does the name begin as asked for?"""
        return name.casefold().startswith(self.prefix)

    def defined(self, folder: str) -> Iterator[str]:
        """Definitions that have a file each."""
        return (name for name, _ in self.files.named(folder))

    def keys(self, folder: str, above: str) -> Iterator[str]:
        """Keys of a mapping in the definitions below a folder; files without the prefix are not parsed."""
        sought = self.prefix.encode("utf-8", "surrogateescape")
        for _, place in self.files.named(folder):
            data = self.files.read(place)
            if sought in data.lower():
                from gitcfg.cli.complete.reading import entries

                yield from (entry.key for entry in entries(data) if entry.above == above)


def _nodes(names: Names) -> Iterable[str]:
    from gitcfg.cli.complete.nodes import nodes

    return nodes(names)


def _groups_of_nodes(names: Names) -> Iterator[str]:
    return (f"@{name}" for name in names.defined("groups"))


def _parameters(names: Names) -> Iterator[str]:
    """Those that are declared, and those that are bound: a family's members are declared nowhere."""
    yield from names.keys("parameters", "parameters")
    for folder in _BINDERS:
        yield from names.keys(folder, "params")


def _paths(names: Names) -> Iterator[str]:
    for folder in _BINDERS:
        yield from names.keys(folder, "files")


def _revisions(names: Names) -> Iterable[str]:
    from gitcfg.cli.complete.revisions import revisions

    return revisions(names.folder)


def _snapshots(names: Names) -> Iterable[str]:
    from gitcfg.cli.complete.revisions import snapshots

    return snapshots(names.folder)


def _runs(names: Names) -> Iterable[str]:
    from gitcfg.cli.complete.runs import runs

    return runs(names.folder)


def _entities(names: Names) -> Iterable[str]:
    from gitcfg.cli.complete.entities import entities

    return entities(names)


_SOURCES: Mapping[str, Source] = {
    "node": _nodes,
    "members": _groups_of_nodes,
    "group": lambda names: names.defined("groups"),
    "feature": lambda names: names.defined("features"),
    "override": lambda names: names.defined("overrides"),
    "hold": lambda names: names.defined("holds"),
    "secret": lambda names: names.defined("secrets"),
    "nodeset": lambda names: names.defined("nodesets"),
    "parameter": _parameters,
    "subsystem": lambda names: names.keys("subsystems", "subsystems"),
    "rule": lambda names: names.keys("rules", "rules"),
    "allocation": lambda names: names.defined("allocations"),
    "path": _paths,
    "template": lambda names: (path for path, _ in names.files.below("templates")),
    "revision": _revisions,
    "snapshot": _snapshots,
    "run": _runs,
    "entity": _entities,
}
KINDS = frozenset(_SOURCES) - {"snapshot", "run", "entity"}
"""The kinds of which a word before a name can say that it is one."""
