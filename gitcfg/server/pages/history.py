"""The page of a node's history: which commits changed what it gets, and who made each step to a value."""

from functools import partial

import msgspec
from aiohttp import web

from gitcfg.compile.trail import TrailStep
from gitcfg.explain.trail import Blamer, viewpoint
from gitcfg.model import GitcfgError, Origin
from gitcfg.server.fleets import Fleets
from gitcfg.server.pages.git import places
from gitcfg.server.pages.shown import shown
from gitcfg.server.problems import Problem
from gitcfg.server.service import SERVICE
from gitcfg.web.content import Commit, Explained, HistoryPage, Made, Turn

_TURNS = 20


async def one(request: web.Request) -> HistoryPage:
    """A node's history, or one parameter's on it. Problem: there never was such a thing."""
    service, name = request.app[SERVICE], request.match_info["node"]
    commit, param = service.view.offer(name).commit, request.query.get("param", "")
    try:
        return await service.people.do(partial(_history, commit, name, param))
    except GitcfgError as error:
        raise Problem("not-found", error.message) from None


def _history(commit: str, name: str, param: str, fleets: Fleets) -> HistoryPage:
    log = fleets.source.log(name, param or None, kind="node", revision=commit, limit=_TURNS + 1)
    turns = tuple(Turn(_commit(entry.commit), entry.effect) for entry in log.entries)
    explained = _explained(fleets, commit, name, param) if param else None
    return HistoryPage(name, param, explained, turns[:_TURNS], len(turns) > _TURNS, places(fleets, commit))


def _explained(fleets: Fleets, commit: str, name: str, param: str) -> Explained | None:
    with fleets.of(commit, name) as fleet:
        if fleet is None or param not in fleet[name].params:
            return None
        value, trail = fleet[name].told(param, True)
        blamer = fleets.source.blamer(commit)
        steps = tuple(_made(blamer, step) for step in trail)
        return Explained(viewpoint(fleet.compiled, name), value, steps)


def _made(blamer: Blamer, step: TrailStep) -> Made:
    deciding = [_maker(blamer, f"allocation {each.rule}", each.origin) for each in step.decided]
    return Made(step, _maker(blamer, step.path[0], step.origin), tuple(deciding))


def _maker(blamer: Blamer, label: str, origin: Origin) -> Commit | None:
    try:
        found = blamer.of(label, origin)
    except GitcfgError:  # it stands in no definition: whoever has walked in is described nowhere
        return None
    return _commit(found) if found is not None else None


def _commit(found: object) -> Commit:
    return msgspec.convert(found, Commit, from_attributes=True)


ROUTES = [web.get("/nodes/{node}/history", shown(one))]
