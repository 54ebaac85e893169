"""Releases: how far they have got, and what people do to them."""

from collections.abc import Callable
from typing import Any

import msgspec
from aiohttp import web

from gitcfg.model import REFUSED, GitcfgError
from gitcfg.rollout.outcomes import Look
from gitcfg.server.answers import json_answer
from gitcfg.server.callers import reader
from gitcfg.server.problems import Problem
from gitcfg.server.release_records import look, named_record, release_record
from gitcfg.server.service import SERVICE, Service
from gitcfg.state import Role, State, StoredRelease
from gitcfg.state.steering import abort, resume

SHOWN = 20
Steer = Callable[[State, str, float, str], StoredRelease]


async def all_releases(request: web.Request) -> web.StreamResponse:
    """The newest ones."""
    service = request.app[SERVICE]
    await reader(request)
    found = await service.conductor.ask(lambda state: state.releases.newest(SHOWN))
    releases = [_named(service, release) for release in found]
    return json_answer(msgspec.json.encode({"schema": "gitcfg.releases/1", "releases": releases}))


async def let_go_on(request: web.Request) -> web.StreamResponse:
    """A halted release goes on."""
    return await _steered(request, resume)


async def take_back(request: web.Request) -> web.StreamResponse:
    """Nodes get what was before a release."""
    return await _steered(request, abort)


async def _steered(request: web.Request, steer: Steer) -> web.StreamResponse:
    service = request.app[SERVICE]
    token = await reader(request, Role.OPERATE)
    commit, now = request.match_info["commit"], service.clock()
    try:
        found = await service.conductor.ask(lambda state: steer(state, commit, now, token.name))
    except GitcfgError as error:
        if error.code == REFUSED:
            raise Problem("conflict", " ".join((error.message, *error.hints))) from None
        raise Problem("not-found") from None
    service.conductor.wake()
    return json_answer(msgspec.json.encode({"schema": "gitcfg.release/1", **_named(service, found)}))


def told(service: Service, release: StoredRelease) -> dict[str, Any]:
    """A release as it stands by now, without the names of nodes."""
    return release_record(release, _look(service, release), service.clock())


def _named(service: Service, release: StoredRelease) -> dict[str, Any]:
    return named_record(release, _look(service, release), service.clock())


def _look(service: Service, release: StoredRelease) -> Look:
    view, roll = service.conductor.view, service.conductor.roll
    outline = view.outlines.get(release.commit) if view is not None else None
    lines, held = outline.nodes if outline is not None else {}, view.held if view is not None else {}
    return look(roll, release.commit, lines, held)


ROUTES = [
    web.get("/v1/releases", all_releases),
    web.post("/v1/releases/{commit}/resume", let_go_on),
    web.post("/v1/releases/{commit}/abort", take_back),
]
