"""Routes of commits and releases: differences, actions due on a node, the branch, resuming and aborting."""

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
from aiohttp import web

from gitcfg.comparison.change import diff_record
from gitcfg.delivery.configuration import find_node_change
from gitcfg.gate.changes import find_secret_changes, secret_change_to_json
from gitcfg.library import compare
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.rollout import FindPresence
from gitcfg.server import fleets as source
from gitcfg.server.auth import ABOUT, require_node, require_token
from gitcfg.server.fleets import FleetCache, FleetWorker
from gitcfg.server.http import Problem, json_response
from gitcfg.server.releases import observe_nodes, release_record, release_record_with_nodes
from gitcfg.server.service import SERVICE, Service
from gitcfg.server.signatures import AnswerSubject
from gitcfg.state.records import Role, StoredRelease
from gitcfg.state.releases import Releases

MAX_SHOWN = 20
Steer = Callable[[Releases, str, float, str], StoredRelease]


async def show_changes(request: web.Request) -> web.StreamResponse:
    """Show the actions due on a node that changes from one commit to another."""
    service, node = request.app[SERVICE], request.match_info["node"]
    await require_node(request, node)
    start, end = request.query.get("from"), request.query.get("to") or service.view.offer(node).commit
    old = await resolve_commit(service, service.packages, start, whole=True) if start else None
    new = await resolve_commit(service, service.packages, end, whole=True)
    request[ABOUT] = AnswerSubject(node, new)
    return json_response(await service.packages.run(lambda fleets: _encode_changes(fleets, old, new, node)))


async def show_diff(request: web.Request) -> web.StreamResponse:
    """Show the difference between two commits, folded over nodes."""
    service = request.app[SERVICE]
    await require_token(request)
    view = service.view
    old = await resolve_commit(service, service.people, request.query.get("from") or view.base)
    new = await resolve_commit(service, service.people, request.query.get("to") or view.accepted)

    def encode(fleets: FleetCache) -> bytes:
        before, after = fleets.at(old), fleets.at(new)
        secrets = map(secret_change_to_json, find_secret_changes(before, after))
        return msgspec.json.encode(diff_record(old, new, compare(before, after), secrets=secrets))

    return json_response(await service.people.run(encode))


async def show_commits(request: web.Request) -> web.StreamResponse:
    """Show the branch, the accepted commit, and the errors of the tip."""
    await require_token(request)
    return json_response(msgspec.json.encode(commits_record(request.app[SERVICE])))


def commits_record(service: Service) -> dict[str, Any]:
    """Return `gitcfg.commits/1`."""
    judged, view = service.controller.judged, service.controller.view
    return {
        "schema": "gitcfg.commits/1",
        "ref": judged.tip.ref if judged is not None else None,
        "tip": judged.tip.commit if judged is not None else None,
        "accepted": view.accepted if view is not None else None,
        "errors": judged.errors if judged is not None else 0,
        "message": judged.message if judged is not None else "",
    }


async def resolve_commit(service: Service, worker: FleetWorker, text: str, whole: bool = False) -> str:
    """Resolve a commit. Raise Problem if no protected branch has it."""
    if text in service.view.outlines:
        return text
    if whole and not source.COMMIT.fullmatch(text):
        raise Problem("not-found")
    found = await worker.run(lambda fleets: source.find_reachable(fleets.source.repository, text))
    if found is None:
        raise Problem("not-found")
    return found


def _encode_changes(fleets: FleetCache, old: str | None, new: str, node: str) -> bytes:
    """Encode the actions due; all possible ones if the node is new in the commit."""
    with fleets.fleet_with(new, node) as after:
        if after is None:
            raise Problem("not-found")
        if old is None:
            return find_node_change(None, after, node).encoded()
        with fleets.fleet_with(old, node) as before:
            return find_node_change(before, after, node).encoded()


async def list_releases(request: web.Request) -> web.StreamResponse:
    """Show the newest releases."""
    service = request.app[SERVICE]
    await require_token(request)
    found = await service.controller.with_state(lambda state: state.releases.newest(MAX_SHOWN))
    releases = [_current_record_with_nodes(service, release) for release in found]
    return json_response(msgspec.json.encode({"schema": "gitcfg.releases/1", "releases": releases}))


async def _steer(steer: Steer, request: web.Request) -> web.StreamResponse:
    """Resume or abort a release, for a token with that role."""
    service = request.app[SERVICE]
    token = await require_token(request, Role.OPERATE)
    commit, now, by = request.match_info["commit"], service.clock(), token.name
    try:
        found = await service.controller.with_state(lambda state: steer(state.releases, commit, now, by))
    except GitcfgError as error:
        if error.code == REFUSED:
            raise Problem("conflict", " ".join((error.message, *error.hints))) from None
        raise Problem("not-found") from None
    service.controller.wake()
    record = {"schema": "gitcfg.release/1", **_current_record_with_nodes(service, found)}
    return json_response(msgspec.json.encode(record))


def current_release_record(service: Service, release: StoredRelease) -> dict[str, Any]:
    """Return a release with its present counts, without the names of nodes."""
    return release_record(release, _observe(service, release), service.clock())


def _current_record_with_nodes(service: Service, release: StoredRelease) -> dict[str, Any]:
    return release_record_with_nodes(release, _observe(service, release), service.clock())


def _observe(service: Service, release: StoredRelease) -> FindPresence:
    view, registry = service.controller.view, service.controller.registry
    outline = view.outlines.get(release.commit) if view is not None else None
    lines, held = outline.nodes if outline is not None else {}, view.held if view is not None else {}
    return observe_nodes(registry, release.commit, lines, held)


ROUTES = [
    web.get("/v1/commits", show_commits),
    web.get("/v1/nodes/{node}/changes", show_changes),
    web.get("/v1/diff", show_diff),
    web.get("/v1/releases", list_releases),
    web.post("/v1/releases/{commit}/resume", partial(_steer, Releases.resume)),
    web.post("/v1/releases/{commit}/abort", partial(_steer, Releases.abort)),
]
