"""What the pages say, page by page."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from gitcfg.compile.trail import TrailStep
from gitcfg.explain.match import Match
from gitcfg.model import Finding
from gitcfg.web.happened import Happening
from gitcfg.web.places import Places
from gitcfg.web.table import Row, Table

if TYPE_CHECKING:  # pages are made without a database
    from gitcfg.comparison.change import Change
    from gitcfg.state import NodeState, Result


class Visitor(msgspec.Struct, frozen=True):
    """Who looks: the name of their token. `csrf` stands in every form, and only their pages know it."""

    name: str
    operates: bool
    csrf: str


class Frame(msgspec.Struct, frozen=True):
    """What is around every page. `warning` says what is wrong with the branch or the server."""

    now: float
    visitor: Visitor | None = None
    accepted: str | None = None
    warning: str = ""
    sought: str = ""


class Count(msgspec.Struct, frozen=True):
    """How many nodes there are of a sort; `name` is what the table is asked for to list them."""

    name: str
    number: int


class Commit(msgspec.Struct, frozen=True):
    """A commit in short; without a subject where git does not have it."""

    commit: str
    subject: str = ""
    author: str = ""
    date: str = ""


class Runs(msgspec.Struct, frozen=True):
    """How many nodes run a commit."""

    commit: Commit
    number: int


class Release(msgspec.Struct, frozen=True):
    """A release as `gitcfg.releases/1` tells it, with its subject."""

    commit: str
    base: str | None
    created: float
    status: str
    back: bool
    stage: int
    stages: tuple[int, ...]
    nodes: int
    offered: int
    settle: float
    max_failures: int
    since: float
    well: float | None
    why: str
    counts: Mapping[str, int]
    subject: str = ""


class Overview(msgspec.Struct, frozen=True):
    """The fleet. `notable` are counts that go across the standings: drifted, away, retired, held.

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


class Param(msgspec.Struct, frozen=True):
    """A parameter with all steps to its value; `withheld` are features that `without` took away."""

    name: str
    value: Any
    steps: tuple[TrailStep, ...]
    withheld: tuple[str, ...] = ()


class File(msgspec.Struct, frozen=True):
    """A file that a node gets, and what it is made of."""

    path: str
    made_of: str


class Due(msgspec.Struct, frozen=True):
    """What must happen on a node before it runs what it is to run."""

    restart: tuple[str, ...] = ()
    reload: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class Configured(msgspec.Struct, frozen=True):
    """What git has a node be at a commit."""

    default_group: str
    groups: tuple[str, ...]
    features: tuple[str, ...]
    params: tuple[Param, ...]
    files: tuple[File, ...]
    places: Places


class NodePage(msgspec.Struct, frozen=True):
    """A node. `wanted` is the commit that it is to run; `due` what then happens, None: nothing is known."""

    row: Row
    wanted: Commit | None
    running: Commit | None
    back: bool
    state: "NodeState | None"
    fingerprint: str
    results: "tuple[Result, ...]"
    configured: Configured | None
    due: Due | None


class CommitPage(msgspec.Struct, frozen=True):
    """A commit; `base` is what it is compared with, and `pages` are how many pages of changes there are."""

    commit: Commit
    message: str
    parents: tuple[str, ...]
    base: str | None
    findings: tuple[Finding, ...]
    changes: "tuple[Change, ...]"
    changed: int
    restarts: tuple[Count, ...]
    number: int
    pages: int
    release: Release | None
    wanted: int
    running: int
    counts: bool
    places: Places


class CommitsPage(msgspec.Struct, frozen=True):
    """The commits of the branch, newest first; `older` is where the next page begins."""

    ref: str
    commits: tuple[Commit, ...]
    running: Mapping[str, int]
    older: str | None


class ReleasesPage(msgspec.Struct, frozen=True):
    """The newest releases."""

    releases: tuple[Release, ...]


class Sought(msgspec.Struct, frozen=True):
    """What a search has found in definitions of a kind: by name."""

    kind: str
    found: Mapping[str, tuple[Match, ...]]


class SearchPage(msgspec.Struct, frozen=True):
    """What was found. `looked` is in how many commits; a page of matches is shown."""

    text: str
    nodes: tuple[str, ...] = ()
    commits: tuple[Commit, ...] = ()
    looked: int = 0
    sought: tuple[Sought, ...] = ()
    matches: int = 0
    number: int = 1
    pages: int = 1
    places: Places = Places()


class FilePage(msgspec.Struct, frozen=True):
    """A file of the repository at a commit, line by line."""

    path: str
    commit: str
    lines: tuple[str, ...]


class LoginPage(msgspec.Struct, frozen=True):
    """Where one says one's token; `onward` is where one wanted to go."""

    csrf: str
    onward: str
    wrong: str = ""


class OnwardPage(msgspec.Struct, frozen=True):
    """Leads to a page of the server, as from one of its own."""

    address: str


class ProblemPage(msgspec.Struct, frozen=True):
    """What went wrong."""

    status: int
    title: str
    detail: str = ""
