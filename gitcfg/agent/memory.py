"""What the agent must not forget between two runs: the newest sequence, what failed, what is untold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from ..install.place import Place
from ..install.store import opened

NAME = "agent.json"
SCHEMA = "gitcfg.memory/1"
MOST_RESULTS = 50


@dataclass(frozen=True)
class Running:
    """What is in force, and since when. `commit` may be newer than the one that was installed."""

    commit: str
    digest: str
    since: float


@dataclass(frozen=True)
class Failure:
    """A target that could not be installed: not tried again before `again` (this node's clock)."""

    commit: str
    digest: str
    at: float
    tries: int = 1


@dataclass(frozen=True)
class Memory:
    """`begun` is the commit of an installation that may be under way; `results` are still to be reported,
    `last` is the last of all.

    `told` is the digest that the server named last, `contact` when it answered last; `advertised` tells
    what the application was told.
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


def recall(place: Place) -> Memory:
    """What was kept; nothing where it was damaged: all of it is found out anew."""
    with opened(place) as store:
        said = store.read_json(NAME)
    if not isinstance(said, dict) or said.get("schema") != SCHEMA:
        return Memory()
    known = {one.name: said[one.name] for one in fields(Memory) if one.name in said}
    try:
        known["running"] = known.get("running") and Running(**known["running"])
        known["failure"] = known.get("failure") and Failure(**known["failure"])
        known["results"] = tuple(known.get("results", ()))
        return Memory(**known)
    except TypeError:
        return Memory()


def keep(place: Place, memory: Memory) -> None:
    """On the disk, whole or not at all; OSError where it has no room."""
    with opened(place) as store:
        store.write_json(NAME, {"schema": SCHEMA, **asdict(memory)})
