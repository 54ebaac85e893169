"""What `undo` and `snapshot restore` have in common: a tree is shown, judged, asked about and committed."""

import os
import sys
from typing import TYPE_CHECKING

import msgspec

from gitcfg.cli.pager import Pager
from gitcfg.cli.plain import ABBREVIATED, counted, safe
from gitcfg.cli.session import Session
from gitcfg.model import GitcfgError, Severity

if TYPE_CHECKING:
    from rich.console import Console

    from gitcfg.git.landing import Landing
    from gitcfg.git.reverting import Proposed
    from gitcfg.git.tree import Tree
    from gitcfg.library import Fleet, Source

_REFUSED = 4
_MOST = 5


class Asked(msgspec.Struct, frozen=True):
    """What the options say."""

    yes: bool
    dry_run: bool
    force: bool
    no_verify: bool

    @property
    def interactive(self) -> bool:
        """Is somebody to be asked?"""
        return not self.yes and not self.dry_run

    def refuse_unasked(self, command: str) -> None:
        """GitcfgError: somebody is to be asked, and there is no terminal to do it on."""
        if self.interactive and not (sys.stdin.isatty() and sys.stderr.isatty()):
            message = f"`{command}` asks before it commits, and there is no terminal to ask on."
            raise GitcfgError(message, "--yes answers beforehand; --dry-run only shows what would be.")


class Proposal(msgspec.Struct, frozen=True):
    """What HEAD is to become, the message of the commit that makes it so, and how one asks whether to.

    `done` is said where nothing is left to do.
    """

    head: str
    proposed: "Proposed"
    message: str
    question: str
    action: str
    done: str


def settle(session: Session, source: "Source", proposal: Proposal, asked: Asked) -> int:
    """Show what a proposal changes, and commit it if it is sound and wanted."""
    from gitcfg.load.root import is_repository

    # Who leaves a pager early means neither yes nor no, so what is committed is told without one.
    told = session if asked.dry_run else msgspec.structs.replace(session, pager=Pager(""))
    tree = proposal.proposed.tree()
    if not is_repository(tree):
        raise GitcfgError("Then there would be no gitcfg.yaml, and so no repository.", code=1)
    with source.at(proposal.head) as old, _fleet(source, tree) as new:
        sound = _shown_and_judged(told, old, new)
    if not (sound or asked.force):
        told.console(stderr=True).print("hint: --force does it all the same.", style="cyan")
        return 1
    written, landing = proposal.proposed.write(), _landing(source, proposal.head, asked)
    if not landing.changed(written):
        told.console(stderr=True).print(proposal.done)
        return 0
    if asked.dry_run:
        told.console(stderr=True).print("Nothing was changed.")
        return 0
    _refuse_unsaved(landing.in_the_way(written))
    if asked.interactive and not _agreed(proposal.question):
        told.console(stderr=True).print("Nothing was changed.")
        return 1
    commit = landing.commit(written, proposal.message)
    landing.move(commit, proposal.action)
    told.write(f"{commit[:ABBREVIATED]} {safe(proposal.message.partition(chr(10))[0])}\n")
    return 0


def _shown_and_judged(session: Session, old: "Fleet", new: "Fleet") -> bool:
    """Show what changes on nodes, then the errors that are new; are there none?"""
    from gitcfg.cli import changes, findings
    from gitcfg.cli.unjudged import tell_unjudged
    from gitcfg.gate.ruling import unlike
    from gitcfg.library import compare

    console: Console = session.console()
    found = compare(old, new)
    changes.show(console, found, stat=True, files=False)
    changes.summary(session.console(stderr=True), found)
    checked = new.all_checked
    tell_unjudged(session.console(stderr=True), checked.unjudged)
    added = unlike(checked.findings, old.all_checked.findings) if checked.findings else ()
    errors = [finding for finding in added if finding.severity is Severity.ERROR]
    if errors:
        findings.show(console, new.tree, errors)
        message = f"{counted(len(errors), 'error')} that HEAD has not."
        session.console(stderr=True).print(message, style="red")
    return not errors


def _fleet(source: "Source", tree: "Tree") -> "Fleet":
    from gitcfg.library import Fleet

    return Fleet(tree, source.repository.before(tree), source.today, source.cache)


def _landing(source: "Source", head: str, asked: Asked) -> "Landing":
    from gitcfg.git.landing import HOOKS, Landing
    from gitcfg.git.program import Git

    git = Git(source.repository, os.environ)
    return Landing(source.repository, git, head, () if asked.no_verify else HOOKS)


def _refuse_unsaved(paths: tuple[str, ...]) -> None:
    if not paths:
        return
    more = f" and {len(paths) - _MOST} more" if len(paths) > _MOST else ""
    named = ", ".join(map(safe, paths[:_MOST])) + more
    hint = "Commit them, or put them away with `git stash --include-untracked`."
    message = f"What is not committed would be lost: {named}."
    raise GitcfgError(message, hint, code=_REFUSED)


def _agreed(question: str) -> bool:
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
