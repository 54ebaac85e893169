"""The client: signed requests to one of several servers, and which of their answers count.

Requests go over HTTP/1.1, with a deadline for the whole exchange. `http.client` reads the answers. It would
restart its timeout for every byte, so this module has a socket of its own: regardless of what a server does,
the answer is complete by the deadline or the request fails.
"""

from __future__ import annotations

import io
import json
import os
import re
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ..install.outcome import PackageError
from ..install.package import MAX_BYTES, Actions, Package, decode_json, parse_actions
from .config import Server, Settings, is_loopback
from .errors import BUSY, PENDING, UNAUTHORIZED, AgentError, Declined, Dropped, Unreachable, Untrusted
from .keys import Answer, Identity, Request, sign_request, verify
from .secrets import open_package

if TYPE_CHECKING:
    import ssl

LEAST = 2.0
"""Seconds below which an offset counts as none: servers send whole seconds, and an answer takes some time."""
TOLERATED = 5.0
"""Seconds of offset up to which this node's clock is used without a correction."""


class ServerClock:
    """The server's clock: this node's clock plus `offset` seconds, as measured at the last answer."""

    def __init__(self, offset: float = 0.0, wall: Callable[[], float] = time.time) -> None:
        self._wall = wall
        self.offset = offset

    def now(self) -> float:
        """Return the server's time, in seconds since the epoch."""
        return self._wall() + self._correction

    def observe(self, server: float) -> bool:
        """Record the server's time; return whether that changes the time that requests are signed with."""
        before, apart = self._correction, server - self._wall()
        self.offset = float(round(apart)) if abs(apart) >= LEAST else 0.0
        return abs(self._correction - before) > TOLERATED

    @property
    def _correction(self) -> float:
        return self.offset if abs(self.offset) > TOLERATED else 0.0


def parse_date(header: str) -> float | None:
    """Return the time of a Date header, or None if it is not a date."""
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(header).timestamp()
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


# Answers that decline a request.

MOST_AFTER = 300.0
"""The longest pause that a server can ask for, in seconds.

The header is not signed, and a node must stay reachable.
"""


def check_accepted(answer: Answer, who: Identity, now: float) -> Answer:
    """Return the answer; raise Declined if the server rejects the request."""
    if answer.status in (200, 304):
        return answer
    problem: Any = {}
    with suppress(ValueError, RecursionError):
        problem = json.loads(answer.body)
    if not isinstance(problem, dict):
        problem = {}
    kind = str(problem.get("type", "")).rpartition(":")[2]
    detail = str(problem.get("detail") or problem.get("title") or f"HTTP {answer.status}")[:1000]
    verb = "The server is not ready" if answer.status in BUSY else "The server rejected the request"
    messages: tuple[str, ...] = (f"{verb}: {detail.rstrip('.')}.",)
    if kind == PENDING and "fingerprint" not in problem:  # git has its key, and nothing else of it
        messages = (str(problem.get("detail") or "The node is not accepted yet.")[:1000],)
    elif kind == PENDING:
        messages = (
            "This node's key is not accepted yet.",
            f"Run `gitcfg node accept {who.node}` in a clone of the repository to accept {who.fingerprint}.",
        )
    elif kind == UNAUTHORIZED:  # one answer for all mismatches, so that it reveals nothing
        messages = (
            f"The server does not accept this as a request of {who.node}: it knows another key of the node,"
            " or the request was changed on the way.",
            f"If the node was reinstalled, run `gitcfg node accept {who.node} --replace` in a clone of the"
            f" repository to accept {who.fingerprint}.",
        )
    raise Declined(answer.status, kind, *messages, after=retry_pause(answer, now))


def retry_pause(answer: Answer, now: float) -> float:
    """Return the seconds that a busy server asks to wait (Retry-After); `now` is the server's time."""
    header = answer.headers.get("retry-after", "") if answer.status in BUSY else ""
    if header.isascii() and header.isdigit():
        return min(float(header[:9]), MOST_AFTER)
    date = parse_date(header)
    return 0.0 if date is None else min(max(0.0, date - now), MOST_AFTER)


