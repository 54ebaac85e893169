"""Undo commits: which ones a revision means, and HEAD without them.

The result is a merge in memory (base: the last undone commit, ours: HEAD, theirs: the tree before it), so
nothing is written before it has been checked.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum

import msgspec
import pygit2
from pygit2.enums import FileMode, MergeFavor

from gitcfg.git.index import IndexTree, merged
from gitcfg.git.objects import Store
from gitcfg.git.refs import Snapshot
from gitcfg.git.repository import Repository
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.names import shown
from gitcfg.model.text import ABBREVIATED, counted

_WALK = pygit2.enums.SortMode.TOPOLOGICAL | pygit2.enums.SortMode.TIME


class Span(msgspec.Struct, frozen=True):
    """Commits, newest first; undoing them leads from the tree of `last` to that of `before`.

    `before` is None if there was no commit before. `parent` is the one against which a merge is undone.
    """

    commits: tuple[str, ...]
    last: str
    before: str | None
    subject: str
    parent: str | None = None


def checked_out_commit(repository: Repository) -> str:
    """Return the commit that is checked out. Raise GitcfgError if no commit can follow it."""
    git = repository.git_or_error("it has no history")
    if not git.workdir:
        hint = "Work in a clone of it, and push."
        raise GitcfgError(f"{git.path} is a bare repository: it has no files to change.", hint)
    if git.head_is_unborn:
        raise GitcfgError("There is no commit yet, so there is nothing to undo.", "Commit something first.")
    if git.state():
        state = str(getattr(git.state(), "name", "work")).lower().replace("_", " ")
        hint = "Run `git status` to see how to finish or abort it."
        raise GitcfgError(f"git is in the middle of an operation here: {state}.", hint, code=REFUSED)
    return str(git.head.peel(pygit2.Commit).id)


def find_span(repository: Repository, revision: str, mainline: int | None, head: str) -> Span:
    """Return the commits that a revision, or A..B, means. Raise GitcfgError if they cannot be undone."""
    git = repository.git_or_error("it has no history")
    if "..." in revision:
        raise GitcfgError(
            f"{shown(revision)} is not a range.", "Write A..B: the commits that B has and A does not."
        )
    if ".." in revision:
        first, _, last = revision.partition("..")
        if mainline is not None:
            raise GitcfgError("`--mainline` works with one merge, not with a range.")
        return _find_range(git, repository.commit(first or "HEAD"), repository.commit(last or "HEAD"), head)
    commit = repository.commit(revision)
    _refuse_foreign(git, commit, head)
    parent = _find_parent(git, commit, mainline)
    before = str(parent.id) if parent is not None else None
    merged = before if len(commit.parent_ids) > 1 else None
    return Span((str(commit.id),), str(commit.id), before, _subject(commit), merged)


def _find_range(git: pygit2.Repository, first: pygit2.Commit, last: pygit2.Commit, head: str) -> Span:
    _refuse_foreign(git, last, head)
    if first.id == last.id or not git.descendant_of(last.id, first.id):
        hint = "A..B means the commits after A, up to B."
        raise GitcfgError(f"{_short(last)} is not a descendant of {_short(first)}.", hint)
    walker = git.walk(last.id, _WALK)
    walker.hide(first.id)
    commits = tuple(str(commit.id) for commit in walker)
    return Span(commits, str(last.id), str(first.id), _subject(last))


def _refuse_foreign(git: pygit2.Repository, commit: pygit2.Commit, head: str) -> None:
    if str(commit.id) != head and not git.descendant_of(head, commit.id):
        hint = "Run `git log --oneline` to list its commits."
        raise GitcfgError(f"{_short(commit)} is not in the history of HEAD.", hint)


def _find_parent(git: pygit2.Repository, commit: pygit2.Commit, mainline: int | None) -> pygit2.Commit | None:
    """Return the parent to return to, if any. Raise GitcfgError for a merge without `mainline`."""
    parents = commit.parents
    if not parents and b"\nparent " in git.odb.read(commit.id)[1].partition(b"\n\n")[0]:
        hint = "Run `git fetch --deepen=1` to get it."
        raise GitcfgError(f"The parent of {_short(commit)} is not in this shallow clone.", hint)
    if mainline is not None and not 1 <= mainline <= max(len(parents), 1):
        hint = (
            f"It has {counted(len(parents), 'parent')}."
            if parents
            else "It is the first commit and has no parent."
        )
        raise GitcfgError(f"{_short(commit)} has no parent {mainline}.", hint)
    if len(parents) > 1 and mainline is None:
        sides = (
            f"--mainline {number} goes back to {_short(parent)} ({shown(_subject(parent))})."
            for number, parent in enumerate(parents, start=1)
        )
        message = f"{_short(commit)} is a merge: choose the parent to go back to with `--mainline`."
        raise GitcfgError(message, *sides)
    return parents[(mainline or 1) - 1] if parents else None


def _short(commit: pygit2.Commit) -> str:
    return str(commit.id)[:ABBREVIATED]


def _subject(commit: pygit2.Commit) -> str:
    return " ".join(commit.raw_message.decode("utf-8", "replace").strip().partition("\n\n")[0].split())


_Entry = pygit2.IndexEntry | None
_Trees = tuple[pygit2.Tree, pygit2.Tree, pygit2.Tree]
"""The trees of the change, of now, and of before the change."""


class Side(StrEnum):
    """The side that counts in a conflict: what there is now, or what undoing would give."""

    OURS = "ours"
    THEIRS = "theirs"


class Conflict(msgspec.Struct, frozen=True):
    """A file that was changed again since: its content in the change, now, and after undoing; None: no file.

    `path` is git's, from the top of its tree.
    """

    path: str
    base: bytes | None
    ours: bytes | None
    theirs: bytes | None


class Proposal:
    """A new tree that follows a commit, still in memory."""

    def __init__(self, git: pygit2.Repository, prefix: str, index: pygit2.Index) -> None:
        self._git = git
        self._index = index
        self.prefix = prefix

    def tree(self) -> IndexTree:
        """Return the repository in the tree."""
        return IndexTree(self._git, self.prefix, merged(self._index))

    def held(self, path: str) -> bytes | None:
        """Return the content of a file in the tree, by git's path; None: there is none."""
        return _content(self._git, self._index[path]) if path in self._index else None

    def write(self) -> str:
        """Return the tree's id after writing it to git; no ref points to it yet."""
        return str(self._index.write_tree(self._git))


