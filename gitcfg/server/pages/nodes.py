"""The pages of a node: its current and its wanted commit, and the history of its configuration."""

from functools import partial

import msgspec
from aiohttp import web

from gitcfg.compile.operations import TrailStep
from gitcfg.compile.subset import find_withheld
from gitcfg.delivery.configuration import find_node_change
from gitcfg.explain.trail import Blamer, describe_content, view_from
from gitcfg.library import Fleet
from gitcfg.load.keys import fingerprint
from gitcfg.model import GitcfgError, Origin
from gitcfg.model.delivery import in_words
from gitcfg.server.fleets import FleetCache
from gitcfg.server.http import Problem
from gitcfg.server.pages.base import make_links, page_handler, summarize_commits
from gitcfg.server.pages.fleet import make_row
from gitcfg.server.service import SERVICE, Service
from gitcfg.server.status import claim_records, other_record
from gitcfg.web.content import (
    BlamedStep,
    ClaimedKey,
    Commit,
    DueActions,
    ExplainedParameter,
    FileRow,
    HistoryEntry,
    HistoryPage,
    NodeConfiguration,
    NodePage,
    ParameterRow,
)

_RESULTS = 20
_TURNS = 20


async def show_node(request: web.Request) -> NodePage:
    """Show a node. Raise Problem if neither git nor this server knows it."""
    service, name = request.app[SERVICE], request.match_info["node"]
    view = service.view
    state, results = await service.controller.with_state(
        lambda state: (state.checkins.node(name), tuple(state.checkins.results(name, _RESULTS)))
    )
    if state is None and not view.knows(name):
        raise Problem("not-found", "Neither git nor this server knows this node.")
    offer = view.offer(name)
    runs = state.commit if state is not None else None
    commits = await service.people.run(partial(summarize_commits, filter(None, (offer.commit, runs))))
    configured = await service.people.run(lambda fleets: _configure(fleets, offer.commit, name))
    return NodePage(
        make_row(view, name, service.controller.registry.nodes.get(name), service.clock()),
        commits.get(offer.commit) if configured is not None else None,
        commits.get(runs, Commit(runs)) if runs is not None else None,
        offer.back,
        state,
        fingerprint(state.key) if state is not None else "",
        results,
        configured,
        await _find_due_actions(service, name, runs, offer.commit),
        (other_record(state, view.keys.get(name)) or {}).get("fingerprint", ""),
        tuple(
            ClaimedKey(one["fingerprint"], one["first"], one["at"], one["address"])
            for one in claim_records(state, view.keys.get(name))
        ),
    )


def _configure(fleets: FleetCache, commit: str, name: str) -> NodeConfiguration | None:
    with fleets.fleet_with(commit, name) as fleet:
        if fleet is None:
            return None
        node, here = fleet[name], fleet.compiled[name]
        return NodeConfiguration(
            view_from(fleet.compiled, name),
            node.groups,
            node.features,
            {one.name: in_words(one.until, fleet.compiled.today) for one in here.node_class.overrides},
            tuple(_parameter_row(fleet, name, param) for param in node.params),
            tuple(FileRow(path, describe_content(entry)) for path, entry in sorted(here.entries.items())),
            make_links(fleets, commit),
        )


def _parameter_row(fleet: Fleet, name: str, param: str) -> ParameterRow:
    value, trail = fleet[name].trail(param, True)
    gone = tuple(feature for feature, _ in find_withheld(fleet.compiled, name, param))
    return ParameterRow(param, value, trail, gone)


async def _find_due_actions(service: Service, name: str, runs: str | None, wanted: str) -> DueActions | None:
    """Find the actions due; None if the node is up to date, or its commit is unknown here."""
    if runs is None or runs == wanted or runs not in service.view.outlines:
        return None

    def compute(fleets: FleetCache) -> DueActions | None:
        with fleets.fleet_with(runs, name) as before, fleets.fleet_with(wanted, name) as after:
            if after is None:
                return None
            found = find_node_change(before, after, name)
            return DueActions(found.restart, found.reload, found.stop, found.files)

    return await service.people.run(compute)


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
    links = make_links(fleets, commit)
    return HistoryPage(name, param, explained, turns[:_TURNS], len(turns) > _TURNS, links)


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
    except GitcfgError:  # it is in no definition: a walk-in node has none
        return None
    return _to_commit(found) if found is not None else None


def _to_commit(found: object) -> Commit:
    return msgspec.convert(found, Commit, from_attributes=True)


ROUTES = [
    web.get("/nodes/{node}", page_handler(show_node)),
    web.get("/nodes/{node}/history", page_handler(show_history)),
]
