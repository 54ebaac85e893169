"""A plan: what an installation will do, decided before anything is touched, as data for the journal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .disk import ABSENT, FileState
from .package import Check, Subsystem
from .paths import matches

RESTART, RELOAD, STOP = "restart", "reload", "stop"


class Debt(NamedTuple):
    """What the subsystem `name` of the package in force owes: `kind` is restart, reload or stop.

    A stop is of what the package in force does not have: `command` does it.
    """

    name: str
    kind: str
    command: tuple[str, ...] = ()


class Activations(NamedTuple):
    """`covered`: the name of what is restarted, to the names that its restart restarts too."""

    restart: tuple[str, ...]
    reload: tuple[str, ...]
    covered: Mapping[str, tuple[str, ...]]


def choose_activations(
    here: Mapping[str, Subsystem], restart: Iterable[str], reload: Iterable[str]
) -> Activations:
    """What is run so that all of these are restarted or reloaded, in order of name.

    A subsystem without a command for the one is done the other way; without both there is nothing to run, and
    only its check is. Of subsystems that cover each other the first in order of name is restarted.
    """
    wanted = {**dict.fromkeys(reload, RELOAD), **dict.fromkeys(restart, RESTART)}
    ways = {name: _way(here[name], way) for name, way in sorted(wanted.items())}
    restarts = [name for name, way in ways.items() if way == RESTART]
    reach = {name: _find_reached(here, name) for name in here}
    chosen = [name for name in restarts if not any(_leads(reach, other, name) for other in restarts)]
    covered = {name: tuple(one for one in sorted(reach[name] - {name}) if one in ways) for name in chosen}
    done = {one for names in covered.values() for one in names}
    reloads = [name for name, way in ways.items() if way == RELOAD and name not in done]
    return Activations(tuple(chosen), tuple(reloads), covered)


def _way(found: Subsystem, way: str) -> str:
    if way == RESTART:
        return RELOAD if found.reload and not found.restart else RESTART
    return RESTART if found.restart and not found.reload else RELOAD


def _leads(reach: Mapping[str, frozenset[str]], other: str, name: str) -> bool:
    if other == name or name not in reach[other]:
        return False
    return other < name or other not in reach[name]


def _find_reached(here: Mapping[str, Subsystem], start: str) -> frozenset[str]:
    """Return everything that a restart restarts, through what it covers too."""
    found: set[str] = set()
    todo = [start]
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.add(name)
        todo += [other for other in here if other not in found and _covers(here[name], other)]
    return frozenset(found)


def _covers(found: Subsystem, other: str) -> bool:
    return any(matches(f"/{glob}", f"/{other}") for glob in found.covers)


class Entry(NamedTuple):
    """One path: what stands there, what will, and whether what stands is somebody's work and is kept."""

    path: str
    before: FileState
    after: FileState
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
    """Return a plan as plain data."""
    return {
        "entries": [
            {**one._asdict(), "before": one.before._asdict(), "after": one.after._asdict()}
            for one in plan.entries
        ],
        "folders": list(plan.folders),
        "steps": [{**one._asdict(), "undo": _undo_to_json(one.undo)} for one in plan.steps],
        "checks": [[name, check._asdict()] for name, check in plan.checks],
    }


def _undo_to_json(undo: Undo) -> dict[str, Any]:
    checks, owes = ([one._asdict() for one in some] for some in (undo.checks, undo.owes))
    return {**undo._asdict(), "checks": checks, "owes": owes}


def plan_from_json(data: Mapping[str, Any]) -> Plan:
    """Return the plan of plain data that this version wrote."""
    return Plan(
        entries=tuple(
            Entry(one["path"], FileState(**one["before"]), FileState(**one["after"]), one["keep"])
            for one in data["entries"]
        ),
        folders=tuple(data["folders"]),
        steps=tuple(_step_from_json(one) for one in data["steps"]),
        checks=tuple((name, _check_from_json(check)) for name, check in data["checks"]),
    )


def names_by_action(steps: tuple[Step, ...]) -> dict[str, Any]:
    """Return the names of what steps restarted, reloaded and stopped, as fields of an outcome."""
    kinds = {"restarted": RESTART, "reloaded": RELOAD, "stopped": STOP}
    return {key: tuple(step.name for step in steps if step.kind == kind) for key, kind in kinds.items()}


def _step_from_json(data: Mapping[str, Any]) -> Step:
    undo = data["undo"]
    commands = tuple(tuple(one) for one in undo["commands"])
    checks = tuple(_check_from_json(one) for one in undo["checks"])
    owes = (Debt(one["name"], one["kind"], tuple(one["command"])) for one in undo.get("owes", ()))
    own = Undo(commands, checks, undo["required"], tuple(owes))
    return Step(data["kind"], data["name"], tuple(data["command"]), data["early"], own)


def _check_from_json(data: Mapping[str, Any]) -> Check:
    return Check(tuple(data["run"]), data["timeout"], data["retries"])
