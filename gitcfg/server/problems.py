"""Errors of requests by RFC 9457: a type, a title, a status, and a detail."""

from collections.abc import Mapping
from typing import Any

import msgspec
from aiohttp import web

TYPE = "urn:gitcfg:problem:"
CONTENT_TYPE = "application/problem+json"
SERVER, NAME = "Server", "gitcfg"
"""The header by which every answer names what gives it."""
KINDS: Mapping[str, tuple[int, str]] = {
    "malformed": (400, "The request cannot be understood."),
    "unauthorized": (401, "The request is of nobody whom this server knows."),
    "clock": (401, "The signature's time is not this server's time."),
    "replay": (401, "The request was made before."),
    "pending": (403, "The node's key is not accepted yet."),
    "forbidden": (403, "Your token does not let you do that."),
    "forged": (403, "No page of this server, or one that is too old, has sent this."),
    "not-found": (404, "There is no such thing."),
    "method": (405, "That cannot be done here."),
    "slow": (408, "The request took too long."),
    "conflict": (409, "That cannot be done now."),
    "gone": (410, "git no longer knows the node."),
    "too-large": (413, "The request is too large."),
    "too-many": (429, "The node asks too often."),
    "fault": (500, "The server has failed."),
    "secrets": (503, "The node's secrets cannot be handed to it."),
    "unavailable": (503, "The server cannot answer now."),
}
_OF_STATUS = {400: "malformed", 404: "not-found", 405: "method", 408: "slow", 413: "too-large"}


class Problem(Exception):
    """An error that the client is told; `kind` is one of KINDS."""

    def __init__(
        self, kind: str, detail: str = "", headers: Mapping[str, str] | None = None, **more: Any
    ) -> None:
        super().__init__(detail or kind)
        self.kind = kind
        self.status, self.title = KINDS[kind]
        self.detail = detail
        self.headers = dict(headers or {})
        self.more = more
        if self.status == 401:
            self.headers.setdefault("WWW-Authenticate", 'Bearer realm="gitcfg"')


def problem_response(problem: Problem) -> web.Response:
    """Return a problem as a response."""
    return web.Response(
        status=problem.status,
        body=problem_to_json(problem),
        content_type=CONTENT_TYPE,
        headers={**problem.headers, "Cache-Control": "no-store"},
    )


def problem_to_json(problem: Problem) -> bytes:
    """Return a problem as JSON."""
    record: dict[str, Any] = {"type": TYPE + problem.kind, "title": problem.title, "status": problem.status}
    if problem.detail:
        record["detail"] = problem.detail
    return msgspec.json.encode({**record, **problem.more})


def problem_from_http(error: web.HTTPException) -> Problem:
    """Convert an error of aiohttp."""
    kind = _OF_STATUS.get(error.status, "malformed" if error.status < 500 else "fault")
    allowed = {"Allow": error.headers["Allow"]} if "Allow" in error.headers else {}
    return Problem(kind, headers=allowed)