def revert(
    repository: Repository, span: Span, head: str, chosen: Mapping[str, Side | bytes]
) -> tuple[Proposal | None, tuple[Conflict, ...]]:
    """Return HEAD without some commits, and the conflicts; `chosen` has the side or text to use, by path.

    With conflicts left there is no proposal.
    """
    git = repository.git_or_error()
    trees = (_tree(git, span.last), _tree(git, head), _tree(git, span.before))
    index = _merge_trees(git, trees, MergeFavor.NORMAL)
    left = []
    for sides in list(index.conflicts or ()):
        path = next(entry.path for entry in sides if entry is not None)
        if sides[1] is None and sides[2] is None:
            # If both sides renamed a file, or one renamed and the other removed it, git keeps the old name.
            del index.conflicts[path]
        elif path in chosen:
            _resolve(git, index, path, sides, chosen[path], trees)
        else:
            left.append(Conflict(path, *(_content(git, entry) for entry in sides)))
    left.sort(key=lambda conflict: conflict.path)
    return (None, tuple(left)) if left else (Proposal(git, repository.prefix, index), ())


def restore(repository: Repository, commit: str, head: str) -> Proposal:
    """Return HEAD with the repository's folder from another commit."""
    git = repository.git_or_error()
    index = pygit2.Index()
    if not repository.prefix:
        index.read_tree(_tree(git, commit))
        return Proposal(git, "", index)
    inside = f"{repository.prefix}/"
    index.read_tree(_tree(git, head))
    then = pygit2.Index()
    then.read_tree(_tree(git, commit))
    for path in [entry.path for entry in index if entry.path.startswith(inside)]:
        index.remove(path)
    for entry in then:
        if entry.path.startswith(inside):
            index.add(entry)
    return Proposal(git, repository.prefix, index)


def _tree(git: pygit2.Repository, commit: str | None) -> pygit2.Tree:
    if commit is None:  # the tree before the first commit
        found = git[git.TreeBuilder().write()]
        assert isinstance(found, pygit2.Tree)
        return found
    return git[commit].peel(pygit2.Tree)


def _merge_trees(git: pygit2.Repository, trees: _Trees, favor: MergeFavor) -> pygit2.Index:
    base, ours, theirs = trees
    Store(git).complete(*(str(tree.id) for tree in trees))
    return git.merge_trees(base, ours, theirs, favor=favor)


