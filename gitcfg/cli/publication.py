"""Rendered nodes in a folder, `render --out`, or on a ref, `render --ref`."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from gitcfg.cli.nodes import errors_of, print_errors
from gitcfg.cli.session import Session
from gitcfg.cli.session import write as write_out
from gitcfg.git.repository import Repository
from gitcfg.library import Fleet
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.text import ABBREVIATED, counted, safe
from gitcfg.nodeset import abridged
from gitcfg.output.folder import Scope, Stale, UpdateOutcome, UpdateRequest, update_folder
from gitcfg.output.source import Ingredients, open_fleet_source

if TYPE_CHECKING:
    from gitcfg.output.branch import Publisher, PublishOutcome

_HINT = "Move it away, or let gitcfg write there. The other files are up to date."
_MOST_WORKERS = 8  # each may get a copy of the fleet


def write_folder(session: Session, fleet: Fleet, names: tuple[str, ...], scope: Scope, folder: Path) -> int:
    """Update a folder; return 1 if errors concern it. Raise GitcfgError if files are in the way.

    While there are errors nothing is removed, because a missing name may only be misspelled.
    """
    errors = errors_of(fleet, names)
    stale = Stale.KEEP if errors else Stale.REMOVE
    request = UpdateRequest(folder, names, scope, stale, min(len(os.sched_getaffinity(0)), _MOST_WORKERS))
    ingredients = Ingredients(fleet.compiled)
    outcome = update_folder(request, lambda: open_fleet_source(fleet.compiled, ingredients))
    changes = outcome.changes
    summary = f"nothing to do, {counted(changes.same, 'file')} as before"
    if changes.written or changes.removed:
        parts = [(changes.written, "written"), (changes.removed, "removed"), (changes.same, "as before")]
        summary = ", ".join(f"{counted(number, 'file')} {what}" for number, what in parts if number)
    write_out(f"{counted(len(names), 'node')}: {summary}.\n")
    if notes := list(_notes(folder, outcome)):
        console = session.console(stderr=True)
        for note in notes:
            console.print(f"note: {safe(note)}", style="yellow")
    code = print_errors(session, fleet, errors) or int(bool(changes.unmade))
    if changes.blocked:
        reasons = [f"{reason}." for reason in _fold_nodes(folder, changes.blocked)]
        if len(changes.blocked) == 1:
            raise GitcfgError(reasons[0], _HINT, code=REFUSED)
        message = f"Cannot write {len(changes.blocked)} files; the others are up to date."
        raise GitcfgError(message, *reasons, code=REFUSED)
    return code


def _notes(folder: Path, outcome: UpdateOutcome) -> Iterator[str]:
    yield from outcome.doubts
    if outcome.changes.held:
        files = counted(outcome.changes.held, "file")
        stay = "stays" if outcome.changes.held == 1 else "stay"
        yield f"{files} without a definition {stay}: gitcfg removes nothing while there are errors."
    for place in _fold_nodes(folder, outcome.changes.edited):
        yield f"{place} is obsolete, but was changed since gitcfg wrote it, so it is kept."
    for place in _fold_nodes(folder, outcome.changes.unmade):
        yield f"Cannot render {place}: its template fails. The previous file is kept."


def _fold_nodes(folder: Path, notes: tuple[tuple[str, str], ...]) -> list[str]:
    """Fold notes on several nodes' folders into one text each."""
    nodes: dict[str, list[str]] = {}
    for node, what in notes:
        nodes.setdefault(what, []).append(node)
    return [f"{folder}/{abridged(names)}{what}" for what, names in nodes.items()]


def publisher(session: Session, repository: Repository, ref: str) -> "Publisher":
    """Return the publisher of a ref. Raise GitcfgError if the ref must not be written."""
    from datetime import date

    from gitcfg.cache import open_cache
    from gitcfg.output.branch import Publisher

    cache = open_cache(repository, os.geteuid())
    workers = min(len(os.sched_getaffinity(0)), _MOST_WORKERS)
    return Publisher(repository, os.environ, ref, cache, session.today or date.today(), workers)


def commit_nodes(
    session: Session, repository: Repository, fleet: Fleet, names: tuple[str, ...], scope: Scope, ref: str
) -> int:
    """Commit the nodes' files; return 1 if errors concern them.

    Raise GitcfgError if the ref is not gitcfg's.
    """
    from gitcfg.output.branch import PublishRequest

    if fleet.commit is None:
        raise GitcfgError("--ref needs a commit to render from.", "Add, for example, --at HEAD.")
    writer = publisher(session, repository, ref)
    errors = errors_of(fleet, names)
    outcome = writer.publish(fleet, PublishRequest(names, scope, errors))
    if not outcome.refused:
        summary = f"nothing to do, {safe(writer.ref)} is up to date"
        if outcome.commit is not None:
            parts = [(outcome.changed, "changed"), (outcome.gone, "gone")]
            counts = ", ".join(f"{number} {what}" for number, what in parts if number) or "none changed"
            summary = f"{counts}; {safe(writer.ref)} is {outcome.commit[:ABBREVIATED]}"
        session.write(f"{counted(len(names), 'node')}: {summary}.\n")
    console = session.console(stderr=True)
    for note in publication_notes(writer.ref, outcome):
        console.print(f"note: {safe(note)}", style="yellow")
    return print_errors(session, fleet, errors) or int(bool(outcome.unmade))


def publication_notes(ref: str, outcome: "PublishOutcome") -> Iterator[str]:
    """Yield notes on what could not be done."""
    source = outcome.source[:ABBREVIATED]
    if outcome.refused:
        number = counted(len(outcome.refused), "error")
        yield f"{ref} is unchanged: {source} has {number} that may concern any node."
    failing: dict[str, list[str]] = {}
    for node, path in outcome.unmade:
        failing.setdefault(path, []).append(node)
    for path, names in failing.items():
        yield f"Cannot render {abridged(names)}{path} from {source}: its template fails."
    if outcome.held:
        yield f"{abridged(outcome.held)} keeps its previous files at {ref}: it has errors in {source}."


def print_followed(session: Session, ref: str, outcomes: "Iterator[PublishOutcome]") -> None:
    """Print the result for a rendered ref in one line, and what could not be done."""
    commits = changed = gone = 0
    notes = list[str]()
    for outcome in outcomes:
        commits += outcome.commit is not None
        changed, gone = changed + outcome.changed, gone + outcome.gone
        notes += publication_notes(ref, outcome)
    if commits:
        parts = [(changed, "changed"), (gone, "gone")]
        what = ", ".join(f"{counted(number, 'node')} {how}" for number, how in parts if number)
        session.write(f"{safe(ref)}: {counted(commits, 'commit')}, {what or 'no node changed'}.\n")
    for note in dict.fromkeys(notes):
        print(f"warning: {safe(note)}", file=sys.stderr)
