"""The page of a commit: what it says and changes, and how far it has got."""

from collections import Counter
from functools import partial
from typing import NamedTuple

from aiohttp import web

from gitcfg.comparison.change import Change
from gitcfg.git.history import History
from gitcfg.library import compare
from gitcfg.model import Finding, GitcfgError
from gitcfg.server.fleets import Fleets
from gitcfg.server.pages.git import about, known, places
from gitcfg.server.pages.releases import release
from gitcfg.server.pages.rows import rows
from gitcfg.server.pages.shown import shown
from gitcfg.server.service import SERVICE, Service
from gitcfg.web.asked import page_number
from gitcfg.web.content import Commit, CommitPage, Count, Release
from gitcfg.web.places import Places
from gitcfg.web.table import paged

_CHANGES = 50


class _Said(NamedTuple):
    """What git says of a commit."""

    commit: Commit
    message: str
    parents: tuple[str, ...]
    findings: tuple[Finding, ...]
    changes: tuple[Change, ...]
    places: Places


async def one(request: web.Request) -> CommitPage:
    """A commit. Problem: no protected branch has it."""
    service = request.app[SERVICE]
    commit = await known(service, request.match_info["commit"])
    said = await service.people.do(partial(_said, commit))
    number, pages, changes = paged(said.changes, page_number(request.query.get("page", "")), _CHANGES)
    nodes = await rows(service)
    return CommitPage(
        said.commit,
        said.message,
        said.parents,
        said.parents[0] if said.parents else None,
        said.findings,
        tuple(changes),
        sum(len(change.nodes) for change in said.changes),
        _actions(said.changes),
        number,
        pages,
        await _release(service, commit),
        sum(row.wanted == commit for row in nodes),
        sum(row.running == commit for row in nodes),
        service.view.accepted == commit,
        said.places,
    )


def _said(commit: str, fleets: Fleets) -> _Said:
    repository = fleets.source.repository
    history = History(repository)
    parents = history.parents(commit)
    message = history.message(commit)
    try:
        findings, changes = _judged(fleets, commit, parents)
    except GitcfgError as error:  # there was no repository of gitcfg at that time
        findings, changes = (Finding("GC101", (), error.message),), ()
    return _Said(about(history, commit), message, parents, findings, changes, places(fleets, commit))


def _judged(
    fleets: Fleets, commit: str, parents: tuple[str, ...]
) -> tuple[tuple[Finding, ...], tuple[Change, ...]]:
    """What is wrong with a commit, and what it changes."""
    findings = fleets.at(commit).checked.findings
    if not parents:
        return findings, ()
    try:
        before = fleets.at(parents[0])
    except GitcfgError:
        return findings, ()
    return findings, compare(before, fleets.at(commit)).changes


def _actions(changes: tuple[Change, ...]) -> tuple[Count, ...]:
    """How many nodes do what with which subsystem."""
    counts: Counter[str] = Counter()
    for change in changes:
        for verb, names in (("restart", change.restart), ("reload", change.reload), ("stop", change.stop)):
            counts.update({f"{verb} {name}": len(change.nodes) for name in names})
    return tuple(Count(name, number) for name, number in counts.most_common())


async def _release(service: Service, commit: str) -> Release | None:
    found = await service.conductor.ask(lambda state: state.releases.newest(100))
    kept = next((each for each in found if each.commit == commit), None)
    return await release(service, kept) if kept is not None else None


ROUTES = [web.get("/commits/{commit}", shown(one))]
