"""The memory of an agent between two runs: the newest sequence, failures, and results not yet reported."""

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
    """What is installed, and since when. `commit` may be newer than the one that was installed."""

    commit: str
    digest: str
    since: float


class Failure(NamedTuple):
    """A target that could not be installed: when it failed last (this node's clock), and how often."""

    commit: str
    digest: str
    at: float
    tries: int = 1


class Memory(NamedTuple):
    """What an agent remembers between two runs. Times are by this node's clock.

    `begun` is the commit of an installation that may be under way. `results` are still to be reported; `last`
    is the newest of all. `contact` is when a server last answered, and `server` which one. `advertised`
    identifies what the application last received. `problem` is what prevents the next round, and `next` the
    time of that round, 0 if none is planned. `drift` lists the files that were found changed by hand.
    """

    sequence: int = 0
    told: str = ""  # the digest that a server named last
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
    """Return the saved memory; raise Damaged if it cannot be read."""
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
    """Write the memory to disk, whole or not at all; raise OSError if the disk is full."""
    with open_store(place) as store:
        running, failure = (one and one._asdict() for one in (memory.running, memory.failure))
        data = {"schema": SCHEMA, **memory._asdict(), "running": running, "failure": failure}
        store.write_json(NAME, data)


def times(number: int) -> str:
    """Return `once` or, for example, `3 times`."""
    return "once" if number == 1 else f"{number} times"
