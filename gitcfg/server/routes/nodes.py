"""Routes of nodes: the commit that they should run (`gitcfg.target/1`), packages, and check-ins."""

from datetime import UTC, datetime
from typing import Any

import msgspec
from aiohttp import web

from gitcfg.delivery.configuration import RETIRED
from gitcfg.server.auth import ABOUT, authenticate, read_body, require_node
from gitcfg.server.checkins import MOST_BYTES, parse_checkin
from gitcfg.server.fleets import FleetCache
from gitcfg.server.http import (
    ORIGIN,
    Problem,
    entity_tag,
    is_unchanged,
    json_response,
    not_modified,
    parse_seconds,
)
from gitcfg.server.routes.commits import resolve_commit
from gitcfg.server.secrets import SecretQuery, Withheld
from gitcfg.server.service import SERVICE, Service
from gitcfg.server.signatures import AnswerSubject
from gitcfg.state.records import Checkin

SCHEMA = "gitcfg.target/1"
_MOST = 50_000


class Target(msgspec.Struct, frozen=True):
    """The commit for a node, and the digest of its configuration there.

    `again`: its earlier failure at the commit was forgiven, so that it may retry at once.
    """

    node: str
    commit: str
    digest: str
    sequence: int
    date: str
    rollback: bool
    again: bool
    hold: dict[str, Any] | None
    schema: str = SCHEMA

    @property
    def about(self) -> AnswerSubject:
        """The subject of the answer's signed headers."""
        return AnswerSubject(self.node, self.commit, self.digest, self.sequence, self.rollback)