def make_context(settings: Settings) -> ssl.SSLContext | None:
    """Return a context with the system's certificates or those of `ca`; None if no server uses TLS."""
    if not any(server.tls for server in settings.servers):
        return None
    import ssl

    try:
        return ssl.create_default_context(cafile=settings.ca or None)
    except (ssl.SSLError, OSError) as error:
        raise Unreachable(
            f"Cannot read the certificates of {settings.ca or 'the system'}: {error}.",
            "Set `ca` in agent.toml to a file of certificates in PEM format.",
        ) from error


class _TimedSocket(io.RawIOBase):
    """The bytes that a socket receives before a deadline."""

    def __init__(self, sock: socket.socket, until: float) -> None:
        self._sock = sock
        self._until = until

    def readable(self) -> bool:
        return True

    def makefile(self, mode: str) -> io.BufferedReader:
        """Return a file to read from, the only method that `http.client` calls on a socket."""
        return io.BufferedReader(self)

    def readinto(self, buffer: Any) -> int:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time ran out")
        self._sock.settimeout(left)
        return self._sock.recv_into(buffer)


_NO_MATCH, _TIMES, _PLAIN = (62, 64), (9, 10), "WRONG_VERSION_NUMBER"
"""OpenSSL's words for a certificate with another name, one not valid now, and an answer without TLS."""


def find_hints(error: Exception) -> tuple[str, ...]:
    """Return hints for an error. They depend on attributes, since ssl is imported only where it is used."""
    code = getattr(error, "verify_code", None)
    if code is None:
        plain = getattr(error, "reason", None) == _PLAIN
        return ("Check that the server uses https at this address.",) if plain else ()
    if code in _NO_MATCH:
        return ("Use a name of the server's certificate for `server` in agent.toml.",)
    if code in _TIMES:
        return ("Check this node's clock.",)
    return ('If the site has its own certificates, set `ca = "FILE"` in agent.toml.',)


def describe_error(error: Exception) -> str:
    """Return the reason of an error, without a full stop."""
    message = getattr(error, "verify_message", "")
    if message:
        return f"certificate verify failed: {message.rstrip('.')}"
    if isinstance(error, (TimeoutError, socket.timeout)):
        return "the time ran out"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error).rstrip(".") or type(error).__name__


_PART = 1 << 16


class Line:
    """A connection that is kept between requests; `context` is None for http://."""

    def __init__(self, server: Server, context: ssl.SSLContext | None) -> None:
        self.server = server
        self._context = context
        self._sock: socket.socket | None = None
        self.busy_until = 0.0
        """When the server may be asked again (`time.monotonic`), as it asked itself."""

    def close(self) -> None:
        """Close the connection."""
        sock, self._sock = self._sock, None
        if sock is not None:
            with suppress(OSError):
                sock.close()

    def ask(self, request: Request, connect: float, timeout: float, most: int) -> Answer:
        """Return the answer to a request, after at most `connect` seconds to connect and `timeout` in all."""
        until = time.monotonic() + timeout
        kept, done = self._sock is not None, False
        try:
            sock = self._sock = self._sock or self._connected(min(connect, timeout))
            sock.settimeout(max(0.001, until - time.monotonic()))
            sock.sendall(_write(self.server, request))
            answer, done = _read(_TimedSocket(sock, until), request, most)
        except (OSError, ValueError) as error:
            kind = Dropped if kept and isinstance(error, ConnectionError) else Unreachable
            raise kind(
                f"{self.server} did not answer: {describe_error(error)}.", *find_hints(error)
            ) from error
        finally:
            # Also when a signal ends the wait: an answer that arrives later belongs to no request.
            if not done:
                self.close()
        return answer

    def _connected(self, timeout: float) -> socket.socket:
        # As bytes: for text, Python imports tables of all alphabets (5 ms), and these names are ASCII.
        host = cast(str, self.server.host.encode("ascii"))
        with ExitStack() as stack:
            sock = stack.enter_context(socket.create_connection((host, self.server.port), timeout))
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            if self._context is not None:
                sock = self._context.wrap_socket(sock, server_hostname=self.server.host)
            stack.pop_all()  # connected: it stays open
        return sock


