"""The page of a node: what it runs and is to run, how that went, and why it has what it has."""

from functools import partial

from aiohttp import web

from gitcfg.compile.origins import withheld
from gitcfg.delivery import steps
from gitcfg.explain.trail import made_of, viewpoint
from gitcfg.library import Fleet
from gitcfg.load.keys import fingerprint
from gitcfg.model.delivery import in_words
from gitcfg.server.fleets import Fleets
from gitcfg.server.pages.git import in_short, places
from gitcfg.server.pages.rows import row
from gitcfg.server.pages.shown import shown
from gitcfg.server.problems import Problem
from gitcfg.server.service import SERVICE, Service
from gitcfg.server.standing import claim_records, other_record
from gitcfg.state import NodeState, Result, State
from gitcfg.web.content import Claimed, Commit, Configured, Due, File, NodePage, Param

_RESULTS = 20


async def one(request: web.Request) -> NodePage:
    """A node. Problem: neither git nor this server has heard of it."""
    service, name = request.app[SERVICE], request.match_info["node"]
    view = service.view
    state, results = await service.conductor.ask(partial(_told, name))
    if state is None and not view.knows(name):
        raise Problem("not-found", "Neither git nor this server has heard of such a node.")
    offer = view.offer(name)
    runs = state.commit if state is not None else None
    commits = await service.people.do(partial(in_short, filter(None, (offer.commit, runs))))
    configured = await service.people.do(lambda fleets: _configured(fleets, offer.commit, name))
    return NodePage(
        row(view, name, service.conductor.roll.nodes.get(name), service.clock()),
        commits.get(offer.commit) if configured is not None else None,
        commits.get(runs, Commit(runs)) if runs is not None else None,
        offer.back,
        state,
        fingerprint(state.key) if state is not None else "",
        results,
        configured,
        await _due(service, name, runs, offer.commit),
        (other_record(state, view.keys.get(name)) or {}).get("fingerprint", ""),
        tuple(
            Claimed(one["fingerprint"], one["first"], one["at"], one["address"])
            for one in claim_records(state, view.keys.get(name))
        ),
    )


def _told(name: str, state: State) -> tuple[NodeState | None, tuple[Result, ...]]:
    return state.checkins.node(name), tuple(state.checkins.results(name, _RESULTS))


def _configured(fleets: Fleets, commit: str, name: str) -> Configured | None:
    with fleets.of(commit, name) as fleet:
        if fleet is None:
            return None
        node, here = fleet[name], fleet.compiled[name]
        return Configured(
            viewpoint(fleet.compiled, name),
            node.groups,
            node.features,
            {one.name: in_words(one.until, fleet.compiled.today) for one in here.kind.overrides},
            tuple(_param(fleet, name, param) for param in node.params),
            tuple(File(path, made_of(entry)) for path, entry in sorted(here.entries.items())),
            places(fleets, commit),
        )


def _param(fleet: Fleet, name: str, param: str) -> Param:
    value, trail = fleet[name].told(param, True)
    gone = tuple(feature for feature, _ in withheld(fleet.compiled, name, param))
    return Param(param, value, trail, gone)


async def _due(service: Service, name: str, runs: str | None, wanted: str) -> Due | None:
    """What happens when it takes what it is to run; None: it has it, or what it runs is not known here."""
    if runs is None or runs == wanted or runs not in service.view.outlines:
        return None
    return await service.people.do(lambda fleets: _steps(fleets, runs, wanted, name))


def _steps(fleets: Fleets, runs: str, wanted: str, name: str) -> Due | None:
    with fleets.of(runs, name) as before, fleets.of(wanted, name) as after:
        if after is None:
            return None
        found = steps(before, after, name)
        return Due(found.restart, found.reload, found.stop, found.files)


ROUTES = [web.get("/nodes/{node}", shown(one))]
