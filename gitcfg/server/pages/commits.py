"""The pages of the branch, of a commit with its changes, of a file at a commit, and of releases."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import NamedTuple

from aiohttp import web

from gitcfg.comparison.change import Change
from gitcfg.explain.search import find_secret_lines
from gitcfg.git.history import History
from gitcfg.git.tree import EntryKind
from gitcfg.library import compare
from gitcfg.load.repository import is_repository
from gitcfg.model import REFUSED, Finding, GitcfgError
from gitcfg.model.secrets import PLAIN
from gitcfg.server.auth import read_session
from gitcfg.server.fleets import FleetCache
from gitcfg.server.http import Problem
from gitcfg.server.pages.base import (
    admit_visitor,
    make_links,
    make_release,
    page_handler,
    read_form,
    redirect,
    resolve_commit,
    summarize_commit,
)
from gitcfg.server.pages.fleet import load_rows
from gitcfg.server.routes.commits import MAX_SHOWN
from gitcfg.server.service import SERVICE
from gitcfg.state.records import StoredRelease
from gitcfg.state.releases import Releases
from gitcfg.web.content import (
    Commit,
    CommitPage,
    CommitsPage,
    Count,
    FilePage,
    ReleasesPage,
    SourceLinks,
)
from gitcfg.web.table import paginate, parse_page_number

_CHANGES = 50
_COMMITS = 50
_HIDDEN = "secrets/"
_LARGEST = 1024 * 1024


class _CommitContent(NamedTuple):
    """The content of a page about a commit that comes from git."""

    commit: Commit
    message: str
    parents: tuple[str, ...]
    findings: tuple[Finding, ...]
    changes: tuple[Change, ...]
    places: SourceLinks


async def show_commit(request: web.Request) -> CommitPage:
    """Show a commit. Raise Problem if no protected branch has it."""
    service = request.app[SERVICE]
    commit = await resolve_commit(service, request.match_info["commit"])
    content = await service.people.run(partial(_read_commit, commit))
    page = parse_page_number(request.query.get("page", ""))
    number, pages, changes = paginate(content.changes, page, _CHANGES)
    nodes = await load_rows(service)
    releases = await service.controller.with_state(lambda state: state.releases.newest(100))
    release = next((one for one in releases if one.commit == commit), None)
    return CommitPage(
        content.commit,
        content.message,
        content.parents,
        content.parents[0] if content.parents else None,
        content.findings,
        tuple(changes),
        sum(len(change.nodes) for change in content.changes),
        _count_actions(content.changes),
        number,
        pages,
        await make_release(service, release) if release is not None else None,
        sum(row.wanted == commit for row in nodes),
        sum(row.running == commit for row in nodes),
        service.view.accepted == commit,
        content.places,
    )


def _read_commit(commit: str, fleets: FleetCache) -> _CommitContent:
    repository = fleets.source.repository
    history = History(repository)
    parents = history.parents(commit)
    message = history.message(commit)
    try:
        findings, changes = _compare_with_parent(fleets, commit, parents)
    except GitcfgError as error:  # for example, the commit has no gitcfg.yaml
        findings, changes = (Finding("GC101", (), error.message),), ()
    return _CommitContent(
        summarize_commit(history, commit), message, parents, findings, changes, make_links(fleets, commit)
    )


def _compare_with_parent(
    fleets: FleetCache, commit: str, parents: tuple[str, ...]
) -> tuple[tuple[Finding, ...], tuple[Change, ...]]:
    """Return the findings of a commit, and its changes."""
    findings = fleets.at(commit).checked.findings
    if not parents:
        return findings, ()
    try:
        before = fleets.at(parents[0])
    except GitcfgError:
        return findings, ()
    return findings, compare(before, fleets.at(commit)).changes


def _count_actions(changes: tuple[Change, ...]) -> tuple[Count, ...]:
    """Count the nodes for each action on a subsystem."""
    counts: Counter[str] = Counter()
    for change in changes:
        for verb, names in (("restart", change.restart), ("reload", change.reload), ("stop", change.stop)):
            counts.update({f"{verb} {name}": len(change.nodes) for name in names})
    return tuple(Count(name, number) for name, number in counts.most_common())


async def show_branch(request: web.Request) -> CommitsPage:
    """Show the commits of the branch, newest first."""
    service = request.app[SERVICE]
    judged = service.controller.judged
    start = request.query.get("from") or service.view.accepted
    begin = await resolve_commit(service, start)
    found = await service.people.run(partial(_list_commits, begin))
    running = Counter(row.running for row in await load_rows(service) if row.running is not None)
    older = found[_COMMITS].commit if len(found) > _COMMITS else None
    return CommitsPage(judged.tip.ref if judged is not None else "", found[:_COMMITS], running, older)


def _list_commits(begin: str, fleets: FleetCache) -> tuple[Commit, ...]:
    history = History(fleets.source.repository)
    return tuple(summarize_commit(history, commit) for commit in islice(history.walk(begin), _COMMITS + 1))


async def show_file(request: web.Request) -> FilePage:
    """Show a file. Raise Problem if there is none, or it may not be shown."""
    service, path = request.app[SERVICE], request.match_info["path"]
    commit = await resolve_commit(service, request.match_info["commit"])
    lines = await service.people.run(partial(read_lines, commit, path))
    if lines is None:
        raise Problem("not-found", "There is no such file to show.")
    return FilePage(path, commit, lines)


def read_lines(commit: str, path: str, fleets: FleetCache) -> tuple[str, ...] | None:
    """Return the lines of a text, without secrets in plain text; None for secrets, even encrypted ones."""
    if path.startswith(_HIDDEN):
        return None
    tree = fleets.source.repository.at(commit)
    entry = tree.entry(path)
    if entry is None or entry.kind is not EntryKind.FILE:
        return None
    content = tree.read(entry)
    if len(content) > _LARGEST or b"\0" in content:
        return None
    hidden = find_secret_lines(fleets.at(commit).compiled, path, content) if is_repository(tree) else ()
    lines = content.decode("utf-8", "replace").splitlines()
    return tuple(PLAIN if number in hidden else line for number, line in enumerate(lines, 1))


# Releases, and the forms to resume or abort one.

Steer = Callable[[Releases, str, float, str], StoredRelease]


async def show_releases(request: web.Request) -> ReleasesPage:
    """Show the newest releases."""
    service = request.app[SERVICE]
    found = await service.controller.with_state(lambda state: state.releases.newest(MAX_SHOWN))
    return ReleasesPage(tuple([await make_release(service, one) for one in found]))


async def _steer(steer: Steer, request: web.Request) -> web.StreamResponse:
    """Resume or abort a release, for a visitor with that role."""
    service = request.app[SERVICE]
    visitor = await admit_visitor(request)
    if visitor is None:
        return redirect("/login")
    await read_form(request, read_session(request))
    if not visitor.operates:
        raise Problem("forbidden", "Your token can only read. This needs the role operate.")
    commit, now = request.match_info["commit"], service.clock()
    try:
        await service.controller.with_state(lambda state: steer(state.releases, commit, now, visitor.name))
    except GitcfgError as error:
        raise Problem("conflict" if error.code == REFUSED else "not-found", error.message) from None
    service.controller.wake()
    return redirect("/releases")


ROUTES = [
    web.get("/commits/{commit}", page_handler(show_commit)),
    web.get("/commits", page_handler(show_branch)),
    web.get("/commits/{commit}/files/{path:.+}", page_handler(show_file)),
    web.get("/releases", page_handler(show_releases)),
    web.post("/releases/{commit}/resume", partial(_steer, Releases.resume)),
    web.post("/releases/{commit}/abort", partial(_steer, Releases.abort)),
]
