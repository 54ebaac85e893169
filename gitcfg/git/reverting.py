"""What undoing commits would make of the present: a merge in memory, and what of it is not certain."""

from collections.abc import Mapping
from enum import StrEnum

import msgspec
import pygit2
from pygit2.enums import MergeFavor

from gitcfg.git.index import IndexTree, merged
from gitcfg.git.repository import Repository
from gitcfg.git.spans import Span
from gitcfg.git.store import Store

_Entry = pygit2.IndexEntry | None
_Trees = tuple[pygit2.Tree, pygit2.Tree, pygit2.Tree]
"""What was changed, what there is now, and what was before the change."""


class Side(StrEnum):
    """Which side counts where two do not go together: what is there now, or what undoing would give."""

    OURS = "ours"
    THEIRS = "theirs"


_FAVOR = {Side.OURS: MergeFavor.OURS, Side.THEIRS: MergeFavor.THEIRS}


class Conflict(msgspec.Struct, frozen=True):
    """A file that was changed again since: what it was then, is now, and would be; None: not there.

    `path` is git's, from the top on.
    """

    path: str
    base: bytes | None
    ours: bytes | None
    theirs: bytes | None


class Proposed:
    """A tree that is to follow a commit, still in memory."""

    def __init__(self, git: pygit2.Repository, prefix: str, index: pygit2.Index) -> None:
        self._git = git
        self._index = index
        self.prefix = prefix

    def tree(self) -> IndexTree:
        """The repository in it."""
        return IndexTree(self._git, self.prefix, merged(self._index))

    def held(self, path: str) -> bytes | None:
        """What a file holds in it, by git's path; None: it is not there."""
        return _content(self._git, self._index[path]) if path in self._index else None

    def write(self) -> str:
        """Its id, once git has it; nothing leads to it yet."""
        return str(self._index.write_tree(self._git))


def undone(
    repository: Repository, span: Span, head: str, chosen: Mapping[str, Side | bytes]
) -> tuple[Proposed | None, tuple[Conflict, ...]]:
    """What HEAD would be without some commits; `chosen` says by path which side or text counts.

    Where conflicts are left there is nothing to propose.
    """
    git = repository.git_or_error()
    trees = (_tree(git, span.last), _tree(git, head), _tree(git, span.before))
    index = _merged(git, trees, MergeFavor.NORMAL)
    left = []
    for sides in list(index.conflicts or ()):
        path = next(entry.path for entry in sides if entry is not None)
        if sides[1] is None and sides[2] is None:
            # Of a file that both sides renamed, or one renamed and the other removed, git keeps the old name.
            del index.conflicts[path]
        elif path in chosen:
            _settle(git, index, path, sides, chosen[path], trees)
        else:
            left.append(Conflict(path, *(_content(git, entry) for entry in sides)))
    left.sort(key=lambda conflict: conflict.path)
    return (None, tuple(left)) if left else (Proposed(git, repository.prefix, index), ())


def restored(repository: Repository, commit: str, head: str) -> Proposed:
    """HEAD with the repository's folder as another commit has it."""
    git = repository.git_or_error()
    index = pygit2.Index()
    if not repository.prefix:
        index.read_tree(_tree(git, commit))
        return Proposed(git, "", index)
    inside = f"{repository.prefix}/"
    index.read_tree(_tree(git, head))
    then = pygit2.Index()
    then.read_tree(_tree(git, commit))
    for path in [entry.path for entry in index if entry.path.startswith(inside)]:
        index.remove(path)
    for entry in then:
        if entry.path.startswith(inside):
            index.add(entry)
    return Proposed(git, repository.prefix, index)


def _tree(git: pygit2.Repository, commit: str | None) -> pygit2.Tree:
    if commit is None:  # what was before the first commit
        found = git[git.TreeBuilder().write()]
        assert isinstance(found, pygit2.Tree)
        return found
    return git[commit].peel(pygit2.Tree)


def _merged(git: pygit2.Repository, trees: _Trees, favor: MergeFavor) -> pygit2.Index:
    base, ours, theirs = trees
    Store(git).complete(*(str(tree.id) for tree in trees))
    return git.merge_trees(base, ours, theirs, favor=favor)


def _settle(
    git: pygit2.Repository,
    index: pygit2.Index,
    path: str,
    sides: tuple[_Entry, _Entry, _Entry],
    side: Side | bytes,
    trees: _Trees,
) -> None:
    """Where all three have the file, what goes together is kept; else it is as one side has it."""
    if isinstance(side, bytes):
        kept = sides[1]
        assert kept is not None
        del index.conflicts[path]
        index.add(pygit2.IndexEntry(kept.path, git.create_blob(side), kept.mode))
        return
    entry = sides[1] if side is Side.OURS else sides[2]
    if None not in sides:
        favoured = _merged(git, trees, _FAVOR[side])
        open_still = {each.path for found in favoured.conflicts or () for each in found if each}
        if path not in open_still and path in favoured:
            entry = favoured[path]
    del index.conflicts[path]
    if entry is not None:
        index.add(pygit2.IndexEntry(entry.path, entry.id, entry.mode))


def _content(git: pygit2.Repository, entry: _Entry) -> bytes | None:
    if entry is None:
        return None
    found = git.get(entry.id)
    return found.data if isinstance(found, pygit2.Blob) else b""
