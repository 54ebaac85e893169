"""The refs of a repository, and which commits are between them."""

from collections.abc import Iterable

import pygit2
from pygit2.enums import SortMode

from gitcfg.git.objects import missing
from gitcfg.git.repository import Repository

_MOST_ALIASES = 5
"""git follows no more."""
_OLDEST_FIRST = SortMode.TOPOLOGICAL | SortMode.REVERSE


class Refs:
    """Refs by their full names, commits by their ids in hexadecimal."""

    def __init__(self, repository: Repository) -> None:
        """GitcfgError: there is no git repository."""
        self._git = repository.git_or_error("it has no refs")

    @property
    def head(self) -> str:
        """The branch that HEAD names, even if it has no commit yet; `HEAD` where it names none."""
        target = self._git.references["HEAD"].raw_target
        return target if isinstance(target, str) else target.decode() if isinstance(target, bytes) else "HEAD"

    def names(self) -> tuple[str, ...]:
        """All refs, in order of name."""
        return tuple(sorted(self._git.references))

    def tip(self, ref: str) -> str | None:
        """The commit at a ref; None: there is none."""
        found = self._git.references.get(ref)
        try:
            return str(found.peel(pygit2.Commit).id) if found is not None else None
        except (KeyError, ValueError, pygit2.GitError):
            return None

    def moved(self, ref: str) -> str:
        """The ref that moves where one is pushed to: itself, or the one that it is another name of."""
        for _ in range(_MOST_ALIASES):
            found = self._git.references.get(ref)
            if found is None or not isinstance(found.raw_target, str | bytes):
                return ref
            target = found.raw_target
            ref = target if isinstance(target, str) else target.decode("utf-8", "backslashreplace")
        return ref

    def commit(self, id: str) -> str | None:
        """The commit that an object is, or a tag names; None: it leads to none."""
        try:
            return str(self._git[id].peel(pygit2.Commit).id)
        except (KeyError, ValueError, pygit2.GitError):
            return None

    def tip_or_error(self, ref: str) -> str | None:
        """The commit at a ref, as `tip`. GitcfgError: it cannot be read what the ref leads to."""
        found = self._git.references.get(ref)
        return self.commit_or_error(str(found.resolve().target)) if found is not None else None

    def commit_or_error(self, id: str) -> str | None:
        """The commit that an object is, as `commit`. GitcfgError: it cannot be read what it leads to."""
        try:
            return str(self._git[id].peel(pygit2.Commit).id)
        except KeyError:
            raise missing(id) from None
        except (ValueError, pygit2.GitError):
            return None

    def includes(self, commit: str, other: str) -> bool:
        """Is one commit the other, or does it come after it?"""
        return commit == other or self._git.descendant_of(commit, other)

    def base(self, ours: str, theirs: str) -> str | None:
        """The commit at which two parted; None: they have nothing in common."""
        found = self._git.merge_base(ours, theirs)
        return str(found) if found is not None else None

    def between(self, known: Iterable[str], *new: str) -> tuple[str, ...]:
        """The commits that lead to new ones, and are neither known nor lead to what is; parents first."""
        walker = self._git.walk(None, _OLDEST_FIRST)
        for commit in new:
            walker.push(commit)
        for commit in known:
            walker.hide(commit)
        return tuple(str(commit.id) for commit in walker)
