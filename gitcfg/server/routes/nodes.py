"""What nodes ask: what they are to run; and what they say of themselves."""

import msgspec
from aiohttp import web

from gitcfg.server.answers import entity_tag, json_answer, not_modified, seconds_of, unchanged
from gitcfg.server.callers import ABOUT, body_of, caller, of_node
from gitcfg.server.checkin import MOST_BYTES, checkin
from gitcfg.server.problems import Problem
from gitcfg.server.proxies import ORIGIN
from gitcfg.server.service import SERVICE, Service
from gitcfg.server.targets import Target, target
from gitcfg.state import Checkin

LONGEST_WAIT = 60


async def config(request: web.Request) -> web.StreamResponse:
    """The commit that the node is to run; with `wait`, as soon as that is another one."""
    service, node = request.app[SERVICE], request.match_info["node"]
    await of_node(request, node)
    wait = seconds_of(request, "wait", LONGEST_WAIT)
    found = await target(service, node)
    if wait and unchanged(request, found.digest):
        await service.polls.wait(node, wait)
        found = await target(service, node)
    request[ABOUT] = found.about
    if unchanged(request, found.digest):
        return not_modified(found.digest)
    return _answer(found)


async def check_in(request: web.Request) -> web.StreamResponse:
    """Take in what a node says of itself; it is told what it is to run."""
    service, node = request.app[SERVICE], request.match_info["node"]
    body = await body_of(request, MOST_BYTES)
    found = await caller(request, body)
    if found.node is None or found.node.node != node:
        raise Problem("not-found")
    if not found.node.known:
        await service.strangers.admit(found.node, request[ORIGIN].address)
    said = checkin(body, found.node, service.clock(), request[ORIGIN].address)
    if not await service.writer.write(said):
        raise Problem("replay")
    service.metrics.checked_in(said)
    if service.conductor.roll.told(said):
        await _tell(service, said)
    answer = await target(service, node)
    request[ABOUT] = answer.about
    return _answer(answer)


def _answer(found: Target) -> web.Response:
    headers = {"ETag": entity_tag(found.digest), "Cache-Control": "no-store"}
    return json_answer(msgspec.json.encode(found, order="sorted"), headers)


async def _tell(service: Service, said: Checkin) -> None:
    """Let who watches know that a node stands otherwise than before."""
    data = {
        "commit": said.commit,
        "digest": said.digest,
        "outcome": said.result.outcome if said.result is not None else None,
        "drifts": len(said.drift),
    }
    service.teller.tell(service.clock(), "checkin", data, said.node)


ROUTES = [
    web.get("/v1/nodes/{node}/config", config),
    web.post("/v1/nodes/{node}/checkin", check_in),
]
