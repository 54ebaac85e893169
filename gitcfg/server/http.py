"""HTTP requests and responses: problems (RFC 9457), JSON, rate limits, trusted proxies, and the log."""

import json
import logging
import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Any, TextIO

import msgspec
from aiohttp import web

from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

TYPE = "urn:gitcfg:problem:"
CONTENT_TYPE = "application/problem+json"
SERVER, NAME = "Server", "gitcfg"
"""The header with which every answer names the server, and its value."""
KINDS: Mapping[str, tuple[int, str]] = {
    "malformed": (400, "The request is malformed."),
    "unauthorized": (401, "The request has no valid token or signature."),
    "clock": (401, "The time of the signature differs from the server's clock."),
    "replay": (401, "The request is a replay."),
    "pending": (403, "The key of the node is not accepted yet."),
    "forbidden": (403, "Your token does not allow this."),
    "forged": (403, "The form is not from a current page of this server."),
    "not-found": (404, "Not found."),
    "method": (405, "The method is not allowed here."),
    "slow": (408, "The request took too long."),
    "conflict": (409, "The current state does not allow this."),
    "gone": (410, "git no longer knows the node."),
    "too-large": (413, "The request is too large."),
    "too-many": (429, "The node sends too many requests."),
    "fault": (500, "Internal server error."),
    "secrets": (503, "The server cannot deliver the secrets of the node."),
    "unavailable": (503, "The server is unavailable."),
}
_OF_STATUS = {400: "malformed", 404: "not-found", 405: "method", 408: "slow", 413: "too-large"}
FILE = Path(__file__).parent / "openapi.json"
BURST = 120.0
PER_SECOND = 2.0
_MOST = 100_000
Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
FORWARDED_FOR, FORWARDED_PROTO = "X-Forwarded-For", "X-Forwarded-Proto"


class Problem(Exception):
    """An error that is sent to the client; `kind` is one of KINDS."""

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


def json_response(body: bytes, headers: dict[str, str] | None = None) -> web.Response:
    """Return JSON that is not cached unless the headers say so."""
    all_headers = {"Cache-Control": "no-store", **(headers or {})}
    return web.Response(body=body, content_type="application/json", headers=all_headers)


def entity_tag(digest: str) -> str:
    """Return a digest as a strong entity tag."""
    return f'"{digest}"'


def is_unchanged(request: web.Request, digest: str) -> bool:
    """Return whether the client has the content of a digest already (If-None-Match)."""
    tags = ", ".join(request.headers.getall("If-None-Match", ()))
    return entity_tag(digest) in (tag.strip() for tag in tags.split(","))


def not_modified(digest: str, cache: str = "no-store") -> web.Response:
    """Return 304 Not Modified."""
    return web.Response(status=304, headers={"ETag": entity_tag(digest), "Cache-Control": cache})


def parse_seconds(request: web.Request, name: str, most: int) -> int:
    """Parse whole seconds in a query; 0 if missing. Raise Problem for anything else."""
    text = request.query.get(name, "0")
    if not re.fullmatch(r"[0-9]{1,4}", text):
        raise Problem("malformed", f"{name} must be a number of seconds.")
    return min(int(text), most)


@cache
def load_description() -> bytes:
    """Load the OpenAPI description."""
    return FILE.read_bytes()


class RateLimiter:
    """A token bucket for each recent key.

    For requests the key is the node, and only if it is authenticated.
    """

    def __init__(self, burst: float = BURST, a_second: float = PER_SECOND) -> None:
        self._burst, self._a_second = burst, a_second
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def count(self, node: str, now: float) -> None:
        """Count a request. Raise Problem if there are too many."""
        left, at = self._left.pop(node, (self._burst, now))
        left = min(self._burst, left + max(0.0, now - at) * self._a_second)
        self._left[node] = (max(0.0, left - 1.0), now)
        while len(self._left) > _MOST:
            self._left.popitem(last=False)
        if left < 1.0:
            raise Problem("too-many", headers={"Retry-After": "5"})


class Origin(msgspec.Struct, frozen=True):
    """The client of a request; `secure`: over TLS. `disbelieved`: it has headers of an untrusted proxy.

    `near`: it is from this machine, and no header says that it was forwarded.
    """

    address: str
    secure: bool
    disbelieved: bool = False
    near: bool = False

    @property
    def private(self) -> bool:
        """Whether the answer is safe from being read on its way."""
        return self.secure or self.near


ORIGIN = web.RequestKey("origin", Origin)


def find_origin(request: web.Request, trusted: Sequence[Network]) -> Origin:
    """Find the client of a request: the last address on the request's way that is not a trusted proxy.

    Anyone may have written the addresses to the left of that one. `Forwarded` (RFC 7239) is not read:
    a proxy that sets one of the two headers passes on the other one unchanged.
    """
    peer, secure = _parse_address(request.remote or ""), request.secure
    forwarded = FORWARDED_FOR in request.headers or FORWARDED_PROTO in request.headers
    if peer is None or not _is_in(trusted, peer):
        near = peer is not None and peer.is_loopback and not forwarded
        return Origin(request.remote or "", secure, disbelieved=forwarded, near=near)
    for text in reversed(_list_header(request, FORWARDED_FOR)):
        found = _parse_address(text)
        if found is None:
            break
        peer = found
        if not _is_in(trusted, found):
            break
    return Origin(str(peer), secure or _list_header(request, FORWARDED_PROTO)[-1:] == ["https"])


def parse_network(text: str) -> Network:
    """Parse an address or a network. Raise GitcfgError if it is neither."""
    try:
        return ip_network(text)
    except ValueError:
        hint = "Write 10.0.0.7, 10.0.0.0/24 or 2001:db8::/64."
        raise GitcfgError(f"{shown(text)} is not an IP address or network.", hint) from None


def _is_in(networks: Sequence[Network], address: Address) -> bool:
    return any(address in one for one in networks)


def _list_header(request: web.Request, name: str) -> list[str]:
    """Return the items of a header, which may occur more than once."""
    return [item.strip() for item in ",".join(request.headers.getall(name, ())).split(",")]


def _parse_address(text: str) -> Address | None:
    """Parse an address, to which some proxies add a port; None if it is not an address."""
    host = text.partition("]")[0].removeprefix("[") if text.startswith("[") else text
    host = host.partition(":")[0] if host.count(":") == 1 else host
    try:
        found = ip_address(host)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


class JsonFormatter(logging.Formatter):
    """Formatter of log lines with `time`, `level`, `message`, and further fields, as JSON."""

    def format(self, record: logging.LogRecord) -> str:
        more = dict(getattr(record, "fields", {}))
        if "message" in more:
            more["detail"] = more.pop("message")
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **more,
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=True, default=str)


def make_logger(stream: TextIO, level: str) -> logging.Logger:
    """Return the server's log; aiohttp's messages go to the same stream."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    for name in ("gitcfg.server", "aiohttp", "asyncio"):
        log = logging.getLogger(name)
        log.handlers[:] = [handler]
        log.propagate = False
        log.setLevel(level.upper() if name == "gitcfg.server" else "WARNING")
    return logging.getLogger("gitcfg.server")
