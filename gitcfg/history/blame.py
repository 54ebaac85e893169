"""Blame by meaning: the commit that made each entry of a definition what it is."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from gitcfg.git.history import Commit, History
from gitcfg.git.repository import Repository
from gitcfg.git.tree import Tree
from gitcfg.history.definitions import said
from gitcfg.history.snapshot import Documents
from gitcfg.load.repository import FILE
from gitcfg.model import (
    Allocation,
    Feature,
    GitcfgError,
    Group,
    ListEdit,
    Node,
    NodeSet,
    Op,
    Origin,
    Override,
    Ref,
    Rule,
    Settings,
    Use,
)

Entry = tuple[str, ...]
"""What the entry is, which one, and what it says."""


class Entries(msgspec.Struct, frozen=True):
    """Every entry of a definition, and those that stand at each place."""

    all: frozenset[Entry] = frozenset()
    at: Mapping[Origin, frozenset[Entry]] = {}


def entries(definition: Any) -> Entries:
    """Return the entries of a feature, group, node, node set, override, allocation, or of rules together.

    None of what is not there.
    """
    found: dict[Origin, set[Entry]] = {}
    for origin, entry in _entries(definition) if definition is not None else ():
        found.setdefault(origin, set()).add(entry)
    at = {origin: frozenset(those) for origin, those in found.items()}
    return Entries(frozenset().union(*at.values()), at)


def _entries(definition: Any) -> Iterator[tuple[Origin, Entry]]:
    if isinstance(definition, tuple):
        for rule in definition:
            yield from _rule(rule)
        return
    if isinstance(definition, Allocation):
        yield from _decided(definition)
        return
    if isinstance(definition, NodeSet):
        definition = definition.definition
    yield definition.origin, ("definition",)
    for name, bound in definition.params.items():
        yield bound.origin, ("params", name, said(bound))
    for path, file in definition.files.items():
        yield file.origin, ("files", path, said(file))
    yield from _lists(definition)


def _rule(rule: Rule) -> Iterator[tuple[Origin, Entry]]:
    """Yield what trails and places tell of a rule: what it installs, and what it sets."""
    yield rule.origin, ("rule", rule.name)
    if rule.feature is not None:
        yield rule.feature.origin, ("feature", rule.name, rule.feature.name)
    for name, bound in rule.params.items():
        yield bound.origin, ("params", rule.name, name, said(bound))


def _decided(found: Allocation) -> Iterator[tuple[Origin, Entry]]:
    yield from _items("install", found.install)
    for slot, values in found.values.items():
        for name, bound in values.items():
            yield bound.origin, ("values", slot, name, said(bound))


def _lists(definition: Any) -> Iterator[tuple[Origin, Entry]]:
    match definition:
        case Feature():
            yield from _items("include", definition.include)
        case Group():
            yield from _items("features", definition.features)
        case Override():
            yield from _items("features", definition.features)
            yield from _items("without", definition.without)
        case Node():
            for key in ("groups", "features", "without", "labels"):
                edit: ListEdit = getattr(definition, key)
                yield from _items(f"not in {key}" if edit.op is Op.REMOVE else key, edit.items)


def _items(key: str, items: Iterable[Use | Ref]) -> Iterator[tuple[Origin, Entry]]:
    """Yield the items of a list; where in the list they stand is no part of what they are."""
    for item in items:
        yield item.origin, (key, said(item))


# The versions of one definition along the way from a commit to those before it.

PLAIN = Settings(Origin(FILE), default_group="")
"""What definitions are read by: no name is the default group's, so that every entry of a list is seen."""


