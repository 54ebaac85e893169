"""Routes of releases: their progress, and to resume or abort one."""

from collections.abc import Callable
from typing import Any

import msgspec
from aiohttp import web

from gitcfg.model import REFUSED, GitcfgError
from gitcfg.rollout.outcomes import Look
from gitcfg.server.answers import json_response
from gitcfg.server.callers import require_token
from gitcfg.server.problems import Problem
from gitcfg.server.release_records import observe_nodes, release_record, release_record_with_nodes
from gitcfg.server.service import SERVICE, Service
from gitcfg.state import Role, State, StoredRelease
from gitcfg.state.steering import abort, resume

MAX_SHOWN = 20
Steer = Callable[[State, str, float, str], StoredRelease]


async def list_releases(request: web.Request) -> web.StreamResponse:
    """Show the newest releases."""
    service = request.app[SERVICE]
    await require_token(request)
    found = await service.controller.with_state(lambda state: state.releases.newest(MAX_SHOWN))
    releases = [_current_record_with_nodes(service, release) for release in found]
    return json_response(msgspec.json.encode({"schema": "gitcfg.releases/1", "releases": releases}))


async def handle_resume(request: web.Request) -> web.StreamResponse:
    """Let a halted release go on."""
    return await _steer(request, resume)


async def handle_abort(request: web.Request) -> web.StreamResponse:
    """Give nodes what was before a release."""
    return await _steer(request, abort)


async def _steer(request: web.Request, steer: Steer) -> web.StreamResponse:
    service = request.app[SERVICE]
    token = await require_token(request, Role.OPERATE)
    commit, now = request.match_info["commit"], service.clock()
    try:
        found = await service.controller.with_state(lambda state: steer(state, commit, now, token.name))
    except GitcfgError as error:
        if error.code == REFUSED:
            raise Problem("conflict", " ".join((error.message, *error.hints))) from None
        raise Problem("not-found") from None
    service.controller.wake()
    return json_response(
        msgspec.json.encode({"schema": "gitcfg.release/1", **_current_record_with_nodes(service, found)})
    )


def current_release_record(service: Service, release: StoredRelease) -> dict[str, Any]:
    """Return a release with its present counts, without the names of nodes."""
    return release_record(release, _observe(service, release), service.clock())


def _current_record_with_nodes(service: Service, release: StoredRelease) -> dict[str, Any]:
    return release_record_with_nodes(release, _observe(service, release), service.clock())


def _observe(service: Service, release: StoredRelease) -> Look:
    view, registry = service.controller.view, service.controller.registry
    outline = view.outlines.get(release.commit) if view is not None else None
    lines, held = outline.nodes if outline is not None else {}, view.held if view is not None else {}
    return observe_nodes(registry, release.commit, lines, held)


ROUTES = [
    web.get("/v1/releases", list_releases),
    web.post("/v1/releases/{commit}/resume", handle_resume),
    web.post("/v1/releases/{commit}/abort", handle_abort),
]
