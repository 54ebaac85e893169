"""What the journal of an interrupted installation tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .journal import SCHEMA
from .lines import decoded
from .outcome import Outcome, outcome_from_json
from .plan import Plan, plan_from_json
from .problems import InstallError
from .store import JOURNAL, Store


class Found:
    """What a journal tells. `plan` is None while nothing was touched; `end` is None while it is not over."""

    def __init__(self, key: str, commit: str, digest: str) -> None:
        self.key = key
        self.commit = commit
        self.digest = digest
        self.plan: Plan | None = None
        self.begun: list[int] = []
        self.ran: list[int] = []
        self.process: tuple[int, int] | None = None
        self.undo: Outcome | None = None
        self.aside: tuple[str, ...] = ()
        self.back: tuple[str, ...] | None = None
        self.undone: dict[int, tuple[bool, str]] = {}
        self.end: Outcome | None = None


def read_journal(store: Store) -> Found | None:
    """What the journal of an interrupted installation tells; None if there is none."""
    lines = decoded(store.read(JOURNAL) or b"")
    if not lines:
        return None
    first = lines[0]
    if first.get("schema") != SCHEMA:
        raise InstallError(
            f"An interrupted installation wrote a journal of {first.get('schema')!r}; this reads {SCHEMA}.",
            "Run the version that wrote it once more.",
        )
    found = Found(first["begin"], first["commit"], first["digest"])
    for line in lines[1:]:
        _note(found, line)
    return found


def _note(found: Found, line: Mapping[str, Any]) -> None:
    (key, value), *_ = line.items()
    if key == "plan":
        found.plan = plan_from_json(value)
    elif key == "step":
        found.begun.append(value)
    elif key == "ran":
        found.ran.append(value)
    elif key == "process":
        found.process = (value[0], value[1])
    elif key == "undo":
        found.undo = outcome_from_json(value)
    elif key == "back":
        found.back = tuple(value)
    elif key == "undid":
        found.undone[value[0]] = (value[1], value[2])
    elif key == "end":
        found.end = outcome_from_json(value)
