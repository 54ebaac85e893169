"""The names in a repository by kind: only legal ones, so that a shell never runs a part of a name.

Files are read only as far as names need: the keys near the top of YAML.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

_MARKER = "gitcfg.yaml"
_LARGEST = 1 << 20
_MOST_BYTES = 8 << 20
_TO_OPEN = 1 << 12  # opening a file takes as long as reading this number of bytes

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

_OF_FILES = {
    "feature": "features",
    "group": "groups",
    "node": "nodes",
    "nodeset": "nodesets",
    "override": "overrides",
    "hold": "holds",
    "secret": "secrets",
    "allocation": "allocations",
}
_OF_SHEETS = {"parameter": "parameters", "subsystem": "subsystems", "rule": "rules"}
_PLAIN = {"template": "templates", "file": "files"}
_FOLDERS = {**_OF_FILES, **_OF_SHEETS, **_PLAIN}
_MAPPINGS = ("params", "files", "facts")
_SET = re.compile(r"[A-Za-z0-9\s.,/\[\]-]+")
_OUTSIDE_BRACKETS = re.compile(r",(?![^\[\]]*\])")
_MOST_MEMBERS = 250_000
_SECONDS = 2
_DEPLOYS, _DEPLOY = "gitcfg-deploys", ".jsonl"


class Files:
    """The files below a repository's root. Links are not followed, and reading ends at a budget of bytes."""

    def __init__(self, folder: str) -> None:
        self.root = _root(folder)
        self.left = _MOST_BYTES

    def below(self, folder: str) -> Iterator[tuple[str, str]]:
        """Yield every file below a folder of the root: its path from that folder, and its path on disk."""
        if self.root is None:
            return
        top = os.path.join(self.root, folder)
        pending = [] if os.path.islink(top) else [(top, "")]
        while pending:
            place, path = pending.pop()
            for entry in _entries(place):
                inner = f"{path}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    pending.append((entry.path, f"{inner}/"))
                elif entry.is_file(follow_symlinks=False):
                    yield inner, entry.path

    def named(self, folder: str) -> Iterator[tuple[str, str]]:
        """Yield every definition below a folder: its name, which is that of its file, and its path."""
        for path, place in self.below(folder):
            if path.endswith(".yaml"):
                yield path.rpartition("/")[2][: -len(".yaml")], place

    def read(self, place: str) -> bytes:
        """Return a file's content; nothing if it is too large, or the budget is used up."""
        try:
            size = os.stat(place).st_size
            if size > min(_LARGEST, self.left):
                return b""
            self.left -= size + _TO_OPEN
            with open(place, "rb") as file:
                return file.read(_LARGEST)
        except OSError:
            return b""