def _write(server: Server, request: Request) -> bytes:
    lines = [f"{request.method} {request.target} HTTP/1.1", f"host: {server.authority}"]
    lines += [f"{name}: {value}" for name, value in request.headers]
    if request.body is not None:
        lines.append(f"content-length: {len(request.body)}")
    return "\r\n".join((*lines, "", "")).encode("ascii") + (request.body or b"")


def _read(sock: _TimedSocket, request: Request, most: int) -> tuple[Answer, bool]:
    from http.client import HTTPException, HTTPResponse

    with HTTPResponse(cast(Any, sock), method=request.method) as response:
        try:
            response.begin()
            body = _body(response, most)
        except ConnectionError:
            raise  # http.client has an exception that is both
        except HTTPException as error:
            raise ValueError(f"its answer is not HTTP ({type(error).__name__})") from error
        headers: dict[str, str] = {}
        for name, value in response.getheaders():
            key, text = name.lower(), value.strip(" \t")
            headers[key] = f"{headers[key]}, {text}" if key in headers else text
        return Answer(response.status, headers, body), not response.will_close


def _body(response: Any, most: int) -> bytes:
    declared = response.length
    if declared is not None and declared > most:
        raise ValueError(f"its answer has {declared} bytes, more than {most}")
    parts, size = [], 0
    while part := response.read(min(_PART, most + 1 - size)):
        parts.append(part)
        size += len(part)
        if size > most:
            raise ValueError(f"its answer has more than {most} bytes")
    if declared is not None and size != declared:
        raise ValueError(f"its answer ended after {size} of {declared} bytes")
    return b"".join(parts)


SMALL = 1 << 20
"""The size limit of an answer that is not a package, in bytes."""


