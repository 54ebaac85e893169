"""The names in a repository by kind, for completion: only legal ones, so that no shell runs what one says."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from gitcfg.cli.complete.files import Files

_PATH = r"/?[A-Za-z0-9_.][A-Za-z0-9_ .+@,:=%/-]*"
_PATTERNS = {"path": _PATH, "template": _PATH, "revision": r"[A-Za-z0-9_][A-Za-z0-9_.+@/,=%#-]*"}
_SET = re.compile(r"[A-Za-z0-9\s.,/\[\]-]+")
_OUTSIDE_BRACKETS = re.compile(r",(?![^\[\]]*\])")
_MOST_MEMBERS = 250_000
_BINDERS = ("features", "groups", "nodesets", "overrides", "nodes")

Source = Callable[["Names"], Iterable[str]]


class Names:
    """Names that begin with a prefix, small and capital letters being the same."""

    def __init__(self, folder: str, patterns: Mapping[str, str], prefix: str) -> None:
        self.files = Files(folder)
        self.folder = folder
        self.patterns = {**_PATTERNS, **patterns}
        self.prefix = prefix.casefold()

    def of(self, kinds: Iterable[str]) -> set[str]:
        """All names of these kinds."""
        return {name for kind in kinds if kind in _SOURCES for name in self._legal(kind)}

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


def _nodes(names: Names) -> Iterator[str]:
    if names.prefix.startswith("@"):
        return
    yield from names.defined("nodes")
    left = _MOST_MEMBERS
    for _, place in names.files.named("nodesets"):
        found = _members(names, _said(names.files.read(place)), left)
        left -= len(found)
        yield from found


def _said(data: bytes) -> str:
    """What a node set says its nodes are."""
    from gitcfg.cli.complete.reading import entries

    return next((entry.value or "" for entry in entries(data) if entry[:2] == ("", "nodes")), "")


def _members(names: Names, text: str, most: int) -> list[str]:
    """The names that a node set stands for, of those parts of it only that can begin as asked for."""
    from gitcfg.nodeset import NodeSetError, expand

    found: list[str] = []
    for part in _OUTSIDE_BRACKETS.split(text) if _SET.fullmatch(text) else ():
        head = part.strip().partition("[")[0]
        if names.begins(head) or names.prefix.startswith(head.casefold()):
            try:
                found += expand(part, most - len(found))
            except NodeSetError:
                continue
    return found


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


_SOURCES: Mapping[str, Source] = {
    "node": _nodes,
    "members": _groups_of_nodes,
    "group": lambda names: names.defined("groups"),
    "feature": lambda names: names.defined("features"),
    "override": lambda names: names.defined("overrides"),
    "nodeset": lambda names: names.defined("nodesets"),
    "parameter": _parameters,
    "subsystem": lambda names: names.keys("subsystems", "subsystems"),
    "path": _paths,
    "template": lambda names: (path for path, _ in names.files.below("templates")),
    "revision": _revisions,
}
KINDS = frozenset(_SOURCES)
