"""The contents of the pages of commits and releases."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from gitcfg.model import Finding
from gitcfg.web.places import SourceLinks

if TYPE_CHECKING:
    from gitcfg.comparison.change import Change


class Count(msgspec.Struct, frozen=True):
    """The number of nodes in a state; `name` is that state in a query of the table."""

    name: str
    number: int


class Commit(msgspec.Struct, frozen=True):
    """A commit's headers; without a subject where git does not have it."""

    commit: str
    subject: str = ""
    author: str = ""
    date: str = ""


class Release(msgspec.Struct, frozen=True):
    """A release as in `gitcfg.releases/1`, with the commit's subject."""

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
    counts: Mapping[str, int] | None
    subject: str = ""


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
    places: SourceLinks


class CommitsPage(msgspec.Struct, frozen=True):
    """The commits of the branch, newest first; `older` is where the next page begins."""

    ref: str
    commits: tuple[Commit, ...]
    running: Mapping[str, int]
    older: str | None


class ReleasesPage(msgspec.Struct, frozen=True):
    """The newest releases."""

    releases: tuple[Release, ...]
