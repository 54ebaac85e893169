"""`gitcfg wait`: wait until nodes run a commit."""

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from gitcfg.cli.commands import SOME_FAILED, TIME_RAN_OUT
from gitcfg.cli.declaration import OutputOption, WhereOption, command
from gitcfg.cli.nodes import choose_nodes, expand_names
from gitcfg.cli.records import Items, Record, write_record
from gitcfg.cli.server_state import (
    Database,
    Server,
    StateFolder,
    StateQuery,
    Token,
    Unreachable,
    ask_server,
    load_node_states,
    note_on_tip,
    open_state,
    served_repository,
    state_query,
)
from gitcfg.cli.session import Output, Session
from gitcfg.git.refs import Refs
from gitcfg.library import Fleet
from gitcfg.model import GitcfgError
from gitcfg.model.text import ABBREVIATED, counted, safe, seconds
from gitcfg.nodeset import abridged

if TYPE_CHECKING:
    from gitcfg.git.repository import Repository
    from gitcfg.state.records import NodeState


EPILOG = """Exit code 5: the time limit was reached. Exit code 3: the release is halted or aborted.

Examples:

  gitcfg wait HEAD                                      until every node runs what was committed last

  gitcfg wait v2 @Workers --timeout 30m                 until a group's nodes do; exit code 5 if they do not

  gitcfg wait main exec[001-010].example.com --server https://config.example.com"""
_NODES = typer.Argument(
    help="Nodes: names, exec[001-100], @group, also names of nodes that walked in; default: all.",
    metavar="NODES",
)
_TIMEOUT = typer.Option(help="The time limit: 90s, 10m, 2h.", metavar="TIME")
PAUSE = 1.0
_RELEASES = 20
_STUCK = {
    "halted": "Run `gitcfg release resume`, or push a newer commit.",
    "aborted": "Its nodes return to the previous commit. Push another commit.",
}
"""Statuses in which a release does not continue, and what to do then."""


