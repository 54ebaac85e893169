"""What a commit is for nodes: their configurations, what must happen, and what is different."""

from typing import Any

import msgspec
from aiohttp import web

from gitcfg.comparison.change import diff_record
from gitcfg.delivery import steps
from gitcfg.gate.secret_changes import secret_changes
from gitcfg.gate.secret_words import secret_record
from gitcfg.library import compare
from gitcfg.server import source
from gitcfg.server.answers import json_answer
from gitcfg.server.callers import ABOUT, of_node, reader
from gitcfg.server.fleets import Bench, Fleets
from gitcfg.server.problems import Problem
from gitcfg.server.service import SERVICE, Service
from gitcfg.server.signing import About


async def changes(request: web.Request) -> web.StreamResponse:
    """What must happen on a node that goes from one commit to another."""
    service, node = request.app[SERVICE], request.match_info["node"]
    await of_node(request, node)
    start, end = request.query.get("from"), request.query.get("to") or service.view.offer(node).commit
    old = await commit_of(service, service.packages, start, whole=True) if start else None
    new = await commit_of(service, service.packages, end, whole=True)
    request[ABOUT] = About(node, new)
    return json_answer(await service.packages.do(lambda fleets: _changes(fleets, old, new, node)))


async def diff(request: web.Request) -> web.StreamResponse:
    """What is different between two commits, folded over nodes."""
    service = request.app[SERVICE]
    await reader(request)
    view = service.view
    old = await commit_of(service, service.people, request.query.get("from") or view.base)
    new = await commit_of(service, service.people, request.query.get("to") or view.accepted)
    return json_answer(await service.people.do(lambda fleets: _diff(fleets, old, new)))


async def standing(request: web.Request) -> web.StreamResponse:
    """Where the branch stands, which commit counts, and what is wrong with the tip."""
    await reader(request)
    return json_answer(msgspec.json.encode(commits_record(request.app[SERVICE])))


def commits_record(service: Service) -> dict[str, Any]:
    """`gitcfg.commits/1`."""
    judged, view = service.conductor.judged, service.conductor.view
    return {
        "schema": "gitcfg.commits/1",
        "ref": judged.tip.ref if judged is not None else None,
        "tip": judged.tip.commit if judged is not None else None,
        "accepted": view.accepted if view is not None else None,
        "errors": judged.errors if judged is not None else 0,
        "message": judged.message if judged is not None else "",
    }


async def commit_of(service: Service, bench: Bench, text: str, whole: bool = False) -> str:
    """The commit that is asked for. Problem: no protected branch has it."""
    if text in service.view.outlines:
        return text
    if whole and not source.COMMIT.fullmatch(text):
        raise Problem("not-found")
    found = await bench.do(lambda fleets: source.reachable(fleets.source.repository, text))
    if found is None:
        raise Problem("not-found")
    return found


def _changes(fleets: Fleets, old: str | None, new: str, node: str) -> bytes:
    """Where it was not known before, everything begins anew."""
    with fleets.of(new, node) as after:
        if after is None:
            raise Problem("not-found")
        if old is None:
            return steps(None, after, node).encoded()
        with fleets.of(old, node) as before:
            return steps(before, after, node).encoded()


def _diff(fleets: Fleets, old: str, new: str) -> bytes:
    before, after = fleets.at(old), fleets.at(new)
    secrets = map(secret_record, secret_changes(before, after))
    return msgspec.json.encode(diff_record(old, new, compare(before, after), secrets=secrets))


ROUTES = [
    web.get("/v1/commits", standing),
    web.get("/v1/nodes/{node}/changes", changes),
    web.get("/v1/diff", diff),
]
