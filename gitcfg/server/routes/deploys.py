"""The route by which `gitcfg deploy` reports its results."""

from functools import partial

import msgspec
from aiohttp import web

from gitcfg.server.answers import json_response
from gitcfg.server.callers import read_body, require_token
from gitcfg.server.deployed import MOST_BYTES, collect_deploy_results, parse_deploy_report
from gitcfg.server.service import SERVICE
from gitcfg.state import Deployed, NodeState, Role, State


async def record_deploys(request: web.Request) -> web.StreamResponse:
    """Keep the results of a deploy; repetitions are not counted again."""
    service = request.app[SERVICE]
    token = await require_token(request, Role.OPERATE)
    report = parse_deploy_report(await read_body(request, MOST_BYTES))
    view, controller = service.view, service.controller
    named = {one.node for one in report.nodes}
    strange = {name for name in named if not view.knows(name) and name not in controller.registry.nodes}
    kept = [one for one in collect_deploy_results(report, service.clock()) if one.node not in strange]
    async with controller.view_lock:  # who is forgotten meanwhile must not come back
        fresh, states = await controller.with_state(partial(_record, kept))
        controller.registry.read(states)
    controller.wake()
    what = {"run": report.run.id, "commit": report.run.commit, "who": report.run.who, "by": token.name}
    service.log.info("deployed", extra={"fields": {**what, "nodes": sum(fresh)}})
    record = {
        "schema": "gitcfg.told/1",
        "run": report.run.id,
        "new": sum(fresh),
        "known": len(fresh) - sum(fresh),
        "unknown": sorted(strange),
    }
    return json_response(msgspec.json.encode(record))


def _record(results: list[Deployed], state: State) -> tuple[tuple[bool, ...], list[NodeState]]:
    return state.deploys.record(results), state.checkins.named(one.node for one in results)


ROUTES = [web.post("/v1/deploys", record_deploys)]
