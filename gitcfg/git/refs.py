"""The refs of a repository: branches and what is between their commits, notes on commits, snapshots."""

import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pygit2
from pygit2.enums import SortMode

from gitcfg.git.history import History, format_date
from gitcfg.git.objects import missing_object
from gitcfg.git.program import Git
from gitcfg.git.repository import Repository
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.names import did_you_mean, shown

_MOST_ALIASES = 5
"""git follows no more symbolic refs."""
_OLDEST_FIRST = SortMode.TOPOLOGICAL | SortMode.REVERSE


class Refs:
    """Refs by their full names, commits by their ids in hexadecimal."""

    def __init__(self, repository: Repository) -> None:
        """Raise GitcfgError if there is no git repository."""
        self._git = repository.git_or_error("it has no refs")

    @property
    def head(self) -> str:
        """The branch that HEAD points to, even if it has no commit yet; `HEAD` if it points to none."""
        target = self._git.references["HEAD"].raw_target
        return target if isinstance(target, str) else target.decode() if isinstance(target, bytes) else "HEAD"

    def names(self) -> tuple[str, ...]:
        """Return all refs, in order of name."""
        return tuple(sorted(self._git.references))

    def tip(self, ref: str) -> str | None:
        """Return the commit at a ref; None: there is none."""
        found = self._git.references.get(ref)
        try:
            return str(found.peel(pygit2.Commit).id) if found is not None else None
        except (KeyError, ValueError, pygit2.GitError):
            return None

    def moved(self, ref: str) -> str:
        """Return the ref that moves when one is pushed to: itself, or the target of a symbolic ref."""
        for _ in range(_MOST_ALIASES):
            found = self._git.references.get(ref)
            if found is None or not isinstance(found.raw_target, str | bytes):
                return ref
            target = found.raw_target
            ref = target if isinstance(target, str) else target.decode("utf-8", "backslashreplace")
        return ref

    def commit(self, id: str) -> str | None:
        """Return the commit that an object is, or that a tag points to; None: there is none."""
        try:
            return str(self._git[id].peel(pygit2.Commit).id)
        except (KeyError, ValueError, pygit2.GitError):
            return None

    def tip_or_error(self, ref: str) -> str | None:
        """Return the commit at a ref, as `tip`. Raise GitcfgError if the ref's object cannot be read."""
        found = self._git.references.get(ref)
        return self.commit_or_error(str(found.resolve().target)) if found is not None else None

    def commit_or_error(self, id: str) -> str | None:
        """Return the commit of an object, as `commit`. Raise GitcfgError if the object cannot be read."""
        try:
            return str(self._git[id].peel(pygit2.Commit).id)
        except KeyError:
            raise missing_object(id) from None
        except (ValueError, pygit2.GitError):
            return None

    def includes(self, commit: str, other: str) -> bool:
        """Return whether a commit is the other one, or a descendant of it."""
        return commit == other or self._git.descendant_of(commit, other)

    def base(self, ours: str, theirs: str) -> str | None:
        """Return the commit at which two diverged; None: they have no common history."""
        found = self._git.merge_base(ours, theirs)
        return str(found) if found is not None else None

    def between(self, known: Iterable[str], *new: str) -> tuple[str, ...]:
        """Return the commits up to new ones, without known ones and their ancestors; parents first."""
        walker = self._git.walk(None, _OLDEST_FIRST)
        for commit in new:
            walker.push(commit)
        for commit in known:
            walker.hide(commit)
        return tuple(str(commit.id) for commit in walker)


_TRIES, _PAUSE = 100, 0.05  # adding a note takes 10 ms
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def append_note(git: Git, ref: str, commit: str, text: str) -> None:
    """Add a paragraph to the note on a commit under a ref. Raise GitcfgError if git cannot."""
    # git reads the notes and then writes all of them: of two writers at once, one would lose its note.
    with _notes_lock(git.folder):
        git.run("notes", f"--ref={ref}", "append", "-F", "-", commit, stdin=text.encode(), **git.identity())


