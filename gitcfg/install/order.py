"""Which subsystems are restarted or reloaded: each at most once, not what another's restart covers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .package import Subsystem
from .paths import matches

RESTART, RELOAD, STOP = "restart", "reload", "stop"


class Debt(NamedTuple):
    """What the subsystem `name` of the package in force owes: `kind` is restart, reload or stop.

    A stop is of what the package in force does not have: `command` does it.
    """

    name: str
    kind: str
    command: tuple[str, ...] = ()


class Chosen(NamedTuple):
    """`covered`: the name of what is restarted, to the names that its restart restarts too."""

    restart: tuple[str, ...]
    reload: tuple[str, ...]
    covered: Mapping[str, tuple[str, ...]]


def choose(here: Mapping[str, Subsystem], restart: Iterable[str], reload: Iterable[str]) -> Chosen:
    """What is run so that all of these are restarted or reloaded, in order of name.

    A subsystem without a command for the one is done the other way; without both there is nothing to run, and
    only its check is. Of subsystems that cover each other the first in order of name is restarted.
    """
    wanted = {**dict.fromkeys(reload, RELOAD), **dict.fromkeys(restart, RESTART)}
    ways = {name: _way(here[name], way) for name, way in sorted(wanted.items())}
    restarts = [name for name, way in ways.items() if way == RESTART]
    reach = {name: _reached(here, name) for name in here}
    chosen = [name for name in restarts if not any(_leads(reach, other, name) for other in restarts)]
    covered = {name: tuple(one for one in sorted(reach[name] - {name}) if one in ways) for name in chosen}
    done = {one for names in covered.values() for one in names}
    reloads = [name for name, way in ways.items() if way == RELOAD and name not in done]
    return Chosen(tuple(chosen), tuple(reloads), covered)


def _way(found: Subsystem, way: str) -> str:
    if way == RESTART:
        return RELOAD if found.reload and not found.restart else RESTART
    return RESTART if found.restart and not found.reload else RELOAD


def _leads(reach: Mapping[str, frozenset[str]], other: str, name: str) -> bool:
    if other == name or name not in reach[other]:
        return False
    return other < name or other not in reach[name]


def _reached(here: Mapping[str, Subsystem], start: str) -> frozenset[str]:
    """Everything that a restart restarts, through what it covers too."""
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
