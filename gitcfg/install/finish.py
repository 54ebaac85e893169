"""What is left to do when an installation is over, either way; all of it may be done again."""

from __future__ import annotations

from contextlib import suppress

from .beside import clear, former
from .found import Found
from .journal import Journal
from .kept import keep, prune
from .outcome import OK, Outcome
from .owed import settle
from .paths import folders_of
from .place import Place
from .record import INSTALLED, NEXT, Record, read_record, write_record, write_report
from .store import BACKUP, FRESH, STAGED, Store


def finish(store: Store, place: Place, found: Found, outcome: Outcome) -> Outcome:
    """Record and report what was decided, and tidy up. What cannot be is left to the next run, and said."""
    try:
        store.remove(STAGED)  # before all that a full disk may keep from being done
        if outcome.result == OK and found.plan is not None:
            clear(store, found.plan, found.key, former)
            keep(store, found.plan, outcome.kept)
            _record(store, outcome)
        prune(store, place.limits.kept)
        reported(store, outcome)
        tidy(store)
        Journal(store).clear()
    except OSError as error:
        why = f"Tidying up failed ({error.strerror}); the next run does it."
        return outcome._replace(output="\n".join(part for part in (outcome.output, why) if part))
    return outcome


def tidy(store: Store) -> None:
    """Remove what an installation needs while it runs."""
    for name in (STAGED, BACKUP, NEXT, NEXT + FRESH):
        store.remove(name)


def _record(store: Store, outcome: Outcome) -> None:
    """The package first, which needs no room; then without the folders that are empty now and go."""
    if store.disk.stat(store.at, NEXT) is not None:
        store.disk.rename(store.at, NEXT, store.at, INSTALLED)
        store.disk.sync(store.at)
    found = read_record(store)
    if found is None or found.package is None:
        return
    settle(store, found.package, outcome)
    remaining = _without_empty_folders(store, found)
    if remaining != found.folders:
        write_record(store, INSTALLED, found.package, remaining)


def _without_empty_folders(store: Store, found: Record) -> tuple[str, ...]:
    files = found.package.meant if found.package else {}
    needed = {folder for path in files for folder in folders_of(path)}
    gone = {
        folder
        for folder in sorted(found.folders, reverse=True)
        if folder not in needed and store.tree.remove_if_empty(folder)
    }
    return tuple(folder for folder in found.folders if folder not in gone)


def reported(store: Store, outcome: Outcome) -> Outcome:
    """A disk that is full keeps nothing else from being done; the outcome is told all the same."""
    with suppress(OSError):
        write_report(store, outcome)
    return outcome
