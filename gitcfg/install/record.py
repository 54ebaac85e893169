"""The record of what is in force: the last good package, and the folders that were made for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .outcome import Outcome, outcome_from_json, outcome_to_json
from .package import Package, package_to_json
from .problems import InstallError, PackageError
from .reading import package_from_json
from .store import Store

INSTALLED, NEXT, REPORT = "installed.json", "next.json", "report.json"
SCHEMA = "gitcfg.installed/1"


@dataclass(frozen=True)
class Record:
    """`package` is None on a node where nothing was installed yet."""

    package: Package | None = None
    folders: tuple[str, ...] = ()


def read_record(store: Store, name: str = INSTALLED) -> Record | None:
    """The record; None if there is none. It was written whole: what cannot be read is somebody's doing."""
    if store.read(name) is None:
        return None
    said = store.read_json(name)
    if not isinstance(said, dict) or said.get("schema") != SCHEMA:
        raise InstallError(
            f"{name} in the state folder is not {SCHEMA}.",
            "Move it away: the next installation then begins anew, and removes nothing.",
        )
    try:
        return Record(package_from_json(said.get("package")), tuple(said.get("folders", ())))
    except PackageError as error:
        raise InstallError(f"{name} in the state folder is damaged: {error}") from error


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
    said = store.read_json(REPORT)
    return outcome_from_json(said) if isinstance(said, dict) else None
