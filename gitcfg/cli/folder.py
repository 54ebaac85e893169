"""Rendered nodes into a folder: `render --out`, and what it tells."""

import os
from collections.abc import Iterator
from pathlib import Path

from gitcfg.cli.refusals import errors_of, print_errors
from gitcfg.cli.session import Session
from gitcfg.cli.session import write as write_out
from gitcfg.library import Fleet
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.nodeset import abridged
from gitcfg.model.text import counted, safe
from gitcfg.output.folder import FolderChanges, Scope, Stale, UpdateOutcome, UpdateRequest, update_folder
from gitcfg.output.source import Ingredients, open_fleet_source

_HINT = "Move it away, or let gitcfg write there; the rest is up to date."
_MOST_WORKERS = 8  # each may come to hold a copy of the fleet


def write_folder(session: Session, fleet: Fleet, names: tuple[str, ...], scope: Scope, folder: Path) -> int:
    """Bring a folder up to date; 1 if errors concern what was written. GitcfgError: something is in the way.

    While there are errors nothing is removed: what is missing may only be misspelt.
    """
    errors = errors_of(fleet, names)
    stale = Stale.KEEP if errors else Stale.REMOVE
    request = UpdateRequest(folder, names, scope, stale, min(len(os.sched_getaffinity(0)), _MOST_WORKERS))
    ingredients = Ingredients(fleet.compiled)
    outcome = update_folder(request, lambda: open_fleet_source(fleet.compiled, ingredients))
    write_out(_summary(outcome.changes, len(names)) + "\n")
    if notes := list(_notes(folder, outcome)):
        console = session.console(stderr=True)
        for note in notes:
            console.print(f"note: {safe(note)}", style="yellow")
    code = print_errors(session, fleet, errors) or int(bool(outcome.settled.unmade))
    if outcome.settled.blocked:
        raise _in_the_way(folder, outcome.settled.blocked)
    return code


def _summary(done: FolderChanges, nodes: int) -> str:
    who = counted(nodes, "node")
    if not (done.written or done.removed):
        return f"{who}: nothing to do, {counted(done.same, 'file')} as before."
    parts = [(done.written, "written"), (done.removed, "removed"), (done.same, "as before")]
    said = [f"{counted(number, 'file')} {what}" for number, what in parts if number]
    return f"{who}: {', '.join(said)}."


def _notes(folder: Path, outcome: UpdateOutcome) -> Iterator[str]:
    yield from outcome.doubts
    if outcome.changes.held:
        files = counted(outcome.changes.held, "file")
        stay = "stays" if outcome.changes.held == 1 else "stay"
        yield f"{files} that nothing means any more {stay}: nothing is removed while there are errors."
    for place in _folded(folder, outcome.changes.edited):
        yield f"{place} is no longer meant, but was changed since gitcfg wrote it: it stays."
    for place in _folded(folder, outcome.changes.unmade):
        yield f"{place} could not be made, for its template fails: what was there stays."


def _in_the_way(folder: Path, blocked: tuple[tuple[str, str], ...]) -> GitcfgError:
    reasons = _folded(folder, blocked)
    if len(blocked) == 1:
        return GitcfgError(f"{reasons[0]}.", _HINT, code=REFUSED)
    message = f"{len(blocked)} places cannot be written; the rest is up to date."
    return GitcfgError(message, *(f"{reason}." for reason in reasons), code=REFUSED)


def _folded(folder: Path, said: tuple[tuple[str, str], ...]) -> list[str]:
    """What is said of nodes' folders, once for all the nodes of which it is."""
    nodes: dict[str, list[str]] = {}
    for node, what in said:
        nodes.setdefault(what, []).append(node)
    return [f"{folder}/{abridged(names)}{what}" for what, names in nodes.items()]
