"""Rendered nodes as a commit on a ref: `render --ref`, and what is told of it."""

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gitcfg.cli.refusals import errors_of, print_errors
from gitcfg.cli.session import Session
from gitcfg.git.repository import Repository
from gitcfg.library import Fleet
from gitcfg.model import GitcfgError
from gitcfg.model.nodeset import abridged
from gitcfg.model.text import ABBREVIATED, counted, safe
from gitcfg.output.folder import Scope

if TYPE_CHECKING:
    from gitcfg.output.branch import Publisher, PublishOutcome

_MOST_WORKERS = 8  # as for folders


def publisher(session: Session, repository: Repository, ref: str) -> "Publisher":
    """What writes a ref. GitcfgError: it must not be written."""
    from datetime import date

    from gitcfg.cache import open_cache
    from gitcfg.output.branch import Publisher

    cache = open_cache(repository, os.geteuid())
    workers = min(len(os.sched_getaffinity(0)), _MOST_WORKERS)
    return Publisher(repository, os.environ, ref, cache, session.today or date.today(), workers)


def commit_nodes(
    session: Session, repository: Repository, fleet: Fleet, names: tuple[str, ...], scope: Scope, ref: str
) -> int:
    """Commit what nodes get; 1 if errors concern them. GitcfgError: the ref must not be written."""
    from gitcfg.output.branch import PublishRequest

    if fleet.commit is None:
        raise GitcfgError("What is rendered to a ref comes from a commit.", "Say which: --at HEAD.")
    writer = publisher(session, repository, ref)
    errors = errors_of(fleet, names)
    outcome = writer.publish(fleet, Wanted(names, scope, errors))
    if not outcome.refused:
        session.write(publication_summary(writer.ref, outcome, len(names)) + "\n")
    console = session.console(stderr=True)
    for note in publication_notes(writer.ref, outcome):
        console.print(f"note: {safe(note)}", style="yellow")
    return print_errors(session, fleet, errors) or int(bool(outcome.unmade))


def publication_summary(ref: str, outcome: "Outcome", nodes: int) -> str:
    """What was done, in one line."""
    who = counted(nodes, "node")
    if outcome.commit is None:
        return f"{who}: nothing to do, {safe(ref)} is as it is to be."
    parts = [(outcome.changed, "changed"), (outcome.gone, "gone")]
    said = ", ".join(f"{number} {what}" for number, what in parts if number) or "none changed"
    return f"{who}: {said}; {safe(ref)} is {outcome.commit[:ABBREVIATED]}."


def publication_notes(ref: str, outcome: "Outcome") -> Iterator[str]:
    """What is not as one may expect."""
    source = outcome.source[:ABBREVIATED]
    if outcome.refused:
        number = counted(len(outcome.refused), "error")
        yield f"{ref} stays as it is: {source} has {number} of which nobody knows what it concerns."
    failing: dict[str, list[str]] = {}
    for node, path in outcome.unmade:
        failing.setdefault(path, []).append(node)
    for path, names in failing.items():
        yield f"{abridged(names)}{path} could not be made from {source}, for its template fails."
    if outcome.held:
        yield f"{abridged(outcome.held)} stays as it was at {ref}: it has errors in {source}."


def print_followed(session: Session, ref: str, outcomes: "Iterator[Outcome]") -> None:
    """What a rendered ref has come to, in one line, and what could not be done."""
    commits = changed = gone = 0
    said = list[str]()
    for outcome in outcomes:
        commits += outcome.commit is not None
        changed, gone = changed + outcome.changed, gone + outcome.gone
        said += publication_notes(ref, outcome)
    if commits:
        parts = [(changed, "changed"), (gone, "gone")]
        what = ", ".join(f"{counted(number, 'node')} {how}" for number, how in parts if number)
        session.write(f"{safe(ref)}: {counted(commits, 'commit')}, {what or 'no node changed'}.\n")
    for note in dict.fromkeys(said):
        print(f"warning: {safe(note)}", file=sys.stderr)
