"""What `undo` and `snapshot restore` have in common: a tree is shown, judged, asked about and committed."""

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from gitcfg.cli.asked import ProposalOptions
from gitcfg.cli.console import Pager
from gitcfg.cli.session import Session
from gitcfg.cli.sound import is_sound
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.text import ABBREVIATED, safe

if TYPE_CHECKING:
    from gitcfg.git.commit import BranchCommit
    from gitcfg.git.repository import Repository
    from gitcfg.git.revert import Proposal as Proposed
    from gitcfg.library import Source

_MOST = 5


class Proposal(msgspec.Struct, frozen=True):
    """How to find what HEAD is to become, the message of the commit, and how one asks whether to make it.

    `done` is said where nothing is left to do.
    """

    find: Callable[[], "Proposed"]
    message: str
    question: str
    done: str


def carry_out_proposal(
    session: Session, action: str, propose: Callable[["Repository", str], Proposal], asked: ProposalOptions
) -> int:
    """Show what a proposal for HEAD's successor changes, and commit it if it is sound and wanted.

    `action` is the command, as git's log of the branch names it.
    """
    from gitcfg.git.revert import checked_out_commit

    source = session.open()
    head = checked_out_commit(source.repository)
    proposal = propose(source.repository, head)
    asked.refuse_unasked(action)
    proposed = proposal.find()
    # Who leaves a pager early means neither yes nor no, so what is committed is told without one.
    told = session if asked.dry_run else msgspec.structs.replace(session, pager=Pager(""))
    if not is_sound(told, source, head, proposed) and not asked.force:
        told.console(stderr=True).print("hint: --force does it all the same.", style="cyan")
        return 1
    return _committed(told, proposal, proposed.write(), _landing(source, head, asked), (action, asked))


def _committed(
    session: Session, proposal: Proposal, tree: str, landing: "BranchCommit", how: tuple[str, ProposalOptions]
) -> int:
    """Let a tree follow HEAD, unless nothing is to be done, or somebody does not want it."""
    action, asked = how
    console = session.console(stderr=True)
    if not landing.changed(tree):
        console.print(proposal.done)
        return 0
    if asked.dry_run:
        console.print("Nothing was changed.")
        return 0
    _refuse_unsaved(landing.uncommitted(tree))
    if asked.interactive and not _agreed(proposal.question):
        console.print("Nothing was changed.")
        return 1
    commit = landing.commit(tree, proposal.message)
    landing.move(commit, action)
    session.write(f"{commit[:ABBREVIATED]} {safe(proposal.message.partition(chr(10))[0])}\n")
    return 0


def _landing(source: "Source", head: str, asked: ProposalOptions) -> "BranchCommit":
    from gitcfg.git.commit import HOOKS, BranchCommit
    from gitcfg.git.program import Git

    git = Git(source.repository, os.environ)
    return BranchCommit(source.repository, git, head, () if asked.no_verify else HOOKS)


def _refuse_unsaved(paths: tuple[str, ...]) -> None:
    if not paths:
        return
    more = f" and {len(paths) - _MOST} more" if len(paths) > _MOST else ""
    named = ", ".join(map(safe, paths[:_MOST])) + more
    hint = "Commit them, or put them away with `git stash --include-untracked`."
    message = f"What is not committed would be lost: {named}."
    raise GitcfgError(message, hint, code=REFUSED)


def _agreed(question: str) -> bool:
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
