"""The style, script and icon of the pages."""

from aiohttp import web

from gitcfg.server.problems import Problem
from gitcfg.web import find_asset

_FOREVER = "public, max-age=31536000, immutable"


async def send_asset(request: web.Request) -> web.StreamResponse:
    """Answer with an asset; these are public."""
    found = find_asset(request.match_info["name"])
    if found is None:
        raise Problem("not-found")
    headers = {"Cache-Control": _FOREVER, "X-Content-Type-Options": "nosniff"}
    headers["Content-Security-Policy"] = "default-src 'none'"
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
    return web.Response(body=found.body, content_type=found.content_type, charset="utf-8", headers=headers)


ROUTES = [web.get("/assets/{name}", send_asset)]
