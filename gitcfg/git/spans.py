"""Which commits are to be undone: one, a merge as one of its parents saw it, or a range."""

import msgspec
import pygit2

from gitcfg.git.repository import Repository
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.names import shown
from gitcfg.model.texts import ABBREVIATED

_WALK = pygit2.enums.SortMode.TOPOLOGICAL | pygit2.enums.SortMode.TIME


class Span(msgspec.Struct, frozen=True):
    """Commits, newest first; undoing them leads from the tree of `last` to that of `before`.

    `before` is None where nothing was before. `parent` is the one that a merge is undone against.
    """

    commits: tuple[str, ...]
    last: str
    before: str | None
    subject: str
    parent: str | None = None


def present(repository: Repository) -> str:
    """The commit that is checked out. GitcfgError: nothing can follow it here."""
    git = repository.git_or_error("it has no history")
    if not git.workdir:
        hint = "Work in a clone of it, and push."
        raise GitcfgError(f"{git.path} is a bare repository: it has no files to change.", hint)
    if git.head_is_unborn:
        raise GitcfgError("There is no commit yet, so there is nothing to go back to.", "Commit something.")
    if git.state():
        state = str(getattr(git.state(), "name", "work")).lower().replace("_", " ")
        hint = "`git status` says how to finish it, or to give it up."
        raise GitcfgError(f"git is in the middle of something here: {state}.", hint, code=REFUSED)
    return str(git.head.peel(pygit2.Commit).id)


def span(repository: Repository, asked: str, mainline: int | None, head: str) -> Span:
    """The commits that a revision, or A..B, means. GitcfgError: they cannot be undone."""
    git = repository.git_or_error("it has no history")
    if "..." in asked:
        raise GitcfgError(f"{shown(asked)} means two sides.", "Write A..B: what B has and A has not.")
    if ".." in asked:
        first, _, last = asked.partition("..")
        if mainline is not None:
            raise GitcfgError("--mainline goes with one merge, not with a range.")
        return _range(git, repository.commit(first or "HEAD"), repository.commit(last or "HEAD"), head)
    commit = repository.commit(asked)
    _refuse_foreign(git, commit, head)
    parent = _parent(git, commit, mainline)
    before = str(parent.id) if parent is not None else None
    merged = before if len(commit.parent_ids) > 1 else None
    return Span((str(commit.id),), str(commit.id), before, _subject(commit), merged)


def _range(git: pygit2.Repository, first: pygit2.Commit, last: pygit2.Commit, head: str) -> Span:
    _refuse_foreign(git, last, head)
    if first.id == last.id or not git.descendant_of(last.id, first.id):
        hint = "A..B means what came after A, up to B."
        raise GitcfgError(f"{_short(last)} does not come after {_short(first)}.", hint)
    walker = git.walk(last.id, _WALK)
    walker.hide(first.id)
    commits = tuple(str(commit.id) for commit in walker)
    return Span(commits, str(last.id), str(first.id), _subject(last))


def _refuse_foreign(git: pygit2.Repository, commit: pygit2.Commit, head: str) -> None:
    if str(commit.id) != head and not git.descendant_of(head, commit.id):
        hint = "`git log --oneline` lists what is."
        raise GitcfgError(f"{_short(commit)} is not in the history of HEAD.", hint)


def _parent(git: pygit2.Repository, commit: pygit2.Commit, mainline: int | None) -> pygit2.Commit | None:
    """What a commit came after; None: nothing. GitcfgError: that is not certain, or not here."""
    parents = commit.parents
    if not parents and b"\nparent " in git.odb.read(commit.id)[1].partition(b"\n\n")[0]:
        hint = "`git fetch --deepen=1` brings it."
        raise GitcfgError(f"What was before {_short(commit)} is not in this shallow clone.", hint)
    if mainline is not None and not 1 <= mainline <= max(len(parents), 1):
        hint = f"It has {len(parents)} of them." if parents else "It is the first commit, and has none."
        raise GitcfgError(f"{_short(commit)} has no parent {mainline}.", hint)
    if len(parents) > 1 and mainline is None:
        sides = (
            f"--mainline {number} goes back to {_short(parent)} ({shown(_subject(parent))})."
            for number, parent in enumerate(parents, start=1)
        )
        message = f"{_short(commit)} is a merge: undone, one of its sides stays, and you have to say which."
        raise GitcfgError(message, *sides)
    return parents[(mainline or 1) - 1] if parents else None


def _short(commit: pygit2.Commit) -> str:
    return str(commit.id)[:ABBREVIATED]


def _subject(commit: pygit2.Commit) -> str:
    return " ".join(commit.raw_message.decode("utf-8", "replace").strip().partition("\n\n")[0].split())