@contextmanager
def _notes_lock(folder: Path) -> Iterator[None]:
    """Hold the lock on notes. If it is not free within five seconds, continue without it."""
    place = os.open(folder, _FOLDER)
    try:
        for _ in range(_TRIES):
            try:
                fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(_PAUSE)
            except OSError:
                break
            else:
                break
        yield
    finally:
        os.close(place)


SNAPSHOT_REFS = "refs/tags/snapshot/"


class Snapshot(msgspec.Struct, frozen=True):
    """A named commit: who named it, when (ISO 8601 with offset), and for what reason."""

    name: str
    commit: str
    author: str
    email: str
    date: str
    message: str

    @property
    def revision(self) -> str:
        """The revision for git's commands."""
        return f"snapshot/{self.name}"


class Snapshots:
    """The snapshots of a repository."""

    def __init__(self, repository: Repository) -> None:
        """Raise GitcfgError if there is no git repository."""
        self._history = History(repository)
        self._git = self._history.git

    def all(self) -> Iterator[Snapshot]:
        """Yield all of them, in order of name. A tag that points to no commit is left out."""
        for ref in sorted(ref for ref in self._git.references if ref.startswith(SNAPSHOT_REFS)):
            found = self._snapshot(ref)
            if found is not None:
                yield found

    def named(self, name: str) -> Snapshot:
        """Return the snapshot of a name. Raise GitcfgError if there is none."""
        found = self._snapshot(SNAPSHOT_REFS + name) if SNAPSHOT_REFS + name in self._git.references else None
        if found is None:
            near = did_you_mean(name, (each.name for each in self.all()))
            hint = near or "Run `gitcfg snapshot list` to list snapshots."
            raise GitcfgError(f"There is no snapshot {shown(name)}.", hint)
        return found

    def create(self, git: Git, name: str, commit: str, message: str) -> Snapshot:
        """Name a commit. Raise GitcfgError if the name is not valid, or is taken (4)."""
        ref = SNAPSHOT_REFS + name
        if git.try_run("check-ref-format", ref)[0]:
            hint = "Use letters, digits, `-`, `_`, `.`, and `/` between parts."
            raise GitcfgError(f"{shown(name)!r} is not a valid snapshot name.", hint)
        if ref in self._git.references:
            hint = f"Run `gitcfg snapshot show {shown(name)}` to see it."
            raise GitcfgError(f"The snapshot {shown(name)} already exists.", hint, code=REFUSED)
        words = ("--annotate", "--cleanup=whitespace", "--file=-", "--", ref.removeprefix("refs/tags/"))
        git.run("tag", *words, commit, stdin=message.encode())
        return self.named(name)

    def delete(self, git: Git, name: str) -> str:
        """Delete a name. Return the id of the tag that it had."""
        self.named(name)
        was = str(self._git.references[SNAPSHOT_REFS + name].target)
        git.run("update-ref", "--no-deref", "-d", SNAPSHOT_REFS + name, was)
        return was

    def _snapshot(self, ref: str) -> Snapshot | None:
        try:
            target = self._git[self._git.references[ref].resolve().target]
            commit = target.peel(pygit2.Commit)
        except (KeyError, ValueError, pygit2.GitError):
            return None
        about = self._history.about(str(commit.id))
        name = ref.removeprefix(SNAPSHOT_REFS)
        if not isinstance(target, pygit2.Tag) or target.tagger is None:  # made by other tools
            return Snapshot(name, about.commit, about.author, about.email, about.date, about.subject)
        tagger = target.tagger
        who, email = (raw.decode("utf-8", "replace") for raw in (tagger.raw_name, tagger.raw_email))
        text = target.raw_message.decode("utf-8", "replace").partition("-----BEGIN ")[0].strip()
        return Snapshot(name, about.commit, who, email, format_date(tagger.time, tagger.offset), text)
