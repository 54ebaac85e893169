"""The route of events as they happen (Server-Sent Events)."""

import re
from functools import partial

from aiohttp import web

from gitcfg.server.callers import WHO, require_token
from gitcfg.server.problems import Problem
from gitcfg.server.service import SERVICE
from gitcfg.server.sessions import find_session_holder
from gitcfg.server.streams import HEARTBEAT, MOST_STREAMS, format_event, send_events, write_or_time_out
from gitcfg.state import Event, State

_NUMBER = re.compile(r"[0-9]{1,15}")
_AT_ONCE = 1000


async def stream_events(request: web.Request) -> web.StreamResponse:
    """Stream events from the one that the client has seen last."""
    service = request.app[SERVICE]
    found = await find_session_holder(request)  # a page cannot say a token: its browser has a session
    if found is None:
        found = await require_token(request)
    request[WHO] = f"token {found.name}"
    if service.streams.closed or service.streams.count >= MOST_STREAMS:
        raise Problem("unavailable", "Too many watch already.", {"Retry-After": "30"})
    seen = request.headers.get("Last-Event-ID", "")
    if seen and not _NUMBER.fullmatch(seen):
        raise Problem("malformed", "Last-Event-ID is the number of an event.")
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
            request.transport.abort()  # what is not taken would be kept, and waited for
    finally:
        service.streams.unsubscribe(queue)
    return response


def _load_after(number: int, state: State) -> list[Event]:
    return state.events.after(number, _AT_ONCE)


ROUTES = [web.get("/v1/events", stream_events)]
