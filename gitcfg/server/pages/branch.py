"""The page of the branch: its commits, newest first, and how many nodes run each."""

from collections import Counter
from functools import partial
from itertools import islice

from aiohttp import web

from gitcfg.git.history import History
from gitcfg.server.fleets import Fleets
from gitcfg.server.pages.git import about, known
from gitcfg.server.pages.rows import rows
from gitcfg.server.pages.shown import shown
from gitcfg.server.service import SERVICE
from gitcfg.web.content import Commit, CommitsPage

_COMMITS = 50


async def listed(request: web.Request) -> CommitsPage:
    """The commits of the branch, newest first."""
    service = request.app[SERVICE]
    judged = service.conductor.judged
    start = request.query.get("from") or service.view.accepted
    begin = await known(service, start)
    found = await service.people.do(partial(_listed, begin))
    running = Counter(row.running for row in await rows(service) if row.running is not None)
    older = found[_COMMITS].commit if len(found) > _COMMITS else None
    return CommitsPage(judged.tip.ref if judged is not None else "", found[:_COMMITS], running, older)


def _listed(begin: str, fleets: Fleets) -> tuple[Commit, ...]:
    history = History(fleets.source.repository)
    return tuple(about(history, commit) for commit in islice(history.walk(begin), _COMMITS + 1))


ROUTES = [web.get("/commits", shown(listed))]
