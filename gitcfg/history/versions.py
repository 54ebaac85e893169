"""The versions of one definition along the way from a commit to those before it."""

from gitcfg.git.history import History
from gitcfg.history.documents import Documents
from gitcfg.history.entries import Entries, entries
from gitcfg.load.root import FILE
from gitcfg.model import Origin, Settings

PLAIN = Settings(Origin(FILE), default_group="")
"""What definitions are read by: no name is the default group's, so that every entry of a list is seen."""


class Touched:
    """The names of the files that commits changed, beside their first parents; each is looked at once."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._known: dict[str, frozenset[str]] = {}

    def by(self, commit: str, parent: str) -> frozenset[str]:
        """The names, whatever folders they are in."""
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
        """The definition's entries in a commit, none where there is no such definition."""
        file = self._file(commit)
        if file not in self._entries:
            found = self._documents.definition(*file, PLAIN) if file else None
            self._entries[file] = entries(found)
        return self._entries[file]

    def unchanged_since(self, commit: str) -> str:
        """The oldest commit on the way through first parents in which the file is still the same."""
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
