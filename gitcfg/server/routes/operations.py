"""Routes for operators: health, readiness, metrics, events, and the description of the interface."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial

import msgspec
from aiohttp import web

from gitcfg.inventory.nodes import NodeStatus, find_status
from gitcfg.rollout import Status
from gitcfg.server.auth import WHO, find_session_holder, require_token
from gitcfg.server.controller import HEARTBEAT, MOST_STREAMS, format_event, send_events, write_or_time_out
from gitcfg.server.http import Problem, json_response, load_description
from gitcfg.server.metrics import CONTENT_TYPE, gauge, gauges
from gitcfg.server.routes.commits import commits_record
from gitcfg.server.service import SERVICE, Service
from gitcfg.server.status import collect_facts, list_names
from gitcfg.state.records import Event
from gitcfg.state.state import State

_PRIVATE_FIELDS = ("schema", "message")
"""The fields of a finding about parameters and nodes, which only holders of a token may see."""
_NUMBER = re.compile(r"[0-9]{1,15}")
_AT_ONCE = 1000


async def healthz(request: web.Request) -> web.StreamResponse:
    """Answer that the server is running."""
    return web.Response(text="ok\n", headers={"Cache-Control": "no-store"})


async def readyz(request: web.Request) -> web.StreamResponse:
    """Answer whether the server can serve. An invalid tip does not matter: the accepted commit is served."""
    service = request.app[SERVICE]
    failing = service.controller.failing
    ready = service.controller.view is not None and not failing
    status = {key: value for key, value in commits_record(service).items() if key not in _PRIVATE_FIELDS}
    record = {"ready": ready, "failing": bool(failing), **status}
    answer = json_response(msgspec.json.encode(record))
    answer.set_status(200 if ready else 503)
    return answer


async def metrics(request: web.Request) -> web.StreamResponse:
    """Show metrics for OpenMetrics."""
    await require_token(request)
    lines = [*request.app[SERVICE].metrics.lines(), *_fleet_metrics(request.app[SERVICE]), "# EOF\n"]
    headers = {"Content-Type": CONTENT_TYPE, "Cache-Control": "no-store"}
    return web.Response(body="\n".join(lines).encode(), headers=headers)


async def openapi(request: web.Request) -> web.StreamResponse:
    """Show the OpenAPI description."""
    return web.Response(body=load_description(), content_type="application/json")


def _fleet_metrics(service: Service) -> Iterator[str]:
    view, registry = service.controller.view, service.controller.registry.nodes
    yield from gauge("gitcfg_long_polls", "Nodes that wait for a new commit.", service.polls.count)
    yield from gauge("gitcfg_event_streams", "Open event streams.", service.streams.count)
    yield from gauge(
        "gitcfg_failing", "1 if the database or the repository fails.", bool(service.controller.failing)
    )
    judged = service.controller.judged
    yield from gauge("gitcfg_tip_errors", "Errors of the tip of the branch.", judged.errors if judged else 0)
    if view is None:
        return
    now = service.clock()
    counts = Counter(
        find_status(collect_facts(view, name, registry.get(name), now)) for name in list_names(view, registry)
    )
    states = [(each.value, counts[each]) for each in NodeStatus]
    yield from gauges("gitcfg_nodes", "Nodes by state.", "state", states)
    outcomes = sorted(Counter(last.outcome for last in registry.values() if last.outcome is not None).items())
    yield from gauges("gitcfg_nodes_outcome", "Nodes by their last result.", "outcome", outcomes)
    drifted = sum(1 for last in registry.values() if last.drifts)
    yield from gauge("gitcfg_nodes_drifted", "Nodes with drift.", drifted)
    releases = Counter(one.progress.status for one in service.controller.releases)
    statuses = [(each.value, releases[each]) for each in Status]
    yield from gauges("gitcfg_releases", "Open releases, and the last one that is over.", "status", statuses)


async def stream_events(request: web.Request) -> web.StreamResponse:
    """Stream events after the last one that the client has seen."""
    service = request.app[SERVICE]
    found = await find_session_holder(request)  # a page cannot send a token: its browser has a session
    if found is None:
        found = await require_token(request)
    request[WHO] = f"token {found.name}"
    if service.streams.closed or service.streams.count >= MOST_STREAMS:
        raise Problem("unavailable", "There are too many event streams already.", {"Retry-After": "30"})
    seen = request.headers.get("Last-Event-ID", "")
    if seen and not _NUMBER.fullmatch(seen):
        raise Problem("malformed", "Last-Event-ID must be the number of an event.")
    queue = service.streams.subscribe()
    try:
        response = web.StreamResponse(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        response.content_type = "text/event-stream"
        await response.prepare(request)
        await response.write(b"retry: 2000\n\n")
        last = int(seen) if seen else 0
        while seen and (past := await service.controller.with_state(partial(_load_after, last))):
            for event in past:
                await write_or_time_out(response, format_event(event), HEARTBEAT)
            last = past[-1].number
        await send_events(response, queue, last, HEARTBEAT)
    except (ConnectionError, TimeoutError):
        service.log.debug("who watched has gone")
        if request.transport is not None:
            request.transport.abort()  # otherwise the unread data would be kept
    finally:
        service.streams.unsubscribe(queue)
    return response


def _load_after(number: int, state: State) -> list[Event]:
    return state.events.after(number, _AT_ONCE)


ROUTES = [
    web.get("/healthz", healthz),
    web.head("/healthz", healthz),
    web.get("/readyz", readyz),
    web.head("/readyz", readyz),
    web.get("/metrics", metrics),
    web.get("/openapi.json", openapi),
    web.get("/v1/events", stream_events),
]
