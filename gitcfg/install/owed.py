"""What subsystems owe since a way back failed: kept in the state folder until all is well."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .order import RELOAD, RESTART, STOP, Debt
from .outcome import Outcome
from .package import Package
from .place import Place
from .problems import Damaged
from .record import Record, read_record, read_said
from .store import Store, opened

OWED = "owed.json"
SCHEMA = "gitcfg.owed/1"


def read_owed(store: Store) -> tuple[Debt, ...]:
    """In order of name; Damaged where it cannot be read, for then nobody knows what runs."""
    said = read_said(store, OWED)
    if said is None:
        return ()
    try:
        if said.get("schema") != SCHEMA:
            raise TypeError(f"it is not {SCHEMA}")
        return tuple(sorted(_debt(one) for one in said["owed"]))
    except (TypeError, KeyError) as error:
        raise Damaged(
            f"{OWED} in the state folder is damaged: {error}.",
            "The agent's next round keeps it aside, and installs everything anew.",
        ) from error


def _debt(said: Any) -> Debt:
    name, kind, command = said["name"], said["kind"], said["command"]
    if kind not in (RESTART, RELOAD, STOP) or not isinstance(command, list):
        raise TypeError("a debt is none")
    if not all(isinstance(word, str) for word in (name, *command)):
        raise TypeError("a debt is none")
    return Debt(name, kind, tuple(command))


def write_owed(store: Store, owed: Iterable[Debt]) -> None:
    """On the disk when this returns; no file where nothing is owed, nothing written where nothing changes."""
    after = tuple(sorted(owed))
    if after == read_owed(store):
        return
    if after:
        plain = [{**one._asdict(), "command": list(one.command)} for one in after]
        store.write_json(OWED, {"schema": SCHEMA, "owed": plain})
        return
    store.disk.unlink(store.at, OWED)
    store.disk.sync(store.at)


def in_force(store: Store) -> Record:
    """The record with what its subsystems owe."""
    return (read_record(store) or Record())._replace(owed=read_owed(store))


def settle(store: Store, package: Package, outcome: Outcome) -> None:
    """An installation of `package` went well, so all that it could do of what was owed is paid.

    A stop that failed again stays owed, for it is of what no package has.
    """
    still = [
        one
        for one in read_owed(store)
        if one.kind == STOP and one.name not in outcome.stopped and one.name not in package.running
    ]
    write_owed(store, still)


def debts(place: Place) -> tuple[Debt, ...]:
    """What the subsystems of a node owe."""
    with opened(place) as store:
        return read_owed(store)


def in_words(owed: Iterable[Debt]) -> tuple[str, ...]:
    """Each like `restart startd`."""
    return tuple(f"{one.kind} {one.name}" for one in owed)
