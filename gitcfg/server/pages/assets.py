"""The style, the script and the icon of the pages: browsers keep them for ever, by their digests."""

from aiohttp import web

from gitcfg.server.problems import Problem
from gitcfg.web import asset

_FOREVER = "public, max-age=31536000, immutable"


async def one(request: web.Request) -> web.StreamResponse:
    """One of them: they are the same for everybody."""
    found = asset(request.match_info["name"])
    if found is None:
        raise Problem("not-found")
    headers = {"Cache-Control": _FOREVER, "X-Content-Type-Options": "nosniff"}
    headers["Content-Security-Policy"] = "default-src 'none'"
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
    return web.Response(body=found.body, content_type=found.content_type, charset="utf-8", headers=headers)


ROUTES = [web.get("/assets/{name}", one)]
