"""The repository that is served: where its protected branch stands, and which commit of it counts."""

import re

import msgspec

from gitcfg.gate.policy import Policy, administrator, policy
from gitcfg.git.history import History
from gitcfg.git.refs import Refs
from gitcfg.git.repository import Config, Repository
from gitcfg.git.tree import Tree
from gitcfg.library import Source
from gitcfg.model import GitcfgError

COMMIT = re.compile(r"[0-9a-f]{40}")
_ABBREVIATED = re.compile(r"[0-9a-f]{4,40}")
_BACK = 50
"""So many commits before an invalid tip are tried, where nothing is known to be good."""


class Tip(msgspec.Struct, frozen=True):
    """Where the branch that counts stands; None: it has no commit."""

    ref: str
    commit: str | None


class Judged(msgspec.Struct, frozen=True):
    """The commit that counts, the tip, and what is wrong with the tip."""

    tip: Tip
    accepted: str | None
    errors: int = 0
    message: str = ""


def look(repository: Repository) -> Tip:
    """Where the branch that HEAD names stands, if it is protected; else the first one that is."""
    refs = Refs(repository)
    head = refs.head
    protects = _policy(repository, refs).protects
    if protects(head):
        return Tip(head, refs.tip(head))
    ref = next((name for name in refs.names() if protects(name)), head)
    return Tip(ref, refs.tip(ref))


def moved(repository: Repository, known: Tip) -> bool:
    """Does the branch stand elsewhere by now? Cheap: it is asked all the time."""
    refs = Refs(repository)
    return refs.tip(known.ref) != known.commit or known.commit is None


def judge(source: Source, tip: Tip, good: str | None) -> Judged:
    """Which commit counts. While the tip is invalid that is `good`, the one that did until now."""
    if tip.commit is None:
        return Judged(tip, good, 0, f"{tip.ref} has no commit.")
    errors, message = _errors(source, tip.commit)
    if not errors:
        return Judged(tip, tip.commit)
    return Judged(tip, good or _before(source, tip.commit), errors, message)


def reachable(repository: Repository, text: str) -> str | None:
    """The commit that a text names, if a protected ref reaches it; None: to whoever asks there is none."""
    if not _ABBREVIATED.fullmatch(text) or not repository.knows(text):
        return None
    commit = str(repository.commit(text).id)
    if not commit.startswith(text):
        return None  # a branch whose name looks like an id
    refs = Refs(repository)
    protects = _policy(repository, refs).protects
    tips = (refs.tip(name) for name in refs.names() if protects(name))
    return commit if any(tip is not None and refs.includes(tip, commit) for tip in tips) else None


def came_before(repository: Repository, commit: str, other: str) -> bool:
    """Is one commit before another one?"""
    return commit != other and History(repository).includes(other, commit)


def _policy(repository: Repository, refs: Refs) -> Policy:
    tip = refs.tip(refs.head)
    return policy(_tree(repository, tip), refs.head, administrator(Config(repository)))


def _tree(repository: Repository, commit: str | None) -> Tree | None:
    if commit is None:
        return None
    tree = repository.at(commit)
    return tree if tree.entry("gitcfg.yaml") is not None else None


def _errors(source: Source, commit: str) -> tuple[int, str]:
    """How many errors a commit has, and the first."""
    try:
        with source.at(commit) as fleet:
            wrong = [finding for finding in fleet.checked.findings if finding.is_error]
    except GitcfgError as error:
        return 1, error.message
    return len(wrong), f"{wrong[0].code}: {wrong[0].message}" if wrong else ""


def _before(source: Source, commit: str) -> str | None:
    """The newest commit before an invalid one that has no errors."""
    history = History(source.repository)
    for _ in range(_BACK):
        parents = history.parents(commit)
        if not parents:
            return None
        commit = parents[0]
        if not _errors(source, commit)[0]:
            return commit
    return None
