"""Is a tree that is to follow HEAD sound? What it changes on nodes is shown, and its new errors."""

from typing import TYPE_CHECKING

from gitcfg.cli.session import Session
from gitcfg.model import GitcfgError
from gitcfg.model.text import counted

if TYPE_CHECKING:
    from rich.console import Console

    from gitcfg.git.revert import Proposal
    from gitcfg.git.tree import Tree
    from gitcfg.library import Fleet, Source


def is_sound(session: Session, source: "Source", head: str, proposed: "Proposal") -> bool:
    """Show what a tree changes on nodes, and its new errors. GitcfgError (1): it is no repository."""
    from gitcfg.load.repository import is_repository

    tree = proposed.tree()
    if not is_repository(tree):
        raise GitcfgError("Then there would be no gitcfg.yaml, and so no repository.", code=1)
    with source.at(head) as old, _fleet(source, tree) as new:
        return _shown_and_judged(session, old, new)


def _shown_and_judged(session: Session, old: "Fleet", new: "Fleet") -> bool:
    """Show what changes on nodes, then the errors that are new; are there none?"""
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