class Client:
    """The servers of a node: first the one that answered last; a busy one only after its pause."""

    def __init__(self, settings: Settings, who: Identity, clock: ServerClock) -> None:
        self.settings = settings
        self.who = who
        self.clock = clock
        self._lines: list[Line] = []

    @property
    def server(self) -> Server:
        """The server that is asked first."""
        return self._lines[0].server if self._lines else self.settings.servers[0]

    @property
    def rest(self) -> float:
        """Seconds until a server may be asked; above 0 only if all are busy."""
        return max(0.0, min((line.busy_until for line in self._lines), default=0.0) - time.monotonic())

    def close(self) -> None:
        """Close the connections; the next request uses new ones, and may go to any server."""
        for line in self._lines:
            line.close()
            line.busy_until = 0.0

    def turn(self) -> None:
        """Close the connections, and ask the next server first: the answers of this one are of no use."""
        for line in self._lines:
            line.close()
        self._lines = self._lines[1:] + self._lines[:1]

    def ask(self, request: Request, wait: float = 0.0, most: int = SMALL, timeout: float = 0.0) -> Answer:
        """Return the first answer that counts; raise Declined if it is a rejection.

        The server may hold the answer back for `wait` seconds.
        """
        problems: list[AgentError] = []
        for line in self._find_available():
            answer = self._ask_server(line, request, wait + (timeout or self.settings.timeout), most)
            if isinstance(answer, Answer):
                return answer
            line.busy_until = time.monotonic() + answer.after
            problems.append(answer)
        # Of several servers' failures, an untrusted answer matters most, then a server that answers.
        kinds = (Untrusted, Declined, AgentError)
        raise next(one for kind in kinds for one in problems if isinstance(one, kind))

    def _find_available(self) -> list[Line]:
        """Return the connections that are not busy. If all are, return all: the caller has already waited."""
        if not self._lines:
            context = make_context(self.settings)
            self._lines = [Line(one, context if one.tls else None) for one in self.settings.servers]
        return [one for one in self._lines if one.busy_until <= time.monotonic()] or list(self._lines)

    def _ask_server(self, line: Line, request: Request, timeout: float, most: int) -> Answer | AgentError:
        """Return an answer that counts, or the error because of which the next server is asked."""
        try:
            answer, moved = self._retry_dropped(line, request, timeout, most)
            if answer.status == 401 and moved:
                answer, _ = self._retry_dropped(line, request, timeout, most)
            self._lines.sort(key=lambda one: one is not line)
            return check_accepted(answer, self.who, self.clock.now())
        except (Unreachable, Untrusted, Declined) as error:
            if isinstance(error, Declined) and error.status not in BUSY:
                raise
            return error

    def _retry_dropped(self, line: Line, request: Request, timeout: float, most: int) -> tuple[Answer, bool]:
        """Return an answer, and whether it changed the clock; retry once if a kept connection is dead."""
        try:
            return self._once(line, request, timeout, most)
        except Dropped:
            return self._once(line, request, timeout, most)

    def _once(self, line: Line, request: Request, timeout: float, most: int) -> tuple[Answer, bool]:
        nonce = os.urandom(16).hex() if request.method == "POST" else ""
        ready = sign_request(request, self.who, int(self.clock.now()), nonce)
        answer = line.ask(ready, self.settings.timeout, timeout, most)
        try:
            return answer, self.clock.observe(verify(answer, ready, self.settings.server_keys))
        except Untrusted as error:
            line.close()
            date = parse_date(answer.headers.get("date", ""))
            # No one between could have written what such a server sends, even if it is unsigned.
            is_private = line.server.tls or is_loopback(line.server.host)
            if answer.status == 401 and date is not None and is_private and self.clock.observe(date):
                return answer, True
            if answer.status in BUSY:
                # A proxy whose server is down cannot sign: its answer is not a forgery, but nothing in it
                # counts.
                pause, why = retry_pause(answer, self.clock.now()), f"HTTP {answer.status}"
                raise Unreachable(f"{line.server} is not available: {why}.", after=pause) from None
            raise Untrusted(f"{line.server}: {error.message}", *error.hints) from None


# The requests that a node makes, and which of the answers count.

SCHEMA = "gitcfg.target/1"
NONE = "-"
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class Target(NamedTuple):
    """The commit that a node must run.

    `sequence` rises; an older one counts only as a `rollback`. `again` means that someone asks for a retry of
    what failed, now.
    """

    node: str
    commit: str
    digest: str
    sequence: int
    rollback: bool = False
    hold: Mapping[str, Any] | None = None
    again: bool = False


def parse_target(answer: Answer, node: str, newest: int) -> Target:
    """Return the target in a server's answer; it must be for this node and not older than `newest`.

    The target is in the headers, because an answer without a body (304) has them too. A body must agree with
    them.
    """
    headers = answer.headers
    target = Target(
        node=check_node(answer, node),
        commit=_hash(headers, "gitcfg-commit"),
        digest=_hash(headers, "gitcfg-digest"),
        sequence=_number(headers),
        rollback=headers.get("gitcfg-rollback", "").lower() in ("1", "true", "?1"),
    )
    if target.sequence < newest and not target.rollback:
        raise Untrusted(
            f"The server's target ({target.sequence}) is older than the last one ({newest}) and not a"
            " rollback."
        )
    return target if answer.status == 304 else _check_body(target, answer.body)


