"""The nodes of a fleet, one by one: what git says of each, joined with what it has said itself."""

from collections.abc import Mapping, Set
from datetime import date
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from gitcfg.inventory.standing import Standing, Stands, standing
from gitcfg.rollout import patience

if TYPE_CHECKING:  # what git alone says is told without a database's library
    from gitcfg.state import NodeState


class Described(msgspec.Struct, frozen=True):
    """What git says of a node. `accepted`: it has its key; `hold` is the hold that keeps it at a commit.

    `overdue` are the overrides that still apply past their last day, each with that day.
    """

    groups: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    retired: bool = False
    accepted: bool = False
    hold: str | None = None
    overdue: Mapping[str, date] = {}


class Place(msgspec.Struct, frozen=True):
    """A node: what git says, None if it does not know it, and what it said itself, None if it never came.

    `state` is None where nobody has asked a server's database.
    """

    name: str
    described: Described | None
    seen: "NodeState | None"
    state: Standing | None

    @property
    def git(self) -> Described:
        """What git says; of a node that it does not know, nothing."""
        return self.described or Described()


class Tip(msgspec.Struct, frozen=True):
    """The commit that nodes shall run: those that run something else, the groups of who walks in, and now.

    `failing` are those whose last installation was of just that, and failed.
    """

    behind: Set[str] = frozenset()
    walk_in: tuple[str, ...] | None = None
    now: float = 0.0
    failing: Set[str] = frozenset()


def joined(
    described: Mapping[str, Described], seen: "Mapping[str, NodeState] | None", tip: Tip
) -> tuple[Place, ...]:
    """All nodes that git describes or that ever came, in order of name; `seen` None: git alone is asked."""
    names = sorted({*described, *(seen or ())})
    return tuple(_place(name, described.get(name), seen, tip) for name in names)


def _place(name: str, described: Described | None, seen: "Mapping[str, NodeState] | None", tip: Tip) -> Place:
    if seen is None:
        return Place(name, described, None, _by_git(described or Described()))
    if described is None and tip.walk_in is not None:
        described = Described(groups=tip.walk_in, accepted=True)
    return Place(name, described, seen.get(name), standing(_stands(name, described, seen.get(name), tip)))


def _by_git(described: Described) -> Standing | None:
    if described.retired:
        return Standing.RETIRED
    return Standing.HELD if described.hold is not None else None


def _stands(name: str, described: Described | None, said: "NodeState | None", tip: Tip) -> Stands:
    git = described or Described()
    facts = Stands(described is not None, git.accepted, git.retired, git.hold is not None)
    if said is None:
        return facts
    return replace(
        facts,
        # Who is only deployed to has no key: there is nothing to accept.
        accepted=git.accepted or (said.agentless and not said.key),
        came=True,
        runs=said.commit is not None,
        behind=name in tip.behind,
        outcome=said.result.outcome if said.result is not None and name in tip.failing else None,
        away=not said.agentless and tip.now - said.last > patience(said.interval),
        drifted=bool(said.drift),
    )


def counted(places: tuple[Place, ...]) -> dict[Standing, int]:
    """How many nodes stand where, in the order of the standings; none that there is nobody in."""
    counts = dict.fromkeys(Standing, 0)
    for place in places:
        if place.state is not None:
            counts[place.state] += 1
    return {state: number for state, number in counts.items() if number}
