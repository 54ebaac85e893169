"""The page of a node's history: the commits that changed what it gets, and each step to a value."""

from functools import partial

import msgspec
from aiohttp import web

from gitcfg.compile.trail import TrailStep
from gitcfg.explain.trail import Blamer, view_from
from gitcfg.model import GitcfgError, Origin
from gitcfg.server.fleets import FleetCache
from gitcfg.server.pages.git import make_links
from gitcfg.server.pages.shown import page_handler
from gitcfg.server.problems import Problem
from gitcfg.server.service import SERVICE
from gitcfg.web.content import BlamedStep, Commit, ExplainedParameter, HistoryEntry, HistoryPage

_TURNS = 20


async def show_history(request: web.Request) -> HistoryPage:
    """Show a node's history, or a parameter's. Raise Problem if there never was such a node."""
    service, name = request.app[SERVICE], request.match_info["node"]
    commit, param = service.view.offer(name).commit, request.query.get("param", "")
    try:
        return await service.people.run(partial(_load_history, commit, name, param))
    except GitcfgError as error:
        raise Problem("not-found", error.message) from None


def _load_history(commit: str, name: str, param: str, fleets: FleetCache) -> HistoryPage:
    log = fleets.source.log(name, param or None, kind="node", revision=commit, limit=_TURNS + 1)
    turns = tuple(HistoryEntry(_to_commit(entry.commit), entry.effect) for entry in log.entries)
    explained = _explain(fleets, commit, name, param) if param else None
    return HistoryPage(
        name, param, explained, turns[:_TURNS], len(turns) > _TURNS, make_links(fleets, commit)
    )


def _explain(fleets: FleetCache, commit: str, name: str, param: str) -> ExplainedParameter | None:
    with fleets.fleet_with(commit, name) as fleet:
        if fleet is None or param not in fleet[name].params:
            return None
        value, trail = fleet[name].trail(param, True)
        blamer = fleets.source.blamer(commit)
        steps = tuple(_blame_step(blamer, step) for step in trail)
        return ExplainedParameter(view_from(fleet.compiled, name), value, steps)


def _blame_step(blamer: Blamer, step: TrailStep) -> BlamedStep:
    deciding = [_blame(blamer, f"allocation {each.rule}", each.origin) for each in step.decided]
    return BlamedStep(step, _blame(blamer, step.path[0], step.origin), tuple(deciding))


def _blame(blamer: Blamer, label: str, origin: Origin) -> Commit | None:
    try:
        found = blamer.of(label, origin)
    except GitcfgError:  # it stands in no definition: whoever has walked in is described nowhere
        return None
    return _to_commit(found) if found is not None else None


def _to_commit(found: object) -> Commit:
    return msgspec.convert(found, Commit, from_attributes=True)


ROUTES = [web.get("/nodes/{node}/history", page_handler(show_history))]
