"""The record of what is installed: the package, its folders, the last report, pending actions, damage."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from .journal import decode_lines
from .outcome import Damaged, InstallError, Outcome, PackageError, outcome_from_json, outcome_to_json
from .package import Package, package_from_json, package_to_json
from .plan import RELOAD, RESTART, STOP, Debt
from .store import BACKUP, JOURNAL, STAGED, Place, Store, hold_lock, open_store

INSTALLED, NEXT, REPORT = "installed.json", "next.json", "report.json"
SCHEMA = "gitcfg.installed/1"
_OURS = re.compile(r"gitcfg\.installed/[1-9][0-9]{0,8}")
ANEW = "The agent's next round renames it and installs everything again."
_NO_FILE = (errno.EISDIR, errno.ELOOP, errno.EIO)
"""The path is a folder or a link, or the disk has lost the data: no later try can read it."""


class Record(NamedTuple):
    """What is installed. `package` is None if nothing was installed yet; `owed` is in a file of its own."""

    package: Package | None = None
    folders: tuple[str, ...] = ()
    owed: tuple[Debt, ...] = ()


def read_record(store: Store, name: str = INSTALLED) -> Record | None:
    """Return the record; None if there is none. Raise Damaged if it cannot be read: it was written whole."""
    data = read_table(store, name)
    if data is None:
        return None
    schema = data.get("schema")
    if isinstance(schema, str) and schema != SCHEMA and _OURS.fullmatch(schema):
        raise InstallError(
            f"{name} in the state folder is {schema}, written by a later gitcfg; this version reads"
            f" {SCHEMA}.",
            "Upgrade gitcfg-agent on this node.",
        )
    if schema != SCHEMA:
        raise Damaged(f"{name} in the state folder is damaged: it is not {SCHEMA}.", ANEW)
    try:
        return Record(package_from_json(data.get("package")), tuple(data.get("folders", ())))
    except (PackageError, TypeError) as error:
        raise Damaged(f"{name} in the state folder is damaged: {error}", ANEW) from error


def read_table(store: Store, name: str) -> dict[str, Any] | None:
    """Return the table in a file of the state folder: empty if not a table, None if there is no file."""
    try:
        if store.read(name) is None:
            return None
        data = store.read_json(name)
    except RecursionError:
        data = None
    except OSError as error:
        if error.errno not in _NO_FILE:
            raise
        raise Damaged(f"Cannot read {name} in the state folder: {error.strerror}.") from error
    return data if isinstance(data, dict) else {}


def write_record(store: Store, name: str, package: Package, folders: Iterable[str]) -> None:
    """Write a record, whole or not at all."""
    folders = sorted(set(folders))
    store.write_json(name, {"schema": SCHEMA, "package": package_to_json(package), "folders": folders})


def write_report(store: Store, outcome: Outcome) -> None:
    """Save the outcome of the last installation, for programs that did not receive it."""
    store.write_json(REPORT, outcome_to_json(outcome))


def read_report(store: Store) -> Outcome | None:
    """Return the outcome of the last installation."""
    # Another version's report may have other fields; no later decision depends on it.
    with suppress(Damaged, TypeError):
        data = read_whole_report(store)
        return outcome_from_json(data) if data else None
    return None


def read_whole_report(store: Store) -> dict[str, Any] | None:
    """Return the last report, None if there is none; raise Damaged if it is not readable."""
    data = read_table(store, REPORT)
    if data == {}:
        raise Damaged(f"{REPORT} in the state folder is damaged.")
    return data


UNKNOWN, UNKNOWN_DIGEST = "0" * 40, "0" * 64
"""The commit and digest of a record whose files may be those of another commit."""


def read_installed(place: Place) -> Package | None:
    """Return the installed package: the last good one. None if there is none, or it is unknown."""
    with open_store(place) as store:
        record = read_record(store)
        package = record.package if record else None
        return None if package is None or package.commit == UNKNOWN else package


def read_last_report(place: Place) -> Outcome | None:
    """Return the outcome of the last installation."""
    with open_store(place) as store:
        return read_report(store)


# Debts: the pending actions of subsystems after a failed rollback. They are kept until they succeed.

OWED = "owed.json"
OWED_SCHEMA = "gitcfg.owed/1"


def read_owed(store: Store) -> tuple[Debt, ...]:
    """Return the pending actions in order of name; raise Damaged if they cannot be read."""
    data = read_table(store, OWED)
    if data is None:
        return ()
    try:
        if data.get("schema") != OWED_SCHEMA:
            raise TypeError(f"it is not {OWED_SCHEMA}")
        return tuple(sorted(_debt(one) for one in data["owed"]))
    except (TypeError, KeyError) as error:
        raise Damaged(f"{OWED} in the state folder is damaged: {error}.", ANEW) from error


def _debt(data: Any) -> Debt:
    name, kind, command = data["name"], data["kind"], data["command"]
    is_known = kind in (RESTART, RELOAD, STOP) and isinstance(command, list)
    if not is_known or not all(isinstance(word, str) for word in (name, *command)):
        raise TypeError("an entry is malformed")
    return Debt(name, kind, tuple(command))


def write_owed(store: Store, owed: Iterable[Debt]) -> None:
    """Write the pending actions to disk, if they changed; remove the file if there are none."""
    after = tuple(sorted(owed))
    if after == read_owed(store):
        return
    if after:
        plain = [{**one._asdict(), "command": list(one.command)} for one in after]
        store.write_json(OWED, {"schema": OWED_SCHEMA, "owed": plain})
        return
    store.disk.unlink(store.at, OWED)
    store.disk.sync(store.at)


def read_in_force(store: Store) -> Record:
    """Return the record with its pending actions."""
    return (read_record(store) or Record())._replace(owed=read_owed(store))


def settle_debts(store: Store, package: Package, outcome: Outcome) -> None:
    """Clear the pending actions after a successful installation of `package`.

    A stop that failed again stays pending, because no package has its subsystem.
    """
    still = [
        one
        for one in read_owed(store)
        if one.kind == STOP and one.name not in outcome.stopped and one.name not in package.running
    ]
    write_owed(store, still)


def read_debts(place: Place) -> tuple[Debt, ...]:
    """Return the pending actions of a node."""
    with open_store(place) as store:
        return read_owed(store)


def debt_titles(owed: Iterable[Debt]) -> tuple[str, ...]:
    """Return each pending action as text, like `restart startd`."""
    return tuple(f"{one.kind} {one.name}" for one in owed)


# Damaged records and journals, renamed so that everything can be installed again.


def set_damaged_aside(place: Place, stamp: str) -> str:
    """Rename damaged files to NAME.damaged-STAMP; return what that means for this node, "" if nothing.

    No confirmation is needed: a node without a record installs every file and subsystem again, and is then
    whole. The result names what is no longer known.
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
            f"{error.message} It is renamed to {_damaged_name(INSTALLED, stamp)}, and everything is installed"
            " again. Files that gitcfg installed earlier and no longer needs are not removed."
        )
    return ""


