"""What is left to do when an installation is over, either way; all of it may be done again."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from .journal import Journal
from .outcome import OK, Outcome
from .paths import folders_of
from .place import Place
from .plan import Plan
from .record import INSTALLED, NEXT, Record, read_record, write_record, write_report
from .store import BACKUP, KEPT, STAGED, Store


def finish(store: Store, place: Place, plan: Plan | None, outcome: Outcome) -> Outcome:
    """Record and report what was decided, and tidy up. What cannot be is left to the next run, and said."""
    try:
        if outcome.result == OK and plan is not None:
            _keep(store, plan, outcome)
            _record(store)
            _prune(store, place.limits.kept)
        _report(store, outcome)
        tidy(store)
        Journal(store).clear()
    except OSError as error:
        why = f"Tidying up failed ({error.strerror}); the next run does it."
        return replace(outcome, output="\n".join(part for part in (outcome.output, why) if part))
    return outcome


def tidy(store: Store) -> None:
    """Remove what an installation needs while it runs."""
    for name in (STAGED, BACKUP, NEXT):
        store.remove(name)


def kept_names(store: Store, place: Place, plan: Plan) -> tuple[str, ...]:
    """Paths below the root for what somebody else had written, numbered on."""
    first = max((_number(name) for name in _kept(store)), default=0) + 1
    named = [entry.path.rpartition("/")[2] for entry in plan.entries if entry.keep]
    return tuple(f"{place.folder}/{KEPT}/{first + count:08d}-{name}" for count, name in enumerate(named))


def _keep(store: Store, plan: Plan, outcome: Outcome) -> None:
    numbers = [number for number, entry in enumerate(plan.entries) if entry.keep]
    if not numbers:
        return
    if store.disk.stat(store.at, KEPT) is None:
        store.disk.make_folder(store.at, KEPT, 0o700)
    with store.folder(KEPT) as kept, suppress(FileNotFoundError), store.folder(BACKUP) as backup:
        for number, path in zip(numbers, outcome.kept):
            with suppress(FileNotFoundError):
                store.disk.rename(backup, str(number), kept, path.rpartition("/")[2])
        store.disk.sync(kept)


def _record(store: Store) -> None:
    """The package first, which needs no room; then without the folders that are empty now and go."""
    if store.disk.stat(store.at, NEXT) is not None:
        store.disk.rename(store.at, NEXT, store.at, INSTALLED)
        store.disk.sync(store.at)
    found = read_record(store)
    if found is None or found.package is None:
        return
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


def _report(store: Store, outcome: Outcome) -> None:
    """A disk that is full does not keep the rest from being tidied; the outcome is told all the same."""
    with suppress(OSError):
        write_report(store, outcome)


def _kept(store: Store) -> list[str]:
    if store.disk.stat(store.at, KEPT) is None:
        return []
    with store.folder(KEPT) as kept:
        return store.disk.names(kept)


def _prune(store: Store, most: int) -> None:
    names = sorted(_kept(store), key=_number)
    for name in names[: max(0, len(names) - most)]:
        with store.folder(KEPT) as kept:
            store.disk.unlink(kept, name)


def _number(name: str) -> int:
    digits = name.partition("-")[0]
    return int(digits) if digits.isascii() and digits.isdigit() else 0
