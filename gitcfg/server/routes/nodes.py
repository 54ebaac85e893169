"""Routes of nodes: what they are to run, and their check-ins."""

import msgspec
from aiohttp import web

from gitcfg.server.answers import entity_tag, is_unchanged, json_response, not_modified, parse_seconds
from gitcfg.server.callers import ABOUT, authenticate, read_body, require_node
from gitcfg.server.checkin import MOST_BYTES, parse_checkin
from gitcfg.server.problems import Problem
from gitcfg.server.proxies import ORIGIN
from gitcfg.server.service import SERVICE, Service
from gitcfg.server.targets import Target, find_target
from gitcfg.state import Checkin

LONGEST_WAIT = 60


async def show_target(request: web.Request) -> web.StreamResponse:
    """Show the commit that the node is to run; with `wait`, as soon as that is another one."""
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
    """Keep a node's check-in, and answer with what it is to run."""
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


ROUTES = [
    web.get("/v1/nodes/{node}/config", show_target),
    web.post("/v1/nodes/{node}/checkin", check_in),
]
