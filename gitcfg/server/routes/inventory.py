"""Routes of the inventory: all nodes, one node, the trail of a parameter, and the results of deploys."""

from typing import Any

import msgspec
from aiohttp import web

from gitcfg.explain.trail import trail_record
from gitcfg.server.auth import read_body, require_token
from gitcfg.server.checkins import MOST_BYTES_DEPLOYED as MOST_BYTES
from gitcfg.server.checkins import collect_deploy_results, parse_deploy_report
from gitcfg.server.fleets import FleetCache
from gitcfg.server.http import Problem, json_response
from gitcfg.server.service import SERVICE, Service
from gitcfg.server.status import LastCheckin, list_names, node_record, result_record
from gitcfg.server.view import View
from gitcfg.state.records import NodeState, Role
from gitcfg.state.state import State

_ACCEPTED = "The accepted commit has its key. Remove it with `gitcfg node forget`, commit and push."


async def list_nodes(request: web.Request) -> web.StreamResponse:
    """List all nodes that git or this server knows."""
    service = request.app[SERVICE]
    await require_token(request)
    view, registry, now = service.view, dict(service.controller.registry.nodes), service.clock()
    facts = request.query.get("facts") == "1"
    return json_response(
        await service.controller.with_state(lambda state: _encode_nodes(state, view, registry, now, facts))
    )


async def show_node(request: web.Request) -> web.StreamResponse:
    """Show a node with all its reports."""
    service, name = request.app[SERVICE], request.match_info["node"]
    await require_token(request)
    found = await service.controller.with_state(lambda state: node_with_history_record(service, state, name))
    if found is None:
        raise Problem("not-found")
    return json_response(msgspec.json.encode(found))


async def explain_parameter(request: web.Request) -> web.StreamResponse:
    """Show the trail of a parameter."""
    service = request.app[SERVICE]
    await require_token(request)
    name, param = request.match_info["node"], request.match_info["param"]
    view, everything = service.view, request.query.get("all") == "1"
    commit = view.offer(name).commit
    found = await service.people.run(lambda fleets: _encode_trail(fleets, commit, name, param, everything))
    if found is None:
        raise Problem("not-found")
    return json_response(found)


async def forget_node(request: web.Request) -> web.StreamResponse:
    """Delete a node for which git has no key: it may come again, also with another key."""
    service, name = request.app[SERVICE], request.match_info["node"]
    await require_token(request, Role.OPERATE)
    if name in service.view.keys:
        raise Problem("conflict", _ACCEPTED)
    now = service.clock()

    def forget(state: State) -> bool:
        if state.checkins.node(name) is None:
            return False
        state.forget([name], now)
        return True

    if not await service.controller.with_state(forget):
        raise Problem("not-found")
    service.controller.wake()
    return json_response(msgspec.json.encode({"schema": "gitcfg.forgotten/1", "node": name}))


def _encode_nodes(
    state: State, view: View, registry: dict[str, LastCheckin], now: float, facts: bool
) -> bytes:
    """Encode `gitcfg.nodes/1`. Facts may be most of it, and are included on request."""
    came = {known.node: known for known in state.checkins.nodes()}
    nodes = [
        node_record(view, name, registry.get(name), came.get(name), now)
        for name in list_names(view, registry)
    ]
    if facts:
        for node in nodes:
            known = came.get(node["node"])
            node["facts"] = known.facts if known is not None else None
    record = {"schema": "gitcfg.nodes/1", "accepted": view.accepted, "now": now, "nodes": nodes}
    return msgspec.json.encode(record)


def node_with_history_record(service: Service, state: State, name: str) -> dict[str, Any] | None:
    """Return `gitcfg.inventory-node/1`; None if neither git nor this server knows the node."""
    known, view = state.checkins.node(name), service.view
    if known is None and not view.knows(name):
        return None
    last = service.controller.registry.nodes.get(name)
    record = node_record(view, name, last, known, service.clock())
    return record | {
        "schema": "gitcfg.inventory-node/1",
        "accepted": view.accepted,
        "drift": list(known.drift) if known is not None else None,
        "facts": known.facts if known is not None else None,
        "results": [result_record(result) for result in state.checkins.results(name)],
    }


def _encode_trail(fleets: FleetCache, commit: str, name: str, param: str, everything: bool) -> bytes | None:
    with fleets.fleet_with(commit, name) as fleet:
        if fleet is None:
            return None
        node = fleet[name]
        if not node.explain(param) and fleet.compiled.declarations.find(param) is None:
            return None
        return msgspec.json.encode(trail_record(commit, name, {param: node.trail(param, everything)}))


async def record_deploys(request: web.Request) -> web.StreamResponse:
    """Store the results of a deploy; repetitions are not counted again."""
    service = request.app[SERVICE]
    token = await require_token(request, Role.OPERATE)
    report = parse_deploy_report(await read_body(request, MOST_BYTES))
    view, controller = service.view, service.controller
    named = {one.node for one in report.nodes}
    unknown = {name for name in named if not view.knows(name) and name not in controller.registry.nodes}
    results = [one for one in collect_deploy_results(report, service.clock()) if one.node not in unknown]

    def record_results(state: State) -> tuple[tuple[bool, ...], list[NodeState]]:
        return state.deploys.record(results), state.checkins.named(one.node for one in results)

    async with controller.view_lock:  # so that a node that is deleted meanwhile does not return
        fresh, states = await controller.with_state(record_results)
        controller.registry.read(states)
    controller.wake()
    fields = {"run": report.run.id, "commit": report.run.commit, "who": report.run.who, "by": token.name}
    service.log.info("deployed", extra={"fields": {**fields, "nodes": sum(fresh)}})
    record = {
        "schema": "gitcfg.told/1",
        "run": report.run.id,
        "new": sum(fresh),
        "known": len(fresh) - sum(fresh),
        "unknown": sorted(unknown),
    }
    return json_response(msgspec.json.encode(record))


ROUTES = [
    web.get("/v1/nodes", list_nodes),
    web.get("/v1/nodes/{node}", show_node),
    web.post("/v1/nodes/{node}/forget", forget_node),
    web.get("/v1/nodes/{node}/explain/{param}", explain_parameter),
    web.post("/v1/deploys", record_deploys),
]
