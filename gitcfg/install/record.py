"""The record of what is in force: the last good package, and the folders that were made for it."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from .order import Debt
from .outcome import Outcome, outcome_from_json, outcome_to_json
from .package import Package
from .problems import Damaged, InstallError, PackageError
from .reading import package_from_json
from .store import Store
from .writing import package_to_json

INSTALLED, NEXT, REPORT = "installed.json", "next.json", "report.json"
SCHEMA = "gitcfg.installed/1"
_OURS = re.compile(r"gitcfg\.installed/[1-9][0-9]{0,8}")
ANEW = "The agent's next round keeps it aside, and installs everything anew."
_NO_FILE = (errno.EISDIR, errno.ELOOP, errno.EIO)
"""A folder, a link, or a disk that has lost it: no later try reads it."""


class Record(NamedTuple):
    """`package` is None on a node where nothing was installed yet. `owed` is kept beside it (`owed`)."""

    package: Package | None = None
    folders: tuple[str, ...] = ()
    owed: tuple[Debt, ...] = ()


def read_record(store: Store, name: str = INSTALLED) -> Record | None:
    """The record; None if there is none. It was written whole: what cannot be read is Damaged."""
    said = read_said(store, name)
    if said is None:
        return None
    schema = said.get("schema")
    if isinstance(schema, str) and schema != SCHEMA and _OURS.fullmatch(schema):
        raise InstallError(
            f"{name} in the state folder is {schema}, which a later gitcfg wrote; this one reads {SCHEMA}.",
            "Install a gitcfg-agent that is at least as new.",
        )
    if schema != SCHEMA:
        raise Damaged(f"{name} in the state folder is damaged: it is not {SCHEMA}.", ANEW)
    try:
        return Record(package_from_json(said.get("package")), tuple(said.get("folders", ())))
    except (PackageError, TypeError) as error:
        raise Damaged(f"{name} in the state folder is damaged: {error}", ANEW) from error


def read_said(store: Store, name: str) -> dict[str, Any] | None:
    """What a file of the state folder holds: nothing where that is no table; None if there is no file."""
    try:
        if store.read(name) is None:
            return None
        said = store.read_json(name)
    except RecursionError:
        said = None
    except OSError as error:
        if error.errno not in _NO_FILE:
            raise
        raise Damaged(f"{name} in the state folder cannot be read: {error.strerror}.") from error
    return said if isinstance(said, dict) else {}


def write_record(store: Store, name: str, package: Package, folders: Iterable[str]) -> None:
    """Whole or not at all."""
    said: dict[str, Any] = {
        "schema": SCHEMA,
        "package": package_to_json(package),
        "folders": sorted(set(folders)),
    }
    store.write_json(name, said)


def write_report(store: Store, outcome: Outcome) -> None:
    """What the last installation came to, for who was not there to hear it."""
    store.write_json(REPORT, outcome_to_json(outcome))


def read_report(store: Store) -> Outcome | None:
    """What the last installation came to."""
    # Another version's report may say other things; what is told anew does not depend on it.
    with suppress(Damaged, TypeError):
        said = whole_report(store)
        return outcome_from_json(said) if said else None
    return None


def whole_report(store: Store) -> dict[str, Any] | None:
    """What the report says, None if there is none; Damaged where it says nothing."""
    said = read_said(store, REPORT)
    if said == {}:
        raise Damaged(f"{REPORT} in the state folder is damaged.")
    return said
