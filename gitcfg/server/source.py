"""The repository that is served: its protected branch, and which commit of it counts."""

import re

import msgspec

from gitcfg.gate.policy import Policy, load_administrator, load_policy
from gitcfg.git.history import History
from gitcfg.git.refs import Refs
from gitcfg.git.repository import Config, Repository
from gitcfg.git.tree import Tree
from gitcfg.library import Source
from gitcfg.model import GitcfgError

COMMIT = re.compile(r"[0-9a-f]{40}")
_ABBREVIATED = re.compile(r"[0-9a-f]{4,40}")
_BACK = 50
"""Ancestors of an invalid tip that are tried if no valid commit is known."""


class Tip(msgspec.Struct, frozen=True):
    """The protected branch and its commit; None if it has none."""

    ref: str
    commit: str | None


class TipVerdict(msgspec.Struct, frozen=True):
    """The accepted commit, the tip, and what is wrong with the tip."""

    tip: Tip
    accepted: str | None
    errors: int = 0
    message: str = ""


def find_tip(repository: Repository) -> Tip:
    """Find the branch of HEAD, if it is protected; else the first protected one."""
    refs = Refs(repository)
    head = refs.head
    protects = _load_policy(repository, refs).protects
    if protects(head):
        return Tip(head, refs.tip(head))
    ref = next((name for name in refs.names() if protects(name)), head)
    return Tip(ref, refs.tip(ref))


def has_moved(repository: Repository, known: Tip) -> bool:
    """Return whether the branch has moved. Cheap: it is polled."""
    refs = Refs(repository)
    return refs.tip(known.ref) != known.commit or known.commit is None


def judge_tip(source: Source, tip: Tip, good: str | None) -> TipVerdict:
    """Judge which commit counts: the tip, or `good`, the last one accepted, while the tip is invalid."""
    if tip.commit is None:
        return TipVerdict(tip, good, 0, f"{tip.ref} has no commit.")
    errors, message = _count_errors(source, tip.commit)
    if not errors:
        return TipVerdict(tip, tip.commit)
    return TipVerdict(tip, good or _find_valid_ancestor(source, tip.commit), errors, message)


def find_reachable(repository: Repository, text: str) -> str | None:
    """Return the commit that a text names, if a protected ref reaches it; else None."""
    if not _ABBREVIATED.fullmatch(text) or not repository.knows(text):
        return None
    commit = str(repository.commit(text).id)
    if not commit.startswith(text):
        return None  # a branch whose name looks like an id
    refs = Refs(repository)
    protects = _load_policy(repository, refs).protects
    tips = (refs.tip(name) for name in refs.names() if protects(name))
    return commit if any(tip is not None and refs.includes(tip, commit) for tip in tips) else None


def is_ancestor(repository: Repository, commit: str, other: str) -> bool:
    """Return whether a commit is a proper ancestor of another."""
    return commit != other and History(repository).includes(other, commit)


def _load_policy(repository: Repository, refs: Refs) -> Policy:
    tip = refs.tip(refs.head)
    return load_policy(_find_tree(repository, tip), refs.head, load_administrator(Config(repository)))


def _find_tree(repository: Repository, commit: str | None) -> Tree | None:
    if commit is None:
        return None
    tree = repository.at(commit)
    return tree if tree.entry("gitcfg.yaml") is not None else None


def _count_errors(source: Source, commit: str) -> tuple[int, str]:
    """Return how many errors a commit has, and the first."""
    try:
        with source.at(commit) as fleet:
            wrong = [finding for finding in fleet.checked.findings if finding.is_error]
    except GitcfgError as error:
        return 1, error.message
    return len(wrong), f"{wrong[0].code}: {wrong[0].message}" if wrong else ""


def _find_valid_ancestor(source: Source, commit: str) -> str | None:
    """Find the newest ancestor of an invalid commit that has no errors."""
    history = History(source.repository)
    for _ in range(_BACK):
        parents = history.parents(commit)
        if not parents:
            return None
        commit = parents[0]
        if not _count_errors(source, commit)[0]:
            return commit
    return None