async def find_target(service: Service, name: str) -> Target:
    """Find the commit for a node. Raise Problem if git does not know the node, or no longer."""
    view = service.view
    offer, line = view.offer(name), view.line(name)
    if line is not None:
        digest: str | None = line.digest
    elif view.knows(name):
        # The node is new in a commit that was aborted, or a hold keeps it at an older one.
        raise Problem("unavailable", "The commit for this node does not describe it.", {"Retry-After": "60"})
    else:
        digest = await _find_walk_in_digest(service, name, offer.commit)
    if digest is None:
        raise _explain_nothing(service, name)
    hold_record = None
    if (hold := offer.hold) is not None:
        hold_record = {"name": hold.name, "reason": hold.reason, "until": hold.until.isoformat()}
    date = datetime.fromtimestamp(service.clock(), UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    again = _is_forgiven(service, name, offer.commit)
    return Target(name, offer.commit, digest, view.sequence, date, offer.back, again, hold_record)


def _is_forgiven(service: Service, name: str, commit: str) -> bool:
    """Return whether a node failed at a commit before its release was resumed."""
    known = service.controller.registry.nodes.get(name)
    if known is None or known.failed_commit != commit or known.failed_at is None:
        return False
    rollouts = (one.progress for one in service.view.rollouts if one.progress.commit == commit)
    return any(known.failed_at < progress.forgiven for progress in rollouts)


def _explain_nothing(service: Service, name: str) -> Problem:
    """Return the problem of a node that has no definition and gets nothing."""
    known = service.controller.registry.nodes.get(name)
    if known is not None and known.commit is not None:
        return Problem("gone")
    if name in service.view.keys:
        return Problem("pending", "git has a key for this node, but does not describe it.")
    if service.view.outline.walk_in is not None:
        return Problem(
            "unavailable", "The commit for this node accepts no walk-in nodes.", {"Retry-After": "60"}
        )
    return Problem("not-found")


async def _find_walk_in_digest(service: Service, name: str, commit: str) -> str | None:
    """Return the digest of a walk-in node; None if it gets nothing."""
    outline = service.view.outlines.get(commit)
    if outline is None or outline.walk_in is None:
        return None
    key = (outline.tree, name)
    if key not in service.walk_ins:
        found = await service.packages.run(lambda fleets: fleets.digest(commit, name))
        if found is None:
            return None
        service.walk_ins[key] = found
        while len(service.walk_ins) > _MOST:
            service.walk_ins.popitem(last=False)
    return service.walk_ins[key]


# Routes.

LONGEST_WAIT = 60
FOREVER, NEVER = "private, max-age=31536000, immutable", "no-store"


async def show_target(request: web.Request) -> web.StreamResponse:
    """Show the commit that the node should run; with `wait`, once it changes."""
    service, node = request.app[SERVICE], request.match_info["node"]
    await require_node(request, node)
    wait = parse_seconds(request, "wait", LONGEST_WAIT)
    found = await find_target(service, node)
    if wait and is_unchanged(request, found.digest):
        await service.polls.wait(node, wait)
        found = await find_target(service, node)
    request[ABOUT] = found.about
    if is_unchanged(request, found.digest):
        return not_modified(found.digest)
    return _target_response(found)


async def check_in(request: web.Request) -> web.StreamResponse:
    """Store a node's check-in, and answer with the commit that it should run."""
    service, node = request.app[SERVICE], request.match_info["node"]
    body = await read_body(request, MOST_BYTES)
    found = await authenticate(request, body)
    if found.node is None or found.node.node != node:
        raise Problem("not-found")
    if not found.node.known:
        await service.admission.admit(found.node, request[ORIGIN].address)
    checkin = parse_checkin(body, found.node, service.clock(), request[ORIGIN].address)
    if not await service.checkin_writer.write(checkin):
        raise Problem("replay")
    service.metrics.checked_in(checkin)
    if service.controller.registry.update(checkin):
        await _announce(service, checkin)
    answer = await find_target(service, node)
    request[ABOUT] = answer.about
    return _target_response(answer)


def _target_response(found: Target) -> web.Response:
    headers = {"ETag": entity_tag(found.digest), "Cache-Control": "no-store"}
    return json_response(msgspec.json.encode(found, order="sorted"), headers)


async def _announce(service: Service, checkin: Checkin) -> None:
    """Write an event for a node whose state has changed."""
    data = {
        "commit": checkin.commit,
        "digest": checkin.digest,
        "outcome": checkin.result.outcome if checkin.result is not None else None,
        "drifts": len(checkin.drift),
    }
    service.event_writer.add(service.clock(), "checkin", data, checkin.node)


async def show_package(request: web.Request) -> web.StreamResponse:
    """Answer with everything that a node needs of a commit."""
    service, node = request.app[SERVICE], request.match_info["node"]
    found = await require_node(request, node)
    commit = await resolve_commit(service, service.packages, request.match_info["commit"], whole=True)
    known = service.view.outlines.get(commit)
    line = known.nodes.get(node) if known is not None else None
    if line is not None and is_unchanged(request, line.digest):
        request[ABOUT] = AnswerSubject(node, commit, line.digest)
        return not_modified(line.digest, FOREVER)
    judge = None if commit == service.view.offer(node).commit else service.view.accepted
    query = SecretQuery(found.node, request[ORIGIN], judge) if found.node is not None else None
    digest, body, secret = await _make_package(service, commit, node, query)
    request[ABOUT] = AnswerSubject(node, commit, digest)
    if is_unchanged(request, digest):
        return not_modified(digest, NEVER if secret else FOREVER)
    return json_response(body, {"ETag": entity_tag(digest), "Cache-Control": NEVER if secret else FOREVER})


async def _make_package(
    service: Service, commit: str, node: str, query: SecretQuery | None
) -> tuple[str, bytes, bool]:
    """Return a package's digest, its bytes, and whether it contains secrets.

    Raise Problem if there is none.
    """

    def encode(fleets: FleetCache) -> tuple[str, bytes, bool]:
        found = fleets.configuration(commit, node)
        if found is None:
            raise Problem("not-found")
        if query is None or not found.holding or found.state == RETIRED:
            return found.digest, found.encoded(), False
        return found.digest, service.sealer.seal(fleets, found, query).encoded(), True

    try:
        package = await service.packages.run(encode)
    except Withheld as problem:
        service.metrics.sealed["refused"] += 1
        service.refusals.log(node, commit, problem, service.clock())
        raise
    service.metrics.sealed["sealed"] += package[2]
    return package


ROUTES = [
    web.get("/v1/nodes/{node}/config", show_target),
    web.post("/v1/nodes/{node}/checkin", check_in),
    web.get("/v1/commits/{commit}/nodes/{node}", show_package),
]
