"""The contents of the overview of the fleet."""

import msgspec

from gitcfg.web.content.commits import Commit, Count, Release
from gitcfg.web.happened import EventGroup
from gitcfg.web.table import Table


class CommitCount(msgspec.Struct, frozen=True):
    """The number of nodes that run a commit."""

    commit: Commit
    number: int


class ExpiringItem(msgspec.Struct, frozen=True):
    """A hold or an override that ends soon, or an override that is overdue; `nodes` are folded."""

    kind: str
    name: str
    reason: str
    until: str
    overdue: bool
    count: int
    nodes: str


class Overview(msgspec.Struct, frozen=True):
    """The fleet. `notable` are counts that go across the states: drifted, away, held and so on.

    `commits` are those that most nodes run, and `others` is how many commits run besides.
    """

    total: int
    statuses: tuple[Count, ...]
    notable: tuple[Count, ...]
    commits: tuple[CommitCount, ...]
    others: int
    releases: tuple[Release, ...]
    happenings: tuple[EventGroup, ...]
    table: Table
    endings: tuple[ExpiringItem, ...] = ()
