"""The page of releases, and what people do to them there."""

from collections.abc import Callable

import msgspec
from aiohttp import web

from gitcfg.model import REFUSED, GitcfgError
from gitcfg.server.pages import visits
from gitcfg.server.pages.git import in_short
from gitcfg.server.pages.shown import admitted, elsewhere, shown
from gitcfg.server.problems import Problem
from gitcfg.server.routes.releases import SHOWN, told
from gitcfg.server.service import SERVICE, Service
from gitcfg.server.sessions import session_of
from gitcfg.state import State, StoredRelease
from gitcfg.state.steering import abort, resume
from gitcfg.web.content import Release, ReleasesPage

Steer = Callable[[State, str, float, str], StoredRelease]


async def all_releases(request: web.Request) -> ReleasesPage:
    """The newest ones."""
    service = request.app[SERVICE]
    found = await service.conductor.ask(lambda state: state.releases.newest(SHOWN))
    return ReleasesPage(tuple([await release(service, one) for one in found]))


async def release(service: Service, kept: StoredRelease) -> Release:
    """A release as it stands by now."""
    commits = await service.people.do(lambda fleets: in_short([kept.commit], fleets))
    subject = commits[kept.commit].subject if kept.commit in commits else ""
    return msgspec.convert({**told(service, kept), "subject": subject}, Release)


async def let_go_on(request: web.Request) -> web.StreamResponse:
    """A halted release goes on."""
    return await _steered(request, resume)


async def take_back(request: web.Request) -> web.StreamResponse:
    """Nodes get what was before a release."""
    return await _steered(request, abort)


async def _steered(request: web.Request, steer: Steer) -> web.StreamResponse:
    service = request.app[SERVICE]
    who = await admitted(request)
    if who is None:
        return elsewhere("/login")
    await visits.form(request, session_of(request))
    if not who.operates:
        raise Problem("forbidden", "Your token may look; this needs the role operate.")
    commit, now = request.match_info["commit"], service.clock()
    try:
        await service.conductor.ask(lambda state: steer(state, commit, now, who.name))
    except GitcfgError as error:
        raise Problem("conflict" if error.code == REFUSED else "not-found", error.message) from None
    service.conductor.wake()
    return elsewhere("/releases")


ROUTES = [
    web.get("/releases", shown(all_releases)),
    web.post("/releases/{commit}/resume", let_go_on),
    web.post("/releases/{commit}/abort", take_back),
]
