"""The contents of the pages, page by page, with links to files and recent events."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from gitcfg.compile.operations import TrailStep
from gitcfg.explain.search import Match
from gitcfg.explain.trail import Viewpoint
from gitcfg.model import Finding, Origin
from gitcfg.nodeset import fold
from gitcfg.web.table import Row, Table

if TYPE_CHECKING:
    from gitcfg.comparison.change import Change
    from gitcfg.history.effect import Effect
    from gitcfg.state.records import Event, NodeState, Result

_PLACEHOLDERS = ("{commit}", "{file}", "{line}")
_GROUPED_BY = ("commit", "outcome", "what", "status", "stage", "by")


class SourceLinks(msgspec.Struct, frozen=True):
    """Links to files at a commit. `forge` is a URL with {commit}, {file} and {line} in it, or "".

    `prefix` is the path of the repository's folder in git's tree.
    """

    commit: str = ""
    forge: str = ""
    prefix: str = ""

    def of(self, origin: Origin) -> str:
        """Return the URL of a line."""
        if not self.forge:
            return f"/commits/{quote(self.commit)}/files/{quote(origin.file)}#L{origin.line}"
        file = f"{self.prefix}/{origin.file}" if self.prefix else origin.file
        values = (self.commit, quote(file), str(origin.line))
        address = self.forge
        for word, value in zip(_PLACEHOLDERS, values, strict=True):
            address = address.replace(word, value)
        return address


def parse_forge(url: str | None) -> str:
    """Return a forge's URL from git's configuration (`gitcfg.url`); "" if it cannot be used."""
    text = url or ""
    whole = text.startswith(("https://", "http://")) and all(word in text for word in _PLACEHOLDERS[:2])
    return text if whole and text.isprintable() and not set(text) & set(" \"'<>") else ""


class EventGroup(msgspec.Struct, frozen=True):
    """Events that are alike: the time and data of the last, and all their nodes, folded."""

    at: float
    kind: str
    nodes: str
    count: int
    data: Mapping[str, Any]


def group_events(events: "Iterable[Event]", most: int) -> tuple[EventGroup, ...]:
    """Group events that follow each other and are alike; return the newest groups first, at most `most`."""

    def key(event: "Event") -> tuple[object, ...]:
        data = event.data
        return event.kind, *(str(data.get(name)) for name in _GROUPED_BY), bool(data.get("drifts"))

    groups = []
    for alike in reversed([list(alike) for _, alike in groupby(events, key)][-most:]):
        last, nodes = alike[-1], {event.node for event in alike if event.node}
        groups.append(EventGroup(last.at, last.kind, fold(nodes), len(nodes), last.data))
    return tuple(groups)


class Visitor(msgspec.Struct, frozen=True):
    """A logged-in visitor, by the name of their token. Every form of their pages contains `csrf`."""

    name: str
    operates: bool
    csrf: str


class Frame(msgspec.Struct, frozen=True):
    """The parts that surround every page. `warning` says what is wrong with the branch or the server.

    `invalid` is the branch's newest commit, where it is not accepted.
    """

    now: float
    visitor: Visitor | None = None
    accepted: str | None = None
    warning: str = ""
    invalid: str = ""
    sought: str = ""


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
    """A commit. `base` is the commit that it is compared with, `pages` the number of pages of changes."""

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
    """The fleet. `notable` are counts of flags beside the statuses: drifted, away, held and so on.

    `commits` are those that most nodes run, and `others` is the number of other commits that run.
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


class BlamedStep(msgspec.Struct, frozen=True):
    """A step to a value, and the commit that made it; None: git does not have it.

    `deciding` are the commits that made the decisions for rules.
    """

    step: TrailStep
    commit: Commit | None
    deciding: tuple[Commit | None, ...] = ()


class ExplainedParameter(msgspec.Struct, frozen=True):
    """A parameter of a node: its value, and the commits that made each step to it."""

    view: Viewpoint
    value: Any
    steps: tuple[BlamedStep, ...]


class HistoryEntry(msgspec.Struct, frozen=True):
    """A commit, and its changes of a node."""

    commit: Commit
    effect: "Effect"


class HistoryPage(msgspec.Struct, frozen=True):
    """The commits that changed the configuration of a node, or one parameter of it; `older`: there are more.

    `explained` is the parameter as it is now; None: the page is not about one, or the node does not have it.
    """

    node: str
    param: str
    explained: ExplainedParameter | None
    turns: tuple[HistoryEntry, ...]
    older: bool
    places: SourceLinks


class ParameterRow(msgspec.Struct, frozen=True):
    """A parameter with all steps to its value; `withheld` are features that `without` removed."""

    name: str
    value: Any
    steps: tuple[TrailStep, ...]
    withheld: tuple[str, ...] = ()


class FileRow(msgspec.Struct, frozen=True):
    """A file that a node gets, and its sources."""

    path: str
    made_of: str


class DueActions(msgspec.Struct, frozen=True):
    """Actions due on a node before it runs the commit that it should run."""

    restart: tuple[str, ...] = ()
    reload: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class NodeConfiguration(msgspec.Struct, frozen=True):
    """What git gives a node at a commit; `overrides` maps each override to when it ends."""

    view: Viewpoint
    groups: tuple[str, ...]
    features: tuple[str, ...]
    overrides: Mapping[str, str]
    params: tuple[ParameterRow, ...]
    files: tuple[FileRow, ...]
    places: SourceLinks


class NodePage(msgspec.Struct, frozen=True):
    """A node. `wanted` is the commit that it should run; `due` the actions for that, None: unknown.

    `other` is the fingerprint of a key that it used and that is not the one in git; "": it used none.
    `claims` are all keys that it used and that git does not have.
    """

    row: Row
    wanted: Commit | None
    running: Commit | None
    back: bool
    state: "NodeState | None"
    fingerprint: str
    results: "tuple[Result, ...]"
    configured: NodeConfiguration | None
    due: DueActions | None
    other: str = ""
    claims: "tuple[ClaimedKey, ...]" = ()


class ClaimedKey(msgspec.Struct, frozen=True):
    """A key with which a node asked for admission: its fingerprint, when first and last, and from where."""

    fingerprint: str
    first: float
    at: float
    address: str


class SearchGroup(msgspec.Struct, frozen=True):
    """The matches of a search in definitions of one type, by name."""

    kind: str
    found: Mapping[str, tuple[Match, ...]]


class SearchPage(msgspec.Struct, frozen=True):
    """The results of a search.

    `looked` is the number of commits searched; `sought` has the matches of one page.
    """

    text: str
    nodes: tuple[str, ...] = ()
    commits: tuple[Commit, ...] = ()
    looked: int = 0
    sought: tuple[SearchGroup, ...] = ()
    matches: int = 0
    number: int = 1
    pages: int = 1
    places: SourceLinks = SourceLinks()


class FilePage(msgspec.Struct, frozen=True):
    """A file of the repository at a commit, line by line."""

    path: str
    commit: str
    lines: tuple[str, ...]


class LoginPage(msgspec.Struct, frozen=True):
    """The form for a token; `onward` is the page that the visitor sees after it."""

    csrf: str
    onward: str
    wrong: str = ""


class RedirectPage(msgspec.Struct, frozen=True):
    """A page that leads to another page of the server, as the server's own links do."""

    address: str


class ProblemPage(msgspec.Struct, frozen=True):
    """The page for an error."""

    status: int
    title: str
    detail: str = ""
