"""What an installation will do, decided before anything is touched; plain data that the journal keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .order import RELOAD, RESTART, STOP, Debt
from .package import Check
from .standing import ABSENT, Standing, standing_from_json, standing_to_json


class Entry(NamedTuple):
    """One path: what stands there, what will, and whether what stands is somebody's work and is kept."""

    path: str
    before: Standing
    after: Standing
    keep: bool = False


class Undo(NamedTuple):
    """How a subsystem gets the old files again: the first of `commands` after which all `checks` succeed.

    `required` is false where it was not known to work before, so that its failing is only told. `owes` is
    what is owed until it is done, if this fails.
    """

    commands: tuple[tuple[str, ...], ...] = ()
    checks: tuple[Check, ...] = ()
    required: bool = True
    owes: tuple[Debt, ...] = ()


class Step(NamedTuple):
    """A command of a subsystem: `kind` stop, restart or reload; `early` is before the files are swapped."""

    kind: str
    name: str
    command: tuple[str, ...]
    early: bool
    undo: Undo

    @property
    def title(self) -> str:
        """As outcomes and listeners name it."""
        return f"{self.kind} {self.name}"


class Plan(NamedTuple):
    """`folders` are made, outermost first; `checks` run at the end."""

    entries: tuple[Entry, ...] = ()
    folders: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    checks: tuple[tuple[str, Check], ...] = ()

    @property
    def idle(self) -> bool:
        """Whether there is nothing to do."""
        return not self.entries and not self.steps and not self.checks

    @property
    def changed(self) -> tuple[str, ...]:
        """The files that are written."""
        return tuple(entry.path for entry in self.entries if entry.after.kind != ABSENT)

    @property
    def removed(self) -> tuple[str, ...]:
        """The files that are removed."""
        return tuple(entry.path for entry in self.entries if entry.after.kind == ABSENT)


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """As plain data."""
    return {
        "entries": [_plain_entry(one) for one in plan.entries],
        "folders": list(plan.folders),
        "steps": [{**one._asdict(), "undo": _plain_undo(one.undo)} for one in plan.steps],
        "checks": [[name, check._asdict()] for name, check in plan.checks],
    }


def _plain_entry(entry: Entry) -> dict[str, Any]:
    before, after = standing_to_json(entry.before), standing_to_json(entry.after)
    return {**entry._asdict(), "before": before, "after": after}


def _plain_undo(undo: Undo) -> dict[str, Any]:
    checks, owes = ([one._asdict() for one in some] for some in (undo.checks, undo.owes))
    return {**undo._asdict(), "checks": checks, "owes": owes}


def plan_from_json(said: Mapping[str, Any]) -> Plan:
    """From plain data that this version wrote."""
    return Plan(
        entries=tuple(_entry(one) for one in said["entries"]),
        folders=tuple(said["folders"]),
        steps=tuple(_step(one) for one in said["steps"]),
        checks=tuple((name, _check(check)) for name, check in said["checks"]),
    )


def done(steps: tuple[Step, ...]) -> dict[str, Any]:
    """The names of what steps restarted, reloaded and stopped, as an outcome has them."""
    kinds = {"restarted": RESTART, "reloaded": RELOAD, "stopped": STOP}
    return {key: tuple(step.name for step in steps if step.kind == kind) for key, kind in kinds.items()}


def _entry(said: Mapping[str, Any]) -> Entry:
    before, after = standing_from_json(said["before"]), standing_from_json(said["after"])
    return Entry(said["path"], before, after, said["keep"])


def _step(said: Mapping[str, Any]) -> Step:
    undo = said["undo"]
    commands = tuple(tuple(one) for one in undo["commands"])
    checks = tuple(_check(one) for one in undo["checks"])
    owes = (Debt(one["name"], one["kind"], tuple(one["command"])) for one in undo.get("owes", ()))
    own = Undo(commands, checks, undo["required"], tuple(owes))
    return Step(said["kind"], said["name"], tuple(said["command"]), said["early"], own)


def _check(said: Mapping[str, Any]) -> Check:
    return Check(tuple(said["run"]), said["timeout"], said["retries"])
