"""Which two fleets are compared: revisions as git writes them, the index, or the work tree."""

import os
from collections.abc import Sequence

from gitcfg.library import Fleet, Source
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown


class Sides:
    """The words of a command line: up to two revisions first, then nodes."""

    def __init__(self, source: Source, words: Sequence[str], staged: bool = False, merge: str = "") -> None:
        self.source = source
        self.staged = staged
        self.merge = merge
        self.revisions: list[str] = []
        self.common = False
        rest = list(words)
        if rest and ".." in rest[0] and self._range(rest[0]):
            del rest[0]
        else:
            while rest and len(self.revisions) < 2 and self._is_revision(rest[0]):
                self.revisions.append(rest.pop(0))
        self.nodes = tuple(rest)
        if (staged or merge) and len(self.revisions) > 1:
            raise GitcfgError("--staged and --merge take one revision at most.")
        if staged and merge:
            raise GitcfgError("--staged and --merge do not go together.", "Say one of them.")

    def fleets(self) -> tuple[Fleet, Fleet]:
        """Old and new. Without revisions: what is committed, and the work tree."""
        source = self.source
        old = self.revisions[0] if self.revisions else "HEAD"
        if self.merge:
            return source.at(old), source.merged(old, self.merge)
        if self.staged:
            return source.at(old), source.index(os.environ.get("GIT_INDEX_FILE"))
        if len(self.revisions) < 2:
            return source.at(old), source.worktree()
        if self.common:
            old = source.repository.merge_base(*self.revisions)
        return source.at(old), source.at(self.revisions[1])

    def ambiguous(self, fleets: tuple[Fleet, Fleet]) -> None:
        """GitcfgError: a word that was taken for a revision is a node's name, too."""
        for word in self.revisions:
            if any(word in fleet for fleet in fleets):
                hint = f"Write refs/heads/{word} for a branch, or --where 'node.name == \"{word}\"'."
                raise GitcfgError(f"{shown(word)} is a revision and a node.", hint)

    def _is_revision(self, word: str) -> bool:
        return self.source.repository.knows(word)

    def _range(self, word: str) -> bool:
        """`A..B`, `A...B` (from where they parted to B); an end left out is HEAD."""
        dots = "..." if "..." in word else ".."
        first, _, second = word.partition(dots)
        ends = [first or "HEAD", second or "HEAD"]
        if not all(map(self._is_revision, ends)):
            return False
        self.revisions, self.common = ends, dots == "..."
        return True


def selected(fleets: tuple[Fleet, Fleet], words: Sequence[str], where: str | None) -> tuple[str, ...] | None:
    """The nodes that words and a condition select on either side; None: no choice was made."""
    from gitcfg.cli.nodes import chosen

    if not words and where is None:
        return None
    found: set[str] = set()
    for word in words or ("",):
        errors = []
        for fleet in fleets:
            try:
                found.update(chosen(fleet, (word,) if word else (), where))
            except GitcfgError as error:
                errors.append(error)
        if len(errors) == len(fleets):
            raise _neither(word, errors[-1])
    return tuple(sorted(found))


def _neither(word: str, error: GitcfgError) -> GitcfgError:
    """A single name that is no node might have been meant as a revision."""
    if error.message != f"There is no node {shown(word)}.":
        return error
    return GitcfgError(f"{shown(word)} is neither a revision nor a node.", *error.hints)