def _resolve(
    git: pygit2.Repository,
    index: pygit2.Index,
    path: str,
    sides: tuple[_Entry, _Entry, _Entry],
    side: Side | bytes,
    trees: _Trees,
) -> None:
    """Resolve a conflict.

    If all three sides have the file, merge it as far as possible; else use one side.
    """
    if isinstance(side, bytes):
        ours = sides[1]
        assert ours is not None
        del index.conflicts[path]
        index.add(pygit2.IndexEntry(ours.path, git.create_blob(side), ours.mode))
        return
    entry = sides[1] if side is Side.OURS else sides[2]
    if None not in sides:
        favoured = _merge_trees(git, trees, MergeFavor.OURS if side is Side.OURS else MergeFavor.THEIRS)
        still_open = {each.path for found in favoured.conflicts or () for each in found if each}
        if path not in still_open and path in favoured:
            entry = favoured[path]
    del index.conflicts[path]
    if entry is not None:
        index.add(pygit2.IndexEntry(entry.path, entry.id, entry.mode))


def _content(git: pygit2.Repository, entry: _Entry) -> bytes | None:
    if entry is None:
        return None
    found = git.get(entry.id)
    return found.data if isinstance(found, pygit2.Blob) else b""


_SEPARATOR = b"\x01"
"""A line that is put between any two: a control character, which texts do not contain."""


def later_versions(
    repository: Repository, head: str, since: str, path: str
) -> Iterator[tuple[str, bytes | None]]:
    """Yield the commits after `since` that changed a file, newest first, each with its content there."""
    git = repository.git_or_error()
    walker = git.walk(head)
    walker.hide(since)
    for commit in walker:
        now = _blob(commit, path)
        if all(_blob(parent, path) != now for parent in commit.parents):
            yield str(commit.id), git[now].read_raw() if now is not None else None


def _blob(commit: pygit2.Commit, path: str) -> pygit2.Oid | None:
    try:
        found = commit.tree[path]
    except KeyError:
        return None
    return found.id if isinstance(found, pygit2.Blob) else None


def merge_lines(repository: Repository, conflict: Conflict) -> bytes | None:
    """Merge both changes of a file line by line; return None if there are conflicts even so.

    git treats changes of neighbouring lines as one change. A separator line between any two prevents this.
    """
    git = repository.git_or_error()
    texts = (conflict.base, conflict.ours, conflict.theirs)
    if any(text is None or not _is_separable(text) for text in texts):
        return None
    base, ours, theirs = (_separate_lines(git, conflict.path, text or b"") for text in texts)
    result = git.merge_file_from_index(base, ours, theirs, use_deprecated=False)
    if not result.automergeable:
        return None
    lines = result.contents.encode().split(b"\n")
    return b"\n".join(line for line in lines if line != _SEPARATOR).removesuffix(b"\n")


def _is_separable(data: bytes) -> bool:
    """Return whether it is text without the separator, which would be removed with the added ones."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return _SEPARATOR not in data


def _separate_lines(git: pygit2.Repository, path: str, text: bytes) -> pygit2.IndexEntry:
    lines = b"".join(b"%b\n%b\n" % (line, _SEPARATOR) for line in text.split(b"\n"))
    return pygit2.IndexEntry(path, git.create_blob(lines), FileMode.BLOB)


# The messages of the commits.


def restore_message(snapshot: Snapshot, more: str | None) -> str:
    """Return the message of the commit that restores a snapshot."""
    message = f"Restore snapshot {snapshot.name}\n\nThis restores commit {snapshot.commit}.\n"
    return message + (f"\n{more.strip()}\n" if more else "")


def revert_message(span: Span, more: str | None) -> str:
    """Return the message of the commit that undoes others, in the form of `git revert`."""
    if len(span.commits) == 1:
        was, subject = span.subject, f'Revert "{span.subject}"'
        # git calls the revert of a revert a reapplication, but does this only once.
        if was.startswith('Revert "') and was.endswith('"') and not was.startswith('Revert "Revert "'):
            subject = f"Reapply {was.removeprefix('Revert ')}"
        against = f", reversing\nchanges made to {span.parent}" if span.parent is not None else ""
        message = f"{subject}\n\nThis reverts commit {span.last}{against}.\n"
    else:
        each = "".join(f"This reverts commit {commit}.\n" for commit in span.commits)
        message = f'Revert {len(span.commits)} commits up to "{span.subject}"\n\n{each}'
    return message + (f"\n{more.strip()}\n" if more else "")
