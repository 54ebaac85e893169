"""The page of the branch: its commits, newest first, and how many nodes run each."""

from collections import Counter
from functools import partial
from itertools import islice

from aiohttp import web

from gitcfg.git.history import History
from gitcfg.server.fleets import FleetCache
from gitcfg.server.pages.git import resolve_commit, summarize_commit
from gitcfg.server.pages.rows import load_rows
from gitcfg.server.pages.shown import page_handler
from gitcfg.server.service import SERVICE
from gitcfg.web.content import Commit, CommitsPage

_COMMITS = 50


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


ROUTES = [web.get("/commits", page_handler(show_branch))]
