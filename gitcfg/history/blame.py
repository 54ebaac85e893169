"""Blame by meaning: the commit that made each entry of a definition what it is."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from gitcfg.git.history import Commit, History
from gitcfg.git.repository import Repository
from gitcfg.git.tree import Tree
from gitcfg.history.definitions import meaning_text
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
"""The kind of an entry, its name, and its content."""


class Entries(msgspec.Struct, frozen=True):
    """All entries of a definition, also by their places."""

    all: frozenset[Entry] = frozenset()
    at: Mapping[Origin, frozenset[Entry]] = {}


def entries(definition: Any) -> Entries:
    """Return the entries of a feature, group, node, node set, override, allocation, or of rules together.

    Return none for a missing definition.
    """
    found: dict[Origin, set[Entry]] = {}
    for origin, entry in _entries(definition) if definition is not None else ():
        found.setdefault(origin, set()).add(entry)
    at = {origin: frozenset(those) for origin, those in found.items()}
    return Entries(frozenset().union(*at.values()), at)


def _entries(definition: Any) -> Iterator[tuple[Origin, Entry]]:
    if isinstance(definition, tuple):
        for rule in definition:
            yield from _rule_entries(rule)
        return
    if isinstance(definition, Allocation):
        yield from _items("install", definition.install)
        for slot, values in definition.values.items():
            for name, bound in values.items():
                yield bound.origin, ("values", slot, name, meaning_text(bound))
        return
    if isinstance(definition, NodeSet):
        definition = definition.definition
    yield definition.origin, ("definition",)
    for name, bound in definition.params.items():
        yield bound.origin, ("params", name, meaning_text(bound))
    for path, file in definition.files.items():
        yield file.origin, ("files", path, meaning_text(file))
    yield from _lists(definition)


def _rule_entries(rule: Rule) -> Iterator[tuple[Origin, Entry]]:
    """Yield the entries of a rule that trails and places refer to: what it installs, and what it sets."""
    yield rule.origin, ("rule", rule.name)
    if rule.feature is not None:
        yield rule.feature.origin, ("feature", rule.name, rule.feature.name)
    for name, bound in rule.params.items():
        yield bound.origin, ("params", rule.name, name, meaning_text(bound))


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
    """Yield the items of a list; their positions in the list are not part of them."""
    for item in items:
        yield item.origin, (key, meaning_text(item))


# The versions of one definition in a commit and its ancestors.

PLAIN = Settings(Origin(FILE), default_group="")
"""The settings for reading definitions: without a default group, so that every entry of a list counts."""


class ChangedFiles:
    """The names of the files that commits changed, compared to their first parents; cached by commit."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._known: dict[str, frozenset[str]] = {}

    def names(self, commit: str, parent: str) -> frozenset[str]:
        """Return the names, in any folder."""
        if commit not in self._known:
            before, after = self._history.root(parent), self._history.root(commit)
            changes = self._history.trees.changed(before, after)
            self._known[commit] = frozenset(change.path.rpartition("/")[2] for change in changes)
        return self._known[commit]


class Versions:
    """One definition by its kind's folder and its name, in any commit; a file is read once per version."""

    def __init__(
        self, history: History, documents: Documents, changes: ChangedFiles, folder: str, name: str
    ) -> None:
        self._history = history
        self._documents = documents
        self._changes = changes
        self._folder = folder
        self._name = f"{name}.yaml"
        self._files: dict[bytes | None, tuple[str, bytes] | None] = {}
        self._entries: dict[tuple[str, bytes] | None, Entries] = {}
        self._oldest: dict[str, str] = {}

    def at(self, commit: str) -> Entries:
        """Return the definition's entries in a commit, none if there is no such definition."""
        file = self._file(commit)
        if file not in self._entries:
            found = self._documents.definition(*file, PLAIN) if file else None
            self._entries[file] = entries(found)
        return self._entries[file]

    def unchanged_since(self, commit: str) -> str:
        """Return the oldest commit, by first parents, since which the file is unchanged."""
        passed = []
        while commit not in self._oldest:
            passed.append(commit)
            parent = next(iter(self._history.parents(commit)), None)
            is_changed = parent is not None and self._name in self._changes.names(commit, parent)
            if parent is None or (is_changed and self._file(parent) != self._file(commit)):
                self._oldest[commit] = commit
            else:
                commit = parent
        self._oldest.update(dict.fromkeys(passed, self._oldest[commit]))
        return self._oldest[commit]

    def _file(self, commit: str) -> tuple[str, bytes] | None:
        tree = self._history.folder(self._history.root(commit), self._folder)
        if tree not in self._files:
            self._files[tree] = self._history.find(tree, self._name, self._folder)
        return self._files[tree]


