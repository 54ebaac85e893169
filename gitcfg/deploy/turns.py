"""What a deploy's state machine is about: its plan, how far it is, what happens, and what is to be done."""

from enum import StrEnum

import msgspec
from msgspec.structs import replace

from gitcfg.deploy.outcomes import Weight

INTERRUPTED = "The deploy was interrupted."
FAULT = "gitcfg itself failed while it was at {}."


class Plan(msgspec.Struct, frozen=True):
    """The nodes in order; `sizes` says how many of them have been begun once each batch was.

    `jobs` are at work at most. `failures` is how many may fail and `unreached` how many may not be reached,
    in the whole run; None: as many as there are, but then the next batch begins only after one that was well.
    """

    nodes: tuple[str, ...]
    sizes: tuple[int, ...]
    jobs: int
    failures: int | None = None
    unreached: int | None = None

    def span(self, batch: int) -> tuple[int, int]:
        """Where a batch begins and ends."""
        return self.sizes[batch - 1] if batch else 0, self.sizes[batch]


class Counts(msgspec.Struct, frozen=True):
    """Nodes that are over, by what they weigh."""

    well: int = 0
    failed: int = 0
    unreached: int = 0
    aside: int = 0

    def plus(self, weight: Weight) -> "Counts":
        """One more."""
        return replace(self, **{weight.value: getattr(self, weight.value) + 1})


class Why(StrEnum):
    """How a run ends: `limit` is that too much went wrong, `interrupted` that somebody wanted it.

    `output` is that what it says cannot be written any more, `fault` one of gitcfg's own.
    """

    DONE = "done"
    LIMIT = "limit"
    INTERRUPTED = "interrupted"
    OUTPUT = "output"
    FAULT = "fault"


class State(msgspec.Struct, frozen=True):
    """How far a run has got: `begun` nodes of the order, of these the running ones; what the others came to.

    Once `why` is more than done, nobody else is begun; `because` is a sentence that says it.
    """

    batch: int = 0
    begun: int = 0
    running: frozenset[str] = frozenset()
    whole: Counts = Counts()
    here: Counts = Counts()
    why: Why = Why.DONE
    because: str = ""
    over: bool = False


class Ended(msgspec.Struct, frozen=True):
    """A node is done with."""

    node: str
    weight: Weight


class Stop(msgspec.Struct, frozen=True):
    """Begin nobody else; who is running may finish. `because` is a sentence that says why."""

    why: Why = Why.INTERRUPTED
    because: str = INTERRUPTED


class Leave(msgspec.Struct, frozen=True):
    """Wait for nobody either."""


class Start(msgspec.Struct, frozen=True):
    """Begin with a node."""

    node: str
    batch: int


class Skip(msgspec.Struct, frozen=True):
    """These are not begun any more."""

    nodes: tuple[str, ...]


class Abandon(msgspec.Struct, frozen=True):
    """These are left in the middle."""

    nodes: tuple[str, ...]


class Over(msgspec.Struct, frozen=True):
    """All are done with."""


Event = Ended | Stop | Leave
Action = Start | Skip | Abandon | Over
