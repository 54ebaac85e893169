"""Blame: the commit that made an entry of a definition what it is, wherever it has moved since."""

from gitcfg.git.history import Commit, History
from gitcfg.git.repository import Repository
from gitcfg.git.tree import Tree
from gitcfg.history.documents import Documents
from gitcfg.history.entries import Entries, Entry, entries
from gitcfg.history.versions import PLAIN, Touched, Versions
from gitcfg.model import GitcfgError, Origin

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
        """The commit to blame for what stands at a place in a layer's definition.

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
        """The definition in which places are asked for."""
        if self._worktree is None:
            return versions.at(self._head) if self._head else Entries()
        if path not in self._begun:
            self._begun[path] = _read(self._worktree, path)
        return self._begun[path]


def _read(tree: Tree, path: str) -> Entries:
    """The entries of a file of the work tree."""
    entry = tree.entry(path)
    if entry is None:
        return Entries()
    documents = Documents(lambda file: tree.read(entry))
    return entries(documents.definition(path, b"", PLAIN))
