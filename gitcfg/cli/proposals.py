"""Proposed commits: what a tree changes is shown and judged, a person is asked, and it is committed.

`gitcfg undo` and `gitcfg snapshot restore` work so.
"""

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from gitcfg.cli.console import Pager
from gitcfg.cli.session import Session, confirm
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.text import ABBREVIATED, counted, safe

if TYPE_CHECKING:
    from rich.console import Console

    from gitcfg.git.commit import BranchCommit
    from gitcfg.git.repository import Repository
    from gitcfg.git.revert import Proposal as Proposed
    from gitcfg.git.tree import Tree
    from gitcfg.library import Fleet, Source

Message = Annotated[
    str | None,
    typer.Option("-m", "--message", help="What the commit's message says at its end.", metavar="TEXT"),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only show what would change, and what would be wrong.")
]
Force = Annotated[bool, typer.Option("--force", help="Even if there are errors then that HEAD has not.")]
NoVerify = Annotated[bool, typer.Option("--no-verify", help="Go around the hooks pre-commit and commit-msg.")]


class ProposalOptions(msgspec.Struct, frozen=True):
    """What the options of such a command say."""

    yes: bool
    dry_run: bool
    force: bool
    no_verify: bool

    @property
    def interactive(self) -> bool:
        """Whether a person is to be asked."""
        return not self.yes and not self.dry_run

    def refuse_unasked(self, command: str) -> None:
        """Raise GitcfgError if a person is to be asked, and there is no terminal to do it on."""
        if self.interactive and not (sys.stdin.isatty() and sys.stderr.isatty()):
            message = f"`{command}` asks before it commits, and there is no terminal to ask on."
            raise GitcfgError(message, "--yes answers beforehand; --dry-run only shows what would be.")


def show_and_check(session: Session, source: "Source", head: str, proposed: "Proposed") -> bool:
    """Show what a tree changes on nodes, and its new errors; return whether there are none.

    Raise GitcfgError (1) if the tree is no repository.
    """
    from gitcfg.load.repository import is_repository

    tree = proposed.tree()
    if not is_repository(tree):
        raise GitcfgError("Then there would be no gitcfg.yaml, and so no repository.", code=1)
    with source.at(head) as old, _fleet(source, tree) as new:
        return _shown_and_judged(session, old, new)


def _shown_and_judged(session: Session, old: "Fleet", new: "Fleet") -> bool:
    """Show what changes on nodes, then the errors that are new; return whether there are none."""
    from gitcfg.check.results import unlike
    from gitcfg.cli import changes, findings
    from gitcfg.cli.check import check_with_parsers
    from gitcfg.library import compare

    console: Console = session.console()
    found = compare(old, new)
    changes.print_stat(console, found)
    changes.print_reach(session.console(stderr=True), found)
    checked = check_with_parsers(session, new)
    added = unlike(checked.findings, old.all_checked.findings) if checked.findings else ()
    errors = [finding for finding in added if finding.is_error]
    if errors:
        findings.print_findings(console, new.tree, errors, checked.every)
        message = f"{counted(len(errors), 'error')} that HEAD has not."
        session.console(stderr=True).print(message, style="red")
    return not errors


def _fleet(source: "Source", tree: "Tree") -> "Fleet":
    from gitcfg.library import Fleet

    return Fleet(tree, source.repository.before(tree), source.today, source.cache)


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
    if not show_and_check(told, source, head, proposed) and not asked.force:
        told.console(stderr=True).print("hint: --force does it all the same.", style="cyan")
        return 1
    return _committed(told, proposal, proposed.write(), _landing(source, head, asked), (action, asked))


def _committed(
    session: Session, proposal: Proposal, tree: str, landing: "BranchCommit", how: tuple[str, ProposalOptions]
) -> int:
    """Let a tree follow HEAD, unless nothing is to be done, or the person does not want it."""
    action, asked = how
    console = session.console(stderr=True)
    if not landing.changed(tree):
        console.print(proposal.done)
        return 0
    if asked.dry_run:
        console.print("Nothing was changed.")
        return 0
    _refuse_unsaved(landing.uncommitted(tree))
    if asked.interactive and not confirm(proposal.question):
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
