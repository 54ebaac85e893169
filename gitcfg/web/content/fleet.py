"""What the overview of the fleet says."""

import msgspec

from gitcfg.web.content.commits import Commit, Count, Release
from gitcfg.web.happened import Happening
from gitcfg.web.table import Table


class Runs(msgspec.Struct, frozen=True):
    """How many nodes run a commit."""

    commit: Commit
    number: int


class Ending(msgspec.Struct, frozen=True):
    """A hold or an override that ends soon, or an override that is overdue; `nodes` are folded."""

    kind: str
    name: str
    reason: str
    until: str
    overdue: bool
    count: int
    nodes: str


class Overview(msgspec.Struct, frozen=True):
    """The fleet. `notable` are counts that go across the standings: drifted, away, held and so on.

    `commits` are those that most nodes run, and `others` is how many commits run besides.
    """

    total: int
    standings: tuple[Count, ...]
    notable: tuple[Count, ...]
    commits: tuple[Runs, ...]
    others: int
    releases: tuple[Release, ...]
    happenings: tuple[Happening, ...]
    table: Table
    endings: tuple[Ending, ...] = ()
