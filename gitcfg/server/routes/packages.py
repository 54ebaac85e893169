"""All that a node needs of a commit; what is secret of it, for the node alone."""

from aiohttp import web

from gitcfg.delivery.document import RETIRED
from gitcfg.server.answers import entity_tag, json_answer, not_modified, unchanged
from gitcfg.server.callers import ABOUT, of_node
from gitcfg.server.fleets import Fleets
from gitcfg.server.problems import Problem
from gitcfg.server.proxies import ORIGIN
from gitcfg.server.routes.commits import commit_of
from gitcfg.server.sealing import Asking, Sealing, Withheld
from gitcfg.server.service import SERVICE, Service
from gitcfg.server.signing import About

FOREVER, NEVER = "private, max-age=31536000, immutable", "no-store"


async def package(request: web.Request) -> web.StreamResponse:
    """All that a node needs of a commit."""
    service, node = request.app[SERVICE], request.match_info["node"]
    found = await of_node(request, node)
    commit = await commit_of(service, service.packages, request.match_info["commit"], whole=True)
    known = service.view.outlines.get(commit)
    line = known.nodes.get(node) if known is not None else None
    if line is not None and unchanged(request, line.digest):
        request[ABOUT] = About(node, commit, line.digest)
        return not_modified(line.digest, FOREVER)
    judge = None if commit == service.view.offer(node).commit else service.view.accepted
    asking = Asking(found.node, request[ORIGIN], judge) if found.node is not None else None
    digest, body, secret = await _made(service, commit, node, asking)
    request[ABOUT] = About(node, commit, digest)
    if unchanged(request, digest):
        return not_modified(digest, NEVER if secret else FOREVER)
    return json_answer(body, {"ETag": entity_tag(digest), "Cache-Control": NEVER if secret else FOREVER})


async def _made(service: Service, commit: str, node: str, asking: Asking | None) -> tuple[str, bytes, bool]:
    """A configuration's digest, itself, and whether secrets are sealed in it. Problem: there is none."""
    try:
        made = await service.packages.do(
            lambda fleets: _package(fleets, commit, node, service.sealing, asking)
        )
    except Withheld as problem:
        service.metrics.sealed["refused"] += 1
        service.refusals.note(node, commit, problem, service.clock())
        raise
    service.metrics.sealed["sealed"] += made[2]
    return made


def _package(
    fleets: Fleets, commit: str, node: str, sealing: Sealing, asking: Asking | None
) -> tuple[str, bytes, bool]:
    found = fleets.configuration(commit, node)
    if found is None:
        raise Problem("not-found")
    if asking is None or not found.holding or found.state == RETIRED:
        return found.digest, found.encoded(), False
    return found.digest, sealing.sealed(fleets, found, asking).encoded(), True


ROUTES = [web.get("/v1/commits/{commit}/nodes/{node}", package)]