def _set_debts_aside(store: Store, stamp: str) -> str:
    """Rename damaged debts, last of all. It is then unknown what runs with other files than its own."""
    try:
        read_owed(store)
    except Damaged as error:
        _forget_commit(store)
        _rename(store, OWED, stamp)
        return (
            f"{error.message} It is renamed to {_damaged_name(OWED, stamp)}, and everything is"
            " installed again."
        )
    return ""


def _forget_commit(store: Store) -> None:
    """Remove the commit from the record, so that the next installation activates everything."""
    known = read_record(store) or Record()
    if known.package is not None:
        unknown = known.package._replace(commit=UNKNOWN, digest=UNKNOWN_DIGEST)
        write_record(store, INSTALLED, unknown, known.folders)


def _set_journal_aside(store: Store, stamp: str) -> str:
    """Rename a damaged journal: the files that its installation swapped, and its commands, are unknown.

    The journal is renamed last: after a crash in this function, all of it is repeated.
    """
    try:
        decode_lines(store.read(JOURNAL) or b"")
    except Damaged as error:
        more = _files_only_in_next(store)
        _forget_commit(store)
        store.remove(STAGED)
        kept = [name for name in (BACKUP, NEXT, JOURNAL) if _rename(store, name, stamp)]
        before = f", the backup to {_damaged_name(BACKUP, stamp)}" if BACKUP in kept else ""
        left = f" Files of that installation may be left: {', '.join(more)}." if more else ""
        return (
            f"{error.message} It is renamed to {_damaged_name(JOURNAL, stamp)}{before}, and everything is"
            f" installed again.{left}"
        )
    return ""


def set_file_aside(place: Place, name: str, stamp: str, read: Callable[[], object]) -> str:
    """Rename a single file if `read` finds it damaged; return what was done."""
    try:
        read()
    except Damaged as error:
        with open_store(place) as store:
            _rename(store, name, stamp)
        return f"{error.message} It is renamed to {_damaged_name(name, stamp)}."
    return ""


def set_report_aside(place: Place, stamp: str) -> str:
    """Rename the last report if it is damaged, under the lock; return what was done."""
    with open_store(place) as store:
        try:
            read_whole_report(store)
        except Damaged:
            with hold_lock(store, place):
                return set_file_aside(place, REPORT, stamp, lambda: read_whole_report(store))
    return ""


def _files_only_in_next(store: Store) -> list[str]:
    """Return the files that only the interrupted installation would have written."""
    try:
        known, new = read_record(store), read_record(store, NEXT)
    except InstallError:
        return ["unknown files"]
    before = known.package.meant if known and known.package else {}
    return sorted(set(new.package.meant if new and new.package else {}) - set(before))


def _damaged_name(name: str, stamp: str) -> str:
    return f"{name}.damaged-{stamp}"


def _rename(store: Store, name: str, stamp: str) -> bool:
    """Rename a damaged file or folder; return whether it existed."""
    if not store.has(name):
        return False
    store.disk.rename(store.at, name, store.at, _damaged_name(name, stamp))
    store.disk.sync(store.at)
    return True
