"""The page of releases, and the forms to resume or abort one."""

from collections.abc import Callable

import msgspec
from aiohttp import web

from gitcfg.model import REFUSED, GitcfgError
from gitcfg.server.auth import read_session
from gitcfg.server.http import Problem
from gitcfg.server.pages.base import admit_visitor, page_handler, read_form, redirect, summarize_commits
from gitcfg.server.routes.commits import MAX_SHOWN, current_release_record
from gitcfg.server.service import SERVICE, Service
from gitcfg.state.records import StoredRelease
from gitcfg.state.releases import Releases
from gitcfg.web.content import Release, ReleasesPage

Steer = Callable[[Releases, str, float, str], StoredRelease]


async def show_releases(request: web.Request) -> ReleasesPage:
    """Show the newest releases."""
    service = request.app[SERVICE]
    found = await service.controller.with_state(lambda state: state.releases.newest(MAX_SHOWN))
    return ReleasesPage(tuple([await make_release(service, one) for one in found]))


async def make_release(service: Service, kept: StoredRelease) -> Release:
    """Return a release with its present counts."""
    commits = await service.people.run(lambda fleets: summarize_commits([kept.commit], fleets))
    subject = commits[kept.commit].subject if kept.commit in commits else ""
    return msgspec.convert({**current_release_record(service, kept), "subject": subject}, Release)


async def handle_resume(request: web.Request) -> web.StreamResponse:
    """Let a halted release go on."""
    return await _steer(request, Releases.resume)


async def handle_abort(request: web.Request) -> web.StreamResponse:
    """Give nodes what was before a release."""
    return await _steer(request, Releases.abort)


async def _steer(request: web.Request, steer: Steer) -> web.StreamResponse:
    service = request.app[SERVICE]
    who = await admit_visitor(request)
    if who is None:
        return redirect("/login")
    await read_form(request, read_session(request))
    if not who.operates:
        raise Problem("forbidden", "Your token may look; this needs the role operate.")
    commit, now = request.match_info["commit"], service.clock()
    try:
        await service.controller.with_state(lambda state: steer(state.releases, commit, now, who.name))
    except GitcfgError as error:
        raise Problem("conflict" if error.code == REFUSED else "not-found", error.message) from None
    service.controller.wake()
    return redirect("/releases")


ROUTES = [
    web.get("/releases", page_handler(show_releases)),
    web.post("/releases/{commit}/resume", handle_resume),
    web.post("/releases/{commit}/abort", handle_abort),
]
