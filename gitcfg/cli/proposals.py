"""Proposed commits: what a tree changes is shown and judged, a person is asked, and it is committed.

`gitcfg undo` and `gitcfg snapshot restore` work so.
"""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from gitcfg.cli.session import Session, can_ask, confirm
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.text import ABBREVIATED, counted, safe

if TYPE_CHECKING:
    from rich.console import Console

    from gitcfg.git.commit import BranchCommit
    from gitcfg.git.repository import Repository
    from gitcfg.git.revert import Proposal as Proposed
    from gitcfg.library import Fleet

Message = Annotated[
    str | None,
    typer.Option("-m", "--message", help="Text to add to the end of the commit message.", metavar="TEXT"),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would change, and the new errors.")]
Force = Annotated[bool, typer.Option("--force", help="Commit even if this adds errors.")]
NoVerify = Annotated[bool, typer.Option("--no-verify", help="Skip the hooks pre-commit and commit-msg.")]


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


def _print_impact(session: Session, old: "Fleet", new: "Fleet") -> bool:
    """Print what changes on nodes, then the errors that are new; return whether there are none."""
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
        message = f"{counted(len(errors), 'new error')}."
        session.console(stderr=True).print(message, style="red")
    return not errors


_MOST = 5


class Proposal(msgspec.Struct, frozen=True):
    """What HEAD is to become, the commit's message, and the question whether to make it.

    `done` is printed where nothing is left to do.
    """

    find: Callable[[], "Proposed"]
    message: str
    question: str
    done: str


def carry_out_proposal(
    session: Session, action: str, propose: Callable[["Repository", str], Proposal], options: ProposalOptions
) -> int:
    """Show what a proposal for HEAD's successor changes, and commit it if it is sound and confirmed.

    `action` is the command, as git's log of the branch names it. Raise GitcfgError if there is no terminal
    to ask on, or, with code 1, if the tree is no repository.
    """
    from gitcfg.git.commit import HOOKS, BranchCommit
    from gitcfg.git.program import Git
    from gitcfg.git.revert import checked_out_commit
    from gitcfg.library import Fleet
    from gitcfg.load.repository import is_repository

    source = session.open()
    head = checked_out_commit(source.repository)
    proposal = propose(source.repository, head)
    if options.interactive and not can_ask():
        message = f"`{action}` asks for confirmation, but there is no terminal."
        raise GitcfgError(message, "Use --yes to confirm, or --dry-run to see the changes only.")
    proposed = proposal.find()
    tree = proposed.tree()
    if not is_repository(tree):
        raise GitcfgError(
            "The result would have no gitcfg.yaml, so it would not be a gitcfg repository.", code=1
        )
    if not options.dry_run:
        session = session.without_pager()
    before = source.repository.before(tree)
    with source.at(head) as old, Fleet(tree, before, source.today, source.cache) as new:
        sound = _print_impact(session, old, new)
    if not sound and not options.force:
        session.console(stderr=True).print("hint: Use --force to commit anyway.", style="cyan")
        return 1
    git = Git(source.repository, os.environ)
    branch = BranchCommit(source.repository, git, head, () if options.no_verify else HOOKS)
    return _commit_tree(session, branch, proposed.write(), action, proposal, options)


def _commit_tree(
    session: Session,
    branch: "BranchCommit",
    tree: str,
    action: str,
    proposal: Proposal,
    options: ProposalOptions,
) -> int:
    """Commit a tree on top of HEAD, unless nothing is to be done, or the person does not confirm it."""
    console = session.console(stderr=True)
    if not branch.changed(tree):
        console.print(proposal.done)
        return 0
    if options.dry_run:
        console.print("Nothing was changed.")
        return 0
    if paths := branch.uncommitted(tree):
        more = f" and {len(paths) - _MOST} more" if len(paths) > _MOST else ""
        message = f"Uncommitted changes would be lost: {', '.join(map(safe, paths[:_MOST]))}{more}."
        hint = "Commit them, or save them with `git stash --include-untracked`."
        raise GitcfgError(message, hint, code=REFUSED)
    if options.interactive and not confirm(proposal.question):
        console.print("Nothing was changed.")
        return 1
    commit = branch.commit(tree, proposal.message)
    branch.move(commit, action)
    session.write(f"{commit[:ABBREVIATED]} {safe(proposal.message.partition(chr(10))[0])}\n")
    return 0