def check_node(answer: Answer, node: str) -> str:
    """Return the node that an answer is about; raise Untrusted if it is not this one."""
    other = answer.headers.get("gitcfg-node", "")
    if other != node:
        raise Untrusted(f"The server's answer is for the node {other[:256]!r}, but this node is {node}.")
    return node


def _check_body(target: Target, body: bytes) -> Target:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise Untrusted(f"The server's answer is not {SCHEMA}.")
    for key in ("node", "commit", "digest", "sequence", "rollback"):
        if data.get(key) != getattr(target, key):
            raise Untrusted(
                f"The server's answer has different values for {key} in its body and its headers."
            )
    hold = data.get("hold")
    return target._replace(hold=hold if isinstance(hold, dict) else None, again=data.get("again") is True)


def _hash(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name, NONE)
    if not _HASH.fullmatch(value):
        raise Untrusted(f"The server's answer has no {name}.")
    return value


def _number(headers: Mapping[str, str]) -> int:
    value = headers.get("gitcfg-sequence", NONE)
    if not (value.isascii() and value.isdigit() and len(value) < 19):
        raise Untrusted("The server's answer has no sequence.")
    return int(value)


_UNKNOWN = (400, 404, 409, 410, 422)
_LARGE = 10
"""How much longer a package may take than other answers."""


def ask_target(client: Client, newest: int, etag: str, wait: float = 0.0, timeout: float = 0.0) -> Target:
    """Return what this node must run; if that is still `etag`, only after `wait` seconds."""
    path = f"/v1/nodes/{client.who.node}/config"
    known = (("if-none-match", f'"{etag}"'),) if etag else ()
    query = f"wait={int(wait)}" if wait >= 1 else ""
    answer = client.ask(Request("GET", path, query, headers=known), wait, timeout=timeout)
    return parse_target(answer, client.who.node, newest)


def check_in(client: Client, newest: int, body: bytes) -> Target:
    """Report to the server, and return what this node must run."""
    path = f"/v1/nodes/{client.who.node}/checkin"
    request = Request("POST", path, body=body, headers=(("content-type", "application/json"),))
    return parse_target(client.ask(request), client.who.node, newest)


def ask_package(client: Client, target: Target) -> Package:
    """Return the configuration that a target names: this node's, of that commit and digest.

    The contents of files with secrets are in memory only.
    """
    node = client.who.node
    request = Request("GET", f"/v1/commits/{target.commit}/nodes/{node}")
    answer = client.ask(request, most=MAX_BYTES, timeout=_LARGE * client.settings.timeout)
    check_node(answer, node)
    package = open_package(answer.body, client.who)
    received = (package.node, package.commit, package.digest)
    if received != (node, target.commit, target.digest):
        raise Untrusted(
            f"The server sent the configuration {received[1][:10]} of {received[0]} without a request."
        )
    return package


def ask_actions(client: Client, before: Package | None, target: Target) -> Actions:
    """Return what to restart, reload and stop on the way to a target.

    If the server does not know (any longer) what is installed here, everything that runs is restarted.
    """
    path = f"/v1/nodes/{client.who.node}/changes"
    try:
        return _actions(client, path, f"from={before.commit}&" if before else "", before, target)
    except Declined as error:
        if before is None or error.status not in _UNKNOWN:
            raise
        return _actions(client, path, "", None, target)


def _actions(client: Client, path: str, query: str, before: Package | None, target: Target) -> Actions:
    answer = client.ask(Request("GET", path, f"{query}to={target.commit}"))
    check_node(answer, client.who.node)
    data = decode_json(answer.body)
    if not isinstance(data, dict) or data.get("schema") != "gitcfg.changes/1":
        raise PackageError("The server's answer is not gitcfg.changes/1.")
    known = (None, before.commit) if before else (None,)
    is_expected = (data.get("node"), data.get("to")) == (client.who.node, target.commit)
    if not is_expected or data.get("from") not in known:
        raise Untrusted("The server sent changes that were not requested.")
    return parse_actions(data)
