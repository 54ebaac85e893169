"""One connection to one server: HTTP/1.1 with an end to everything, its time and its size.

`http.client` reads the answers. It would wait anew for every byte, so the socket is its own here: whatever a
server does, an answer is there by the deadline or it is none.
"""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from .problems import Dropped, Unreachable
from .servers import Server
from .signing import Request
from .timed import Readable
from .verifying import Answer
from .why import hints, why

if TYPE_CHECKING:
    import ssl

_PART = 1 << 16


class Line:
    """A connection that is kept between requests; `context` is None for http://."""

    def __init__(self, server: Server, context: ssl.SSLContext | None) -> None:
        self.server = server
        self._context = context
        self._sock: socket.socket | None = None
        self.busy_until = 0.0
        """When it may be asked again (`time.monotonic`), as it says itself."""

    def close(self) -> None:
        """Hang up."""
        sock, self._sock = self._sock, None
        if sock is not None:
            with suppress(OSError):
                sock.close()

    def ask(self, request: Request, connect: float, timeout: float, most: int) -> Answer:
        """The answer to a request: at most `connect` seconds for the connection, `timeout` for all."""
        until = time.monotonic() + timeout
        kept, done = self._sock is not None, False
        try:
            sock = self._sock = self._sock or self._connected(min(connect, timeout))
            sock.settimeout(max(0.001, until - time.monotonic()))
            sock.sendall(_written(self.server, request))
            answer, stays = _read(Readable(sock, until), request, most)
            done = stays
        except (OSError, ValueError) as error:
            kind = Dropped if kept and isinstance(error, ConnectionError) else Unreachable
            raise kind(f"{self.server} did not answer: {why(error)}.", *hints(error)) from error
        finally:
            # Also when a signal ends the waiting: what would come then belongs to no request any more.
            if not done:
                self.close()
        return answer

    def _connected(self, timeout: float) -> socket.socket:
        # As bytes: for text Python imports tables of all alphabets (5 ms), and these names have ASCII alone.
        host = cast(str, self.server.host.encode("ascii"))
        sock = socket.create_connection((host, self.server.port), timeout)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            if self._context is not None:
                sock = self._context.wrap_socket(sock, server_hostname=self.server.host)
        except BaseException:
            sock.close()
            raise
        return sock


def _written(server: Server, request: Request) -> bytes:
    lines = [f"{request.method} {request.target} HTTP/1.1", f"host: {server.authority}"]
    lines += [f"{name}: {value}" for name, value in request.headers]
    if request.body is not None:
        lines.append(f"content-length: {len(request.body)}")
    return "\r\n".join((*lines, "", "")).encode("ascii") + (request.body or b"")


def _read(sock: Readable, request: Request, most: int) -> tuple[Answer, bool]:
    from http.client import HTTPException, HTTPResponse

    with HTTPResponse(cast(Any, sock), method=request.method) as response:
        try:
            response.begin()
            body = _body(response, most)
        except ConnectionError:
            raise  # http.client has one that is both
        except HTTPException as error:
            raise ValueError(f"its answer is no HTTP ({type(error).__name__})") from error
        headers: dict[str, str] = {}
        for name, value in response.getheaders():
            key, text = name.lower(), value.strip(" \t")
            headers[key] = f"{headers[key]}, {text}" if key in headers else text
        return Answer(response.status, headers, body), not response.will_close


def _body(response: Any, most: int) -> bytes:
    declared = response.length
    if declared is not None and declared > most:
        raise ValueError(f"its answer has {declared} bytes, and at most {most} are read")
    parts, size = [], 0
    while part := response.read(min(_PART, most + 1 - size)):
        parts.append(part)
        size += len(part)
        if size > most:
            raise ValueError(f"its answer has more than {most} bytes")
    if declared is not None and size != declared:
        raise ValueError(f"its answer ended after {size} of {declared} bytes")
    return b"".join(parts)
