"""Damaged records and journals, kept aside under another name so that everything can be installed anew."""

from __future__ import annotations

from collections.abc import Callable

from .errors import Damaged, InstallError
from .journal import decode_lines
from .place import Place
from .record import (
    INSTALLED,
    NEXT,
    OWED,
    REPORT,
    UNKNOWN,
    UNKNOWN_DIGEST,
    Record,
    read_owed,
    read_record,
    read_whole_report,
    write_record,
)
from .store import BACKUP, JOURNAL, STAGED, Store, hold_lock, open_store


def set_damaged_aside(place: Place, stamp: str) -> str:
    """Keep what is damaged as NAME.damaged-STAMP; what that means for this node, or nothing.

    Nobody is asked: a node whose record is lost takes every file and subsystem anew, and is whole again. What
    can no longer be known is said.
    """
    with open_store(place) as store, hold_lock(store, place):
        parts = (
            _set_record_aside(store, stamp),
            _set_debts_aside(store, stamp),
            _set_journal_aside(store, stamp),
        )
        return "\n".join(part for part in parts if part)


def _set_record_aside(store: Store, stamp: str) -> str:
    try:
        read_record(store)
    except Damaged as error:
        _rename(store, INSTALLED, stamp)
        return (
            f"{error.message} It is kept as {_damaged_name(INSTALLED, stamp)}, and everything is installed"
            " anew. Files that gitcfg wrote here and that are no longer meant cannot be known: they stay."
        )
    return ""


def _set_debts_aside(store: Store, stamp: str) -> str:
    """Keep damaged debts aside, the file last. What runs with other files than its own is unknown then."""
    try:
        read_owed(store)
    except Damaged as error:
        _forget_commit(store)
        _rename(store, OWED, stamp)
        return (
            f"{error.message} It is kept as {_damaged_name(OWED, stamp)}, and everything is installed anew."
        )
    return ""


def _forget_commit(store: Store) -> None:
    """The record, henceforth of no commit: whatever is installed next is activated whole."""
    known = read_record(store) or Record()
    if known.package is not None:
        unknown = known.package._replace(commit=UNKNOWN, digest=UNKNOWN_DIGEST)
        write_record(store, INSTALLED, unknown, known.folders)


def _set_journal_aside(store: Store, stamp: str) -> str:
    """Keep a damaged journal aside: which files its installation exchanged, and what it ran, is unknown.

    The journal goes last: who dies in here does all of it again.
    """
    try:
        decode_lines(store.read(JOURNAL) or b"")
    except Damaged as error:
        more = _files_only_in_next(store)
        _forget_commit(store)
        store.remove(STAGED)
        kept = [name for name in (BACKUP, NEXT, JOURNAL) if _rename(store, name, stamp)]
        before = f", the files from before as {_damaged_name(BACKUP, stamp)}" if BACKUP in kept else ""
        left = f" These may be left of that installation: {', '.join(more)}." if more else ""
        return (
            f"{error.message} It is kept as {_damaged_name(JOURNAL, stamp)}{before}, and everything is"
            f" installed anew.{left}"
        )
    return ""


def set_file_aside(place: Place, name: str, stamp: str, read: Callable[[], object]) -> str:
    """Keep a single file aside if `read` finds it damaged; return what was done."""
    try:
        read()
    except Damaged as error:
        with open_store(place) as store:
            _rename(store, name, stamp)
        return f"{error.message} It is kept as {_damaged_name(name, stamp)}."
    return ""


def set_report_aside(place: Place, stamp: str) -> str:
    """Keep the last report aside if it is damaged, under the lock; return what was done."""
    with open_store(place) as store:
        try:
            read_whole_report(store)
        except Damaged:
            with hold_lock(store, place):
                return set_file_aside(place, REPORT, stamp, lambda: read_whole_report(store))
    return ""


def _files_only_in_next(store: Store) -> list[str]:
    """The files that only the interrupted installation would have written."""
    try:
        known, new = read_record(store), read_record(store, NEXT)
    except InstallError:
        return ["files that cannot be known"]
    before = known.package.meant if known and known.package else {}
    return sorted(set(new.package.meant if new and new.package else {}) - set(before))


def _damaged_name(name: str, stamp: str) -> str:
    return f"{name}.damaged-{stamp}"


def _rename(store: Store, name: str, stamp: str) -> bool:
    """Whether there was such a file or folder."""
    if store.disk.stat(store.at, name) is None:
        return False
    store.disk.rename(store.at, name, store.at, _damaged_name(name, stamp))
    store.disk.sync(store.at)
    return True
