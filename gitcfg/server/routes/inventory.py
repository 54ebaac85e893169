"""What people ask of nodes: all of them, one of them, and why it has what it has."""

from typing import Any

import msgspec
from aiohttp import web

from gitcfg.explain.trail import trail_record
from gitcfg.server.answers import json_answer
from gitcfg.server.callers import reader
from gitcfg.server.fleets import Fleets
from gitcfg.server.problems import Problem
from gitcfg.server.roll import Last
from gitcfg.server.service import SERVICE, Service
from gitcfg.server.standing import names, node_record, result_record
from gitcfg.server.view import View
from gitcfg.state import Role, State

_ACCEPTED = "What counts has its key: `gitcfg node forget` takes it out of keys/; commit and push that first."


async def all_nodes(request: web.Request) -> web.StreamResponse:
    """Every node that git knows or that came."""
    service = request.app[SERVICE]
    await reader(request)
    view, roll, now = service.view, dict(service.conductor.roll.nodes), service.clock()
    facts = request.query.get("facts") == "1"
    return json_answer(await service.conductor.ask(lambda state: _all(state, view, roll, now, facts)))


async def one_node(request: web.Request) -> web.StreamResponse:
    """One of them, with all that it has said."""
    service, name = request.app[SERVICE], request.match_info["node"]
    await reader(request)
    found = await service.conductor.ask(lambda state: one_record(service, state, name))
    if found is None:
        raise Problem("not-found")
    return json_answer(msgspec.json.encode(found))


async def explain(request: web.Request) -> web.StreamResponse:
    """The trail of a parameter: the steps that led to its value."""
    service = request.app[SERVICE]
    await reader(request)
    name, param = request.match_info["node"], request.match_info["param"]
    view, everything = service.view, request.query.get("all") == "1"
    commit = view.offer(name).commit
    found = await service.people.do(lambda fleets: _trail(fleets, commit, name, param, everything))
    if found is None:
        raise Problem("not-found")
    return json_answer(found)


async def forget(request: web.Request) -> web.StreamResponse:
    """Know nothing of a node any more that git has no key of: it may come again, with another key too."""
    service, name = request.app[SERVICE], request.match_info["node"]
    await reader(request, Role.OPERATE)
    if name in service.view.keys:
        raise Problem("conflict", _ACCEPTED)
    now = service.clock()
    if not await service.conductor.ask(lambda state: _forgotten(state, name, now)):
        raise Problem("not-found")
    service.conductor.wake()
    return json_answer(msgspec.json.encode({"schema": "gitcfg.forgotten/1", "node": name}))


def _forgotten(state: State, name: str, now: float) -> bool:
    if state.checkins.node(name) is None:
        return False
    state.forget([name], now)
    return True


def _all(state: State, view: View, roll: dict[str, Last], now: float, facts: bool) -> bytes:
    """`gitcfg.nodes/1`. What nodes say of themselves may be most of it: it is told who asks for it."""
    came = {known.node: known for known in state.checkins.nodes()}
    nodes = [node_record(view, name, roll.get(name), came.get(name), now) for name in names(view, roll)]
    if facts:
        for node in nodes:
            known = came.get(node["node"])
            node["facts"] = known.facts if known is not None else None
    record = {"schema": "gitcfg.nodes/1", "accepted": view.accepted, "now": now, "nodes": nodes}
    return msgspec.json.encode(record)


def one_record(service: Service, state: State, name: str) -> dict[str, Any] | None:
    """`gitcfg.inventory-node/1`; None: neither git nor this server has heard of the node."""
    known, view = state.checkins.node(name), service.view
    if known is None and not view.knows(name):
        return None
    last = service.conductor.roll.nodes.get(name)
    record = node_record(view, name, last, known, service.clock())
    return record | {
        "schema": "gitcfg.inventory-node/1",
        "accepted": view.accepted,
        "drift": list(known.drift) if known is not None else None,
        "facts": known.facts if known is not None else None,
        "results": [result_record(result) for result in state.checkins.results(name)],
    }


def _trail(fleets: Fleets, commit: str, name: str, param: str, everything: bool) -> bytes | None:
    with fleets.of(commit, name) as fleet:
        if fleet is None:
            return None
        node = fleet[name]
        if not node.explain(param) and fleet.compiled.declarations.find(param) is None:
            return None
        return msgspec.json.encode(trail_record(commit, name, {param: node.told(param, everything)}))


ROUTES = [
    web.get("/v1/nodes", all_nodes),
    web.get("/v1/nodes/{node}", one_node),
    web.post("/v1/nodes/{node}/forget", forget),
    web.get("/v1/nodes/{node}/explain/{param}", explain),
]
