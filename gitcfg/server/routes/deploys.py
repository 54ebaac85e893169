"""Deploys over SSH: who deployed tells what they have come to."""

from functools import partial

import msgspec
from aiohttp import web

from gitcfg.server.answers import json_answer
from gitcfg.server.callers import body_of, reader
from gitcfg.server.deployed import MOST_BYTES, deployed, said
from gitcfg.server.service import SERVICE
from gitcfg.state import Deployed, NodeState, Role, State


async def take_in(request: web.Request) -> web.StreamResponse:
    """Keep what a deploy has come to; what was known is not counted again."""
    service = request.app[SERVICE]
    token = await reader(request, Role.OPERATE)
    told = said(await body_of(request, MOST_BYTES))
    view, conductor = service.view, service.conductor
    named = {one.node for one in told.nodes}
    strange = {name for name in named if not view.knows(name) and name not in conductor.roll.nodes}
    kept = [one for one in deployed(told, service.clock()) if one.node not in strange]
    async with conductor.changing:  # who is forgotten meanwhile must not come back
        fresh, states = await conductor.ask(partial(_kept, kept))
        conductor.roll.read(states)
    conductor.wake()
    what = {"run": told.run.id, "commit": told.run.commit, "who": told.run.who, "by": token.name}
    service.log.info("deployed", extra={"said": {**what, "nodes": sum(fresh)}})
    record = {
        "schema": "gitcfg.told/1",
        "run": told.run.id,
        "new": sum(fresh),
        "known": len(fresh) - sum(fresh),
        "unknown": sorted(strange),
    }
    return json_answer(msgspec.json.encode(record))


def _kept(said: list[Deployed], state: State) -> tuple[tuple[bool, ...], list[NodeState]]:
    return state.deploys.record(said), state.checkins.named(one.node for one in said)


ROUTES = [web.post("/v1/deploys", take_in)]
