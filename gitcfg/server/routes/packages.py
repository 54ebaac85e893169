"""The route of packages: all that a node needs of a commit, its secrets sealed to its key."""

from aiohttp import web

from gitcfg.delivery.configuration import RETIRED
from gitcfg.server.auth import ABOUT, require_node
from gitcfg.server.fleets import FleetCache
from gitcfg.server.http import ORIGIN, Problem, entity_tag, is_unchanged, json_response, not_modified
from gitcfg.server.routes.commits import resolve_commit
from gitcfg.server.secrets import SecretQuery, SecretSealer, Withheld
from gitcfg.server.service import SERVICE, Service
from gitcfg.server.signatures import AnswerSubject

FOREVER, NEVER = "private, max-age=31536000, immutable", "no-store"


async def show_package(request: web.Request) -> web.StreamResponse:
    """Answer with all that a node needs of a commit."""
    service, node = request.app[SERVICE], request.match_info["node"]
    found = await require_node(request, node)
    commit = await resolve_commit(service, service.packages, request.match_info["commit"], whole=True)
    known = service.view.outlines.get(commit)
    line = known.nodes.get(node) if known is not None else None
    if line is not None and is_unchanged(request, line.digest):
        request[ABOUT] = AnswerSubject(node, commit, line.digest)
        return not_modified(line.digest, FOREVER)
    judge = None if commit == service.view.offer(node).commit else service.view.accepted
    asking = SecretQuery(found.node, request[ORIGIN], judge) if found.node is not None else None
    digest, body, secret = await _make_package(service, commit, node, asking)
    request[ABOUT] = AnswerSubject(node, commit, digest)
    if is_unchanged(request, digest):
        return not_modified(digest, NEVER if secret else FOREVER)
    return json_response(body, {"ETag": entity_tag(digest), "Cache-Control": NEVER if secret else FOREVER})


async def _make_package(
    service: Service, commit: str, node: str, asking: SecretQuery | None
) -> tuple[str, bytes, bool]:
    """Return a package's digest, its bytes, and whether it holds secrets. Raise Problem if there is none."""
    try:
        made = await service.packages.run(
            lambda fleets: _encode_package(fleets, commit, node, service.sealing, asking)
        )
    except Withheld as problem:
        service.metrics.sealed["refused"] += 1
        service.refusals.log(node, commit, problem, service.clock())
        raise
    service.metrics.sealed["sealed"] += made[2]
    return made


def _encode_package(
    fleets: FleetCache, commit: str, node: str, sealing: SecretSealer, asking: SecretQuery | None
) -> tuple[str, bytes, bool]:
    found = fleets.configuration(commit, node)
    if found is None:
        raise Problem("not-found")
    if asking is None or not found.holding or found.state == RETIRED:
        return found.digest, found.encoded(), False
    return found.digest, sealing.seal(fleets, found, asking).encoded(), True


ROUTES = [web.get("/v1/commits/{commit}/nodes/{node}", show_package)]