# Blame: the commit that made an entry of a definition what it is, even if it was moved since.

Blamed = Commit
"""A commit with its author, email, date (ISO 8601 with offset) and subject."""

_FOLDERS = {
    "node set": "nodesets",  # before `node`: a node's name contains no blank
    "feature": "features",
    "group": "groups",
    "node": "nodes",
    "override": "overrides",
}
_OF_RULES = ("rule ", "allocation ")
"""Labels of layers whose files are found by path: one file has many rules."""


class Blamer:
    """Blame from a revision, or from the work tree (None): what is not in HEAD has no commit yet.

    An entry is a binding, a file, or an item of a list. From the start, the first parent with an equal entry
    is followed until none has one: an entry of the same kind and name of definition, with the same content,
    in any folder, in any line, and at any position in a list.
    """

    def __init__(self, repository: Repository, revision: str | None) -> None:
        self._history = History(repository)
        self._documents = Documents(self._history.read)
        self._changes = ChangedFiles(self._history)
        self._versions: dict[str, Versions] = {}
        self._worktree = repository.worktree() if revision is None else None
        self._worktree_entries: dict[str, Entries] = {}
        has_commits = revision is not None or repository.knows("HEAD")
        self._head = repository.at(revision or "HEAD").commit if has_commits else None

    def of(self, label: str, origin: Origin) -> Blamed | None:
        """Return the commit of the entry at a place in a layer's definition.

        `label` is the layer's name in trails: "feature X", "group Y", "node N", "node set S", "override O",
        "rule R" or "allocation R". None: it is not committed yet. Raise GitcfgError if there is no entry at
        the place.
        """
        versions = self._find_versions(label, origin.file)
        if self._worktree is not None:
            current = self._read_worktree(self._worktree, origin.file)
        else:
            current = versions.at(self._head) if self._head else Entries()
        blamed = current.at.get(origin)
        if blamed is None:
            raise GitcfgError(f"There is nothing of {label} at {origin}.")
        if self._head is None or not blamed <= versions.at(self._head).all:
            return None
        parent: str | None = self._head
        while parent is not None:
            commit = versions.unchanged_since(parent)
            parents = self._history.parents(commit)
            parent = next((each for each in parents if blamed <= versions.at(each).all), None)
        return self._history.about(commit)

    def _find_versions(self, label: str, path: str) -> Versions:
        is_of_rules = label.startswith(_OF_RULES)
        key = path if is_of_rules else label
        if key not in self._versions:
            if is_of_rules:
                folder, name = path.partition("/")[0], path.rpartition("/")[2].removesuffix(".yaml")
            else:
                kind = next(kind for kind in _FOLDERS if label.startswith(f"{kind} "))
                folder, name = _FOLDERS[kind], label.removeprefix(f"{kind} ")
            self._versions[key] = Versions(self._history, self._documents, self._changes, folder, name)
        return self._versions[key]

    def _read_worktree(self, tree: Tree, path: str) -> Entries:
        if path not in self._worktree_entries:
            entry, found = tree.entry(path), Entries()
            if entry is not None:
                documents = Documents(lambda file: tree.read(entry))
                found = entries(documents.definition(path, b"", PLAIN))
            self._worktree_entries[path] = found
        return self._worktree_entries[path]
