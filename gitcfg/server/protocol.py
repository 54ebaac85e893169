"""Connections: idle ones are closed, and malformed HTTP is answered with a problem."""

import asyncio

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from gitcfg.server.problems import CONTENT_TYPE, NAME, SERVER, Problem, problem_from_http, problem_to_json

HEAD_SECONDS = 20.0
"""So long a connection may be open before its first request is whole."""


class TimedConnection(RequestHandler):
    """A connection that is closed if its first request does not come in time."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        asyncio.get_running_loop().call_later(HEAD_SECONDS, self._begun)

    def _begun(self) -> None:
        if self.transport is not None and not self._request_count:
            self.transport.close()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Hide what failed: neither what was sent nor where."""
        answer = super().handle_error(request, status, exc, message)
        kind = problem_from_http(web.HTTPBadRequest()) if status < 500 else Problem("fault")
        problem = web.Response(
            status=status, body=problem_to_json(kind), content_type=CONTENT_TYPE, headers={SERVER: NAME}
        )
        if answer.keep_alive is False:
            problem.force_close()
        return problem


class _Server(web.Server):
    def __call__(self) -> RequestHandler:
        return TimedConnection(self, loop=self._loop, **self._kwargs)


def use_timed_connections(runner: web.AppRunner) -> None:
    """Let a runner's server use such connections."""
    assert runner.server is not None
    runner.server.__class__ = _Server
