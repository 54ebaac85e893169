"""What a repository defines about delivery: stages of releases, holds, and the nodes' public keys."""

from datetime import date, timedelta

import msgspec

from gitcfg.model.findings import Origin, Ref


class Share(msgspec.Struct, frozen=True):
    """The size of a stage, counted from the first stage on: a number of nodes, or a percentage of all."""

    number: float
    percent: bool = False

    @property
    def written(self) -> int | str:
        """Its written form: `1`, `10%`."""
        return f"{self.number:.6g}%" if self.percent else int(self.number)

    def of(self, nodes: int) -> int:
        """Return the number of nodes of this share, rounded up."""
        exact = nodes * self.number / 100 if self.percent else self.number
        return min(nodes, int(exact) + (exact > int(exact)))


EVERYONE = Share(100, percent=True)


class Release(msgspec.Struct, frozen=True):
    """How fast agents take a new commit. `settle` is in seconds; `first` is a condition (CEL) on nodes."""

    origin: Origin
    stages: tuple[Share, ...] = (Share(1), Share(10, percent=True), EVERYONE)
    settle: float = 600.0
    max_failures: int = 3
    first: Ref | None = None


class Hold(msgspec.Struct, frozen=True, gc=False):
    """Nodes that stay at a commit for some time; `members` or `where` (CEL) selects them."""

    name: str
    origin: Origin
    reason: str
    until: date
    commit: Ref
    members: tuple[str, ...] | None = None
    place: Origin | None = None
    until_at: Origin | None = None
    where: Ref | None = None


class Key(msgspec.Struct, frozen=True, gc=False):
    """The public half of a node's key, as OpenSSH writes it: `ssh-ed25519 AAAA...`."""

    node: str
    origin: Origin
    text: str


# The last day of what applies for some time: overrides and holds.

SOON = timedelta(days=7)
"""The time before its end in which something ends soon."""


def is_over(until: date, today: date) -> bool:
    """Return whether the last day has passed."""
    return today > until


def in_words(until: date, today: date) -> str:
    """Return how long something applies, or since when it is overdue."""
    return f"overdue since {until}" if is_over(until, today) else f"until {until}"


def ends_soon(until: date, today: date) -> bool:
    """Return whether the last day is near, but not over yet."""
    return not is_over(until, today) and until - today <= SOON
