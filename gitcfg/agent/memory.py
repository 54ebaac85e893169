"""The memory of an agent between two runs: the newest sequence, what failed, what is still to be reported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..install.outcome import Damaged
from ..install.record import read_table
from ..install.store import Place, open_store

NAME = "agent.json"
SCHEMA = "gitcfg.memory/1"
_HINT = "The agent's next start renames it and begins with an empty state."
MOST_RESULTS, MOST_DRIFT = 50, 200


class Running(NamedTuple):
    """What is in force, and since when. `commit` may be newer than the one that was installed."""

    commit: str
    digest: str
    since: float


class Failure(NamedTuple):
    """A target that could not be installed: not tried again before `again` (this node's clock)."""

    commit: str
    digest: str
    at: float
    tries: int = 1


class Memory(NamedTuple):
    """`begun` is the commit of an installation that may be under way; `results` are still to be reported,
    `last` is the last of all.

    `told` is the digest that a server named last, `contact` when one (`server`) answered last; `advertised`
    tells what the application was told. `problem` is what is in the way of the next round (`next`, 0 where
    none is planned), `drift` which files were found changed by hand. Times are by this node's clock.
    """

    sequence: int = 0
    told: str = ""
    running: Running | None = None
    failure: Failure | None = None
    begun: str = ""
    results: tuple[Mapping[str, Any], ...] = ()
    last: Mapping[str, Any] | None = None
    advertised: str = ""
    contact: float = 0.0
    offset: float = 0.0
    server: str = ""
    problem: Mapping[str, Any] | None = None
    next: float = 0.0
    drift: tuple[Mapping[str, str], ...] = ()


def load_memory(place: Place) -> Memory:
    """Return what was kept; Damaged where it cannot be read."""
    with open_store(place) as store:
        data = read_table(store, NAME)
    if data is None:
        return Memory()
    if data.get("schema") != SCHEMA:
        raise Damaged(f"{NAME} in the state folder is damaged: it is not {SCHEMA}.", _HINT)
    known = {name: data[name] for name in Memory._fields if name in data}
    try:
        known["running"] = known.get("running") and Running(**known["running"])
        known["failure"] = known.get("failure") and Failure(**known["failure"])
        known.update({name: tuple(known.get(name, ())) for name in ("results", "drift")})
        return Memory(**known)
    except TypeError as error:
        raise Damaged(f"{NAME} in the state folder is damaged: {error}.", _HINT) from error


def save_memory(place: Place, memory: Memory) -> None:
    """On the disk, whole or not at all; OSError where it has no room."""
    with open_store(place) as store:
        running, failure = (one and one._asdict() for one in (memory.running, memory.failure))
        data = {"schema": SCHEMA, **memory._asdict(), "running": running, "failure": failure}
        store.write_json(NAME, data)


def times(number: int) -> str:
    """`once`, `3 times`."""
    return "once" if number == 1 else f"{number} times"