@command(EPILOG, Items("gitcfg.wait/1", "nodes", "awaited"))
def wait(
    context: typer.Context,
    rev: Annotated[str, typer.Argument(help="The commit.", metavar="REV")],
    nodes: Annotated[list[str] | None, _NODES] = None,
    where: WhereOption = None,
    timeout: Annotated[str, _TIMEOUT] = "1h",
    server: Server = None,
    token: Token = None,
    url: Database = None,
    state: StateFolder = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """Wait until nodes run a commit, a later one, or one with the same result."""
    session: Session = context.obj
    longest = seconds(timeout)
    if longest is None:
        raise GitcfgError(f"{timeout} is not a duration.", "Write 90s, 10m, 2h or 1d.")
    query, repository = state_query(context, url, state, server, token), served_repository(session)
    with WaitTarget(session, rev, nodes or (), where) as target:
        if text := note_on_tip(repository, query):
            session.console(stderr=True).print(text)
        done = watch(StateWatcher(repository, query), target, longest)
        if output is not Output.TEXT:
            write_record(wait_to_json(target, done), output)
    if done.error is not None:
        raise done.error
    return 0


class WaitTarget:
    """Nodes that should run a commit, or a later one, or one that gives them the same configuration."""

    def __init__(self, session: Session, revision: str, words: Sequence[str], where: str | None) -> None:
        """Raise GitcfgError if the revision or a node does not exist."""
        self._source = session.open()
        self._fleet = self._source.at(revision)
        self._refs = Refs(self._source.repository)
        self.commit = str(self._fleet.commit)
        self.names = _find_wait_nodes(self._fleet, words, where)
        self._after: dict[str, bool] = {}

    def find_late(self, nodes: "Iterable[NodeState]") -> list[str]:
        """Return the nodes that do not run the commit yet, in order of name."""
        states = {one.node: one for one in nodes}
        return [name for name in self.names if name not in states or not self._runs(states[name])]

    def find_halt(self, releases: Iterable[Mapping[str, Any]]) -> tuple[str, str] | None:
        """Return why no other node gets the commit, and what to do; None if nodes may still get it.

        The `releases` are of `gitcfg.releases/1`. After a failed release nodes get the one before it, which
        may have the commit as well.
        """
        following = [one for one in releases if self._follows(one["commit"])]
        valid = [one for one in following if one["status"] != "aborted"] or following
        if not valid or valid[0]["status"] not in _STUCK or any(one["status"] == "done" for one in valid):
            return None
        newest = valid[0]
        why = f": {safe(newest['why'])}" if newest["why"] else ""
        message = f"The release of {safe(newest['commit'][:ABBREVIATED])} is {newest['status']}{why}."
        return message, _STUCK[newest["status"]]

    def describe(self, late: Sequence[str]) -> str:
        """Return which nodes do not run the commit yet."""
        verb = "does" if len(late) == 1 else "do"
        return f"{counted(len(late), 'node')} of {len(self.names)} {verb} not run it yet: {abridged(late)}."

    def _runs(self, node: "NodeState") -> bool:
        if node.commit is None or node.stuck:
            return False
        if self._follows(node.commit):
            return True
        return node.digest is not None and node.digest == self._digests.get(node.node)

    def _follows(self, commit: str) -> bool:
        if commit not in self._after:
            known = self._refs.commit(commit) is not None
            self._after[commit] = known and self._refs.includes(commit, self.commit)
        return self._after[commit]

    @cached_property
    def _digests(self) -> Mapping[str, str | None]:
        from gitcfg.inventory.nodes import find_walk_in_digests

        fleet, today = self._fleet, self._source.today
        guests = find_walk_in_digests(fleet, [name for name in self.names if name not in fleet], today)
        return {name: fleet[name].digest if name in fleet else guests[name] for name in self.names}

    def __enter__(self) -> "WaitTarget":
        return self

    def __exit__(self, *error: object) -> None:
        self._fleet.close()


def _find_wait_nodes(fleet: Fleet, words: Sequence[str], where: str | None) -> tuple[str, ...]:
    """Return the nodes to wait for. With walk-in nodes, a name needs no definition."""
    settings = fleet.model.settings
    if settings.walk_in is None:
        return choose_nodes(fleet, words, where)
    plain = expand_names(settings.max_nodes, (word for word in words if not word.startswith("@")))
    guests = [name for name in plain if name not in fleet]
    if guests and where is not None:
        raise GitcfgError(f"Cannot use --where for {guests[0]}, which is not in git.", "Remove one of them.")
    groups = [word for word in words if word.startswith("@")]
    described = [*groups, *(name for name in plain if name in fleet)]
    found = choose_nodes(fleet, described, where) if described or not guests else ()
    return tuple(sorted({*found, *guests}))


StateReport = tuple["list[NodeState]", list[Mapping[str, Any]]]
"""The reports of all nodes, and the newest releases."""


class StateWatcher:
    """Poll of nodes and releases; a server that answered before is asked again if it stops answering.

    `lost` is the reason why it does not answer.
    """

    def __init__(self, repository: "Repository", query: StateQuery) -> None:
        self._repository = repository
        self._query = query
        self._answered = False
        self.lost = ""

    def poll(self) -> StateReport | None:
        """Return the present state, None without an answer. Raise GitcfgError if there never was one."""
        try:
            report = self._read()
        except GitcfgError as error:
            passing = self._query.server is None or isinstance(error, Unreachable)
            if not self._answered or not passing:
                raise
            if not self.lost:
                text = f"note: {error.message} Retrying until the time limit."
                print(text, file=sys.stderr, flush=True)
            self.lost = error.message
            return None
        self._answered, self.lost = True, ""
        return report

    def _read(self) -> StateReport:
        query = self._query
        if query.server is not None:
            nodes = load_node_states(self._repository, query)
            return nodes, ask_server(query.server, query.token, "/v1/releases")["releases"]
        with open_state(self._repository, query) as state:
            releases = [
                {"commit": one.commit, "status": one.progress.status.value, "why": one.progress.why}
                for one in state.releases.newest(_RELEASES)
            ]
            return state.checkins.nodes(), list[Mapping[str, Any]](releases)


class WaitResult(NamedTuple):
    """The end of waiting: the nodes that do not run the commit yet, and why, if it ended early."""

    late: Sequence[str] = ()
    error: GitcfgError | None = None

    @property
    def outcome(self) -> str:
        """The outcome for programs."""
        if self.error is None:
            return "done"
        return "timeout" if self.error.code == TIME_RAN_OUT else "halted"


def watch(watcher: StateWatcher, target: WaitTarget, longest: float) -> WaitResult:
    """Wait until all nodes run the commit, time runs out, or no other node gets it."""
    end = time.monotonic() + longest
    late: Sequence[str] = target.names
    while True:
        report = watcher.poll()
        if report is not None:
            nodes, releases = report
            late = target.find_late(nodes)
            if not late:
                return WaitResult()
            if halt := target.find_halt(releases):
                why, hint = halt
                error = GitcfgError(f"{why} {target.describe(late)}", hint, code=SOME_FAILED)
                return WaitResult(late, error)
        if time.monotonic() + PAUSE > end:
            hint = "Run `gitcfg release status` to see its progress."
            error = GitcfgError(target.describe(late), watcher.lost, hint, code=TIME_RAN_OUT)
            return WaitResult(late, error)
        time.sleep(PAUSE)


def wait_to_json(target: WaitTarget, done: WaitResult) -> Record:
    """Return `gitcfg.wait/1`."""
    late = frozenset(done.late)
    return {
        "schema": "gitcfg.wait/1",
        "commit": target.commit,
        "outcome": done.outcome,
        "message": done.error.message if done.error is not None else None,
        "nodes": [{"node": name, "runs": name not in late} for name in target.names],
    }