class Touched:
    """The names of the files that commits changed, beside their first parents; each is looked at once."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._known: dict[str, frozenset[str]] = {}

    def by(self, commit: str, parent: str) -> frozenset[str]:
        """Return the names, whatever folders they are in."""
        if commit not in self._known:
            before, after = self._history.root(parent), self._history.root(commit)
            changes = self._history.trees.changed(before, after)
            self._known[commit] = frozenset(change.path.rpartition("/")[2] for change in changes)
        return self._known[commit]


class Versions:
    """One definition by its kind's folder and its name, in any commit; its file is read when it differs."""

    def __init__(
        self, history: History, documents: Documents, touched: Touched, place: tuple[str, str]
    ) -> None:
        self._history = history
        self._documents = documents
        self._touched = touched
        self._folder, name = place
        self._name = f"{name}.yaml"
        self._files: dict[bytes | None, tuple[str, bytes] | None] = {}
        self._entries: dict[tuple[str, bytes] | None, Entries] = {}
        self._last: dict[str, str] = {}

    def at(self, commit: str) -> Entries:
        """Return the definition's entries in a commit, none where there is no such definition."""
        file = self._file(commit)
        if file not in self._entries:
            found = self._documents.definition(*file, PLAIN) if file else None
            self._entries[file] = entries(found)
        return self._entries[file]

    def unchanged_since(self, commit: str) -> str:
        """Return the oldest commit on the way through first parents in which the file is still the same."""
        passed = []
        while commit not in self._last:
            passed.append(commit)
            parent = next(iter(self._history.parents(commit)), None)
            if parent is None or not self._same(commit, parent):
                self._last[commit] = commit
            else:
                commit = parent
        self._last.update(dict.fromkeys(passed, self._last[commit]))
        return self._last[commit]

    def _same(self, commit: str, parent: str) -> bool:
        return self._name not in self._touched.by(commit, parent) or self._file(parent) == self._file(commit)

    def _file(self, commit: str) -> tuple[str, bytes] | None:
        tree = self._history.folder(self._history.root(commit), self._folder)
        if tree not in self._files:
            self._files[tree] = self._history.find(tree, self._name, self._folder)
        return self._files[tree]


# Blame: the commit that made an entry of a definition what it is, wherever it has moved since.

Blamed = Commit
"""A commit with its author, email, date (ISO 8601 with offset) and subject."""

_FOLDERS = {
    "node set": "nodesets",  # before `node`: a node's name holds no blank
    "feature": "features",
    "group": "groups",
    "node": "nodes",
    "override": "overrides",
}
_OF_RULES = ("rule ", "allocation ")
"""What these say stands in files that are known by their places alone: of rules there are many in one."""


class Blamer:
    """Blame from a revision on, or from the work tree (None): what is not in HEAD has no commit yet.

    An entry is a binding, a file, or an item of a list. Its commit is found from the start by going to
    the first parent that has an equal entry, until none has: of the same kind and name of definition,
    wherever its file lies, and saying the same, in whatever line and wherever in a list.
    """

    def __init__(self, repository: Repository, revision: str | None) -> None:
        self._history = History(repository)
        self._documents = Documents(self._history.read)
        self._touched = Touched(self._history)
        self._versions: dict[str, Versions] = {}
        self._worktree = repository.worktree() if revision is None else None
        self._begun: dict[str, Entries] = {}
        born = revision is not None or repository.knows("HEAD")
        self._head = repository.at(revision or "HEAD").commit if born else None

    def of(self, label: str, origin: Origin) -> Blamed | None:
        """Return the commit to blame for what stands at a place in a layer's definition.

        `label` is the layer as trails name it: "feature X", "group Y", "node N", "node set S", "override O",
        "rule R" or "allocation R". None: it is not committed yet. GitcfgError: nothing stands there.
        """
        key = origin.file if label.startswith(_OF_RULES) else label
        if key not in self._versions:
            self._versions[key] = self._of_file(key) if key is origin.file else self._of_layer(label)
        versions = self._versions[key]
        wanted = self._start(versions, origin.file).at.get(origin)
        if wanted is None:
            raise GitcfgError(f"Nothing that {label} says stands at {origin}.")
        if self._head is None or not wanted <= versions.at(self._head).all:
            return None
        return self._history.about(self._made(versions, wanted, self._head))

    def _made(self, versions: Versions, wanted: frozenset[Entry], commit: str) -> str:
        parent: str | None = commit
        while parent is not None:
            commit = versions.unchanged_since(parent)
            parents = self._history.parents(commit)
            parent = next((each for each in parents if wanted <= versions.at(each).all), None)
        return commit

    def _of_layer(self, label: str) -> Versions:
        kind = next(kind for kind in _FOLDERS if label.startswith(f"{kind} "))
        name = label.removeprefix(f"{kind} ")
        return Versions(self._history, self._documents, self._touched, (_FOLDERS[kind], name))

    def _of_file(self, path: str) -> Versions:
        folder, _, file = path.partition("/")
        name = file.rpartition("/")[2].removesuffix(".yaml")
        return Versions(self._history, self._documents, self._touched, (folder, name))

    def _start(self, versions: Versions, path: str) -> Entries:
        """Return the definition in which places are asked for."""
        if self._worktree is None:
            return versions.at(self._head) if self._head else Entries()
        if path not in self._begun:
            self._begun[path] = _read(self._worktree, path)
        return self._begun[path]


def _read(tree: Tree, path: str) -> Entries:
    """Return the entries of a file of the work tree."""
    entry = tree.entry(path)
    if entry is None:
        return Entries()
    documents = Documents(lambda file: tree.read(entry))
    return entries(documents.definition(path, b"", PLAIN))