def _entries(place: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(place) as found:
            return list(found)
    except OSError:
        return []


def _root(folder: str) -> str | None:
    """Return the folder with gitcfg.yaml: this one, or one above it as far as git's work tree goes."""
    place = os.path.realpath(folder)
    while not os.path.isfile(os.path.join(place, _MARKER)):
        above = os.path.dirname(place)
        if above == place or os.path.exists(os.path.join(place, ".git")):
            return None
        place = above
    return place


class Entry(NamedTuple):
    """A key of the document, or of the mapping at its key `above`, and the value if that is a scalar."""

    above: str
    key: str
    value: str | None


class _Level:
    """An open mapping or list; `key` is the mapping's key whose value comes next."""

    __slots__ = ("key", "mapping")

    def __init__(self, mapping: bool) -> None:
        self.mapping = mapping
        self.key: str | None = None


def entries(data: bytes) -> Iterator[Entry]:
    """Yield the entries of a document's mapping, and of the mappings in it, in their order.

    After a syntax error, yield the entries before it.
    """
    from gitcfg.load.yaml import (
        AliasEvent,
        MappingEndEvent,
        MappingStartEvent,
        ScalarEvent,
        SequenceEndEvent,
        YAMLError,
        events,
    )

    levels: list[_Level] = []
    try:
        for event in events(data):
            kind = type(event)
            if kind in (MappingEndEvent, SequenceEndEvent):
                levels.pop()
                _end_value(levels)
            elif kind is ScalarEvent and levels and levels[-1].mapping and levels[-1].key is None:
                levels[-1].key = event.value
            elif kind is ScalarEvent or kind is AliasEvent:
                yield from _entry(levels, getattr(event, "value", None))
                _end_value(levels)
            elif hasattr(event, "flow_style"):  # a mapping or a list begins
                yield from _entry(levels, None)
                levels.append(_Level(kind is MappingStartEvent))
    except (YAMLError, UnicodeDecodeError):
        return


def _end_value(levels: list[_Level]) -> None:
    if levels:
        levels[-1].key = None


def _entry(levels: list[_Level], value: str | None) -> Iterator[Entry]:
    """Yield the entry of a value that was just read, if it is near the top."""
    if 0 < len(levels) <= 2 and (key := levels[-1].key) is not None:
        above = levels[0].key if len(levels) == 2 else ""
        if above is not None:
            yield Entry(above, key, value)


Source = Callable[["Names"], Iterable[str]]


class Names:
    """Names that begin with a prefix, in upper or lower case."""

    def __init__(self, folder: str, patterns: Mapping[str, str], prefix: str) -> None:
        self.files = Files(folder)
        self.folder = folder
        self.patterns = {**_PATTERNS, **patterns}
        self.prefix = prefix.casefold()

    def within(self, prefix: str) -> "Names":
        """Return the names of the same repository that begin with another prefix."""
        return Names(self.folder, self.patterns, prefix)

    def of(self, kinds: Iterable[str]) -> set[str]:
        """Return all names of these kinds."""
        known = (kind for kind in kinds if kind in _SOURCES and kind in self.patterns)
        return {name for kind in known for name in self._legal(kind)}

    def _legal(self, kind: str) -> Iterator[str]:
        pattern = re.compile(self.patterns[kind])
        for name in _SOURCES[kind](self):
            if self.begins(name) and pattern.fullmatch(name):
                yield name

    def begins(self, name: str) -> bool:
        """Return whether a name begins with the prefix."""
        return name.casefold().startswith(self.prefix)

    def defined(self, folder: str) -> Iterator[str]:
        """Yield the names of definitions that have a file each."""
        return (name for name, _ in self.files.named(folder))

    def keys(self, folder: str, above: str) -> Iterator[str]:
        """Yield a mapping's keys in definitions below a folder; files without the prefix are not parsed."""
        sought = self.prefix.encode("utf-8", "surrogateescape")
        for _, place in self.files.named(folder):
            data = self.files.read(place)
            if sought in data.lower():
                yield from (entry.key for entry in entries(data) if entry.above == above)


def _nodes(names: Names) -> Iterator[str]:
    """Yield nodes with files, and node sets' members. A word that begins with `@` is not a node."""
    if names.prefix.startswith("@"):
        return
    yield from names.defined("nodes")
    left = _MOST_MEMBERS
    for _, place in names.files.named("nodesets"):
        read = entries(names.files.read(place))
        text = next((entry.value or "" for entry in read if entry[:2] == ("", "nodes")), "")
        found = _members(names, text, left)
        left -= len(found)
        yield from found


def _members(names: Names, text: str, most: int) -> list[str]:
    """Return the names in a node set, from those parts only that can begin with the prefix."""
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


def _parameters(names: Names) -> Iterator[str]:
    """Yield declared and bound parameters, because members of a family have no declarations."""
    yield from names.keys("parameters", "parameters")
    for folder in _BINDERS:
        yield from names.keys(folder, "params")


def _paths(names: Names) -> Iterator[str]:
    for folder in _BINDERS:
        yield from names.keys(folder, "files")


def _revisions(names: Names) -> list[str]:
    """Return HEAD, branches and tags; nothing without a git repository."""
    found = _refs(names.folder, 2, "refs/heads", "refs/tags", "refs/remotes")
    return [] if found is None else ["HEAD", *found]


def _refs(folder: str, less: int, *patterns: str) -> list[str] | None:
    """Return refs without the first `less` words; None without a git repository."""
    found = _git(folder, "for-each-ref", f"--format=%(refname:lstrip={less})", *patterns)
    return None if found is None else found.decode("utf-8", "replace").splitlines()


def _git(folder: str, *words: str) -> bytes | None:
    """Return git's output; None if it fails."""
    import subprocess

    try:
        done = subprocess.run(
            ("git", *words),
            cwd=os.path.realpath(folder),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _runs(names: Names) -> list[str]:
    """Return the ids of the deploys that are recorded here, and `last` if there are any."""
    folder = _git(names.folder, "rev-parse", "--git-common-dir")
    if folder is None:
        return []
    try:
        here = os.path.realpath(names.folder)
        files = os.listdir(os.path.join(here, os.fsdecode(folder.rstrip(b"\n")), _DEPLOYS))
    except OSError:
        return []
    found = [name.removesuffix(_DEPLOY) for name in files if name.endswith(_DEPLOY)]
    return [*found, "last"] if found else []


def _entities(names: Names) -> Iterator[str]:
    """Yield entities for `gitcfg undo`: `group/`, then groups, after `group/Workers:` its keys."""
    kind, slash, rest = names.prefix.partition("/")
    if not slash:
        yield from (f"{each}/" for each in _FOLDERS if _is_there(names, each))
    elif kind in _FOLDERS:
        found = _inside(names, kind, rest) if ":" in rest and kind in _OF_FILES else ()
        legal = re.compile(names.patterns.get(kind, names.patterns["path"]))
        known = (name for name in _named(names.within(rest), kind) if legal.fullmatch(name))
        yield from (f"{kind}/{name}" for name in (*found, *known))


def _is_there(names: Names, kind: str) -> bool:
    """Return whether a kind's folder exists, and this version reads it; otherwise no name is legal."""
    known = kind in _PLAIN or kind in names.patterns
    root = names.files.root
    return known and root is not None and os.path.isdir(os.path.join(root, _FOLDERS[kind]))


def _named(names: Names, kind: str) -> Iterator[str]:
    folder = _FOLDERS[kind]
    if kind in _OF_SHEETS:
        return names.keys(folder, folder)
    return names.defined(folder) if kind in _OF_FILES else (path for path, _ in names.files.below(folder))


def _inside(names: Names, kind: str, rest: str) -> Iterator[str]:
    """Yield the keys in the definition before the colon; parameters by their names alone."""
    legal = re.compile(names.patterns[kind])
    for name, place in names.files.named(_FOLDERS[kind]):
        if rest.startswith(f"{name.casefold()}:") and legal.fullmatch(name):
            for entry in entries(names.files.read(place)):
                if entry.above == "params":
                    yield f"{name}:{entry.key}"
                elif entry.above in _MAPPINGS:
                    yield f"{name}:{entry.above}:{entry.key}"
                elif not entry.above and entry.key not in _MAPPINGS:
                    yield f"{name}:{entry.key}"


_SOURCES: Mapping[str, Source] = {
    "node": _nodes,
    "members": lambda names: (f"@{name}" for name in names.defined("groups")),
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
    "snapshot": lambda names: _refs(names.folder, 3, "refs/tags/snapshot") or (),
    "run": _runs,
    "entity": _entities,
}
KINDS = frozenset(_SOURCES) - {"snapshot", "run", "entity"}
"""The kinds that a word before a name can select."""
