"""Which two fleets are compared: revisions as git writes them, the index, a merge, or the work tree."""

import os
from collections.abc import Sequence

import msgspec

from gitcfg.cli.nodes import select_nodes
from gitcfg.library import Fleet, Source
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

Fleets = tuple[Fleet, Fleet]


class DiffWords(msgspec.Struct, frozen=True):
    """What the words of a command line say: up to two revisions, then nodes.

    `common`: the two are compared from where they parted.
    """

    revisions: tuple[str, ...]
    nodes: tuple[str, ...]
    common: bool = False


def parse_words(source: Source, words: Sequence[str]) -> DiffWords:
    """Tell revisions from nodes. `A..B` and `A...B` are as git has them; an end left out is HEAD."""
    knows = source.repository.knows
    if words and ".." in words[0]:
        dots = "..." if "..." in words[0] else ".."
        ends = tuple(end or "HEAD" for end in words[0].split(dots, 1))
        if all(map(knows, ends)):
            return DiffWords(ends, tuple(words[1:]), common=dots == "...")
    count = next((place for place, word in enumerate(words[:2]) if not knows(word)), len(words[:2]))
    return DiffWords(tuple(words[:count]), tuple(words[count:]))


def open_fleets(source: Source, found: DiffWords, staged: bool, merge: str) -> Fleets:
    """Old and new. Without revisions: what is committed, and the work tree."""
    if staged and merge:
        raise GitcfgError("--staged and --merge do not go together.", "Say one of them.")
    if (staged or merge) and len(found.revisions) > 1:
        raise GitcfgError("--staged and --merge take one revision at most.")
    old = found.revisions[0] if found.revisions else "HEAD"
    if merge:
        return source.at(old), source.merged(old, merge)
    if staged:
        return source.at(old), source.index(os.environ.get("GIT_INDEX_FILE"))
    if len(found.revisions) < 2:
        return source.at(old), source.worktree()
    if found.common:
        old = source.repository.merge_base(*found.revisions)
    return source.at(old), source.at(found.revisions[1])


def refuse_ambiguous(found: DiffWords, both: Fleets) -> None:
    """GitcfgError: a word that was taken for a revision is a node's name, too."""
    for word in found.revisions:
        if any(word in fleet for fleet in both):
            hint = f"Write refs/heads/{word} for a branch, or --where 'node.name == \"{word}\"'."
            raise GitcfgError(f"{shown(word)} is a revision and a node.", hint)


def select_on_either(both: Fleets, words: Sequence[str], where: str | None) -> tuple[str, ...] | None:
    """The nodes that words and a condition select on either side; None: no choice was made."""
    if not words and where is None:
        return None
    found: set[str] = set()
    for word in words or ("",):
        errors = []
        for fleet in both:
            try:
                found.update(select_nodes(fleet, (word,) if word else (), where))
            except GitcfgError as error:
                errors.append(error)
        if len(errors) == len(both):
            raise _neither(word, errors[-1])
    return tuple(sorted(found))


def _neither(word: str, error: GitcfgError) -> GitcfgError:
    """A single name that is no node might have been meant as a revision."""
    if error.message != f"There is no node {shown(word)}.":
        return error
    return GitcfgError(f"{shown(word)} is neither a revision nor a node.", *error.hints)
