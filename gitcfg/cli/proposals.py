"""Proposed commits: the changes of a tree are shown and judged, a person is asked, and it is committed.

`gitcfg undo` and `gitcfg snapshot restore` use them.
"""

import os
import posixpath
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from gitcfg.cli.edits import EditResult, write_result
from gitcfg.cli.session import Output, Session, can_ask, confirm
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.text import ABBREVIATED, counted, safe

if TYPE_CHECKING:
    from gitcfg.comparison.comparison import Comparison
    from gitcfg.git.commit import BranchCommit
    from gitcfg.git.repository import Repository
    from gitcfg.git.revert import Proposal as Proposed
    from gitcfg.library import Fleet
    from gitcfg.model import Finding

Message = Annotated[
    str | None,
    typer.Option("-m", "--message", help="Text to add to the end of the commit message.", metavar="TEXT"),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would change, and the new errors.")]
Force = Annotated[bool, typer.Option("--force", help="Commit even if this adds errors.")]
NoVerify = Annotated[bool, typer.Option("--no-verify", help="Skip the hooks pre-commit and commit-msg.")]


class ProposalOptions(msgspec.Struct, frozen=True):
    """The options of a command that proposes a commit."""

    yes: bool
    dry_run: bool
    force: bool
    no_verify: bool
    output: Output

    @property
    def interactive(self) -> bool:
        """Whether a person is to be asked."""
        return not self.yes and not self.dry_run


def _print_impact(
    session: Session, new: "Fleet", found: "Comparison", added: "Iterable[Finding]", options: ProposalOptions
) -> None:
    """Print the changes on nodes, then the new errors; on stderr if stdout is for a program."""
    from gitcfg.cli import changes, findings

    console = session.console(stderr=options.output is not Output.TEXT)
    changes.print_stat(console, found)
    changes.print_reach(session.console(stderr=True), found)
    errors = [finding for finding in added if finding.is_error]
    if errors:
        findings.print_findings(console, new.tree, errors, new.all_checked.every)
        message = f"{counted(len(errors), 'new error')}."
        session.console(stderr=True).print(message, style="red")


_MOST = 5


class Proposal(msgspec.Struct, frozen=True):
    """The tree for HEAD's successor, the commit's message, and the question whether to make it.

    `done` is printed if there is nothing to do.
    """

    find: Callable[[], "Proposed"]
    message: str
    question: str
    done: str


def carry_out_proposal(
    session: Session, action: str, propose: Callable[["Repository", str], Proposal], options: ProposalOptions
) -> int:
    """Show the changes of a proposal for HEAD's successor, and commit it if it is valid and confirmed.

    `action` is the command, for git's reflog of the branch. Raise GitcfgError if there is no terminal to ask
    on or, with code 1, if the tree is not a repository.
    """
    from gitcfg.check.results import unlike
    from gitcfg.cli.check import check_with_parsers
    from gitcfg.comparison.change import changes_to_json
    from gitcfg.git.commit import HOOKS, BranchCommit
    from gitcfg.git.program import Git
    from gitcfg.git.revert import checked_out_commit
    from gitcfg.library import Fleet, compare
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
    git = Git(source.repository, os.environ)
    branch = BranchCommit(source.repository, git, head, () if options.no_verify else HOOKS)
    with (
        source.at(head) as old,
        Fleet(tree, source.repository.before(tree), source.today, source.cache) as new,
    ):
        changes = compare(old, new)
        checked = check_with_parsers(session, new)
        added = unlike(checked.findings, old.all_checked.findings) if checked.findings else ()
        if options.output is Output.TEXT or options.interactive:
            _print_impact(session, new, changes, added, options)
        facts = {"changes": changes_to_json(changes)}
    done = _commit_tree(session, branch, proposed.write(), action, proposal, added, options)
    if options.output is Output.TEXT:
        return done.code
    prefix = source.repository.prefix or "."
    files = {posixpath.relpath(path, prefix): change for path, change in done.files.items()}
    return write_result(session, msgspec.structs.replace(done, files=files), options.output, facts)


def _commit_tree(
    session: Session,
    branch: "BranchCommit",
    tree: str,
    action: str,
    proposal: Proposal,
    added: "tuple[Finding, ...]",
    options: ProposalOptions,
) -> EditResult:
    """Commit a tree on top of HEAD, unless it adds errors, changes nothing, or is not confirmed."""
    console = session.console(stderr=True)
    found = EditResult(branch.changes(tree), findings=added)
    refused = msgspec.structs.replace(found, refused=True)
    if any(finding.is_error for finding in added) and not options.force:
        if options.output is Output.TEXT:
            console.print("hint: Use --force to commit anyway.", style="cyan")
        return refused
    if not found.files or options.dry_run:
        console.print("Nothing was changed." if found.files else proposal.done)
        return found
    if paths := branch.uncommitted(tree):
        more = f" and {len(paths) - _MOST} more" if len(paths) > _MOST else ""
        message = f"Uncommitted changes would be lost: {', '.join(map(safe, paths[:_MOST]))}{more}."
        hint = "Commit them, or save them with `git stash --include-untracked`."
        raise GitcfgError(message, hint, code=REFUSED)
    if options.interactive and not confirm(proposal.question):
        console.print("Nothing was changed.")
        return refused
    commit = branch.commit(tree, proposal.message)
    branch.move(commit, action)
    if options.output is Output.TEXT:
        session.write(f"{commit[:ABBREVIATED]} {safe(proposal.message.partition(chr(10))[0])}\n")
    return msgspec.structs.replace(found, written=True, commit=commit)
