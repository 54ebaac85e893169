"""The routes of the HTTP interface, one module for each part; the web pages have their own."""

from aiohttp import web

from gitcfg.server.routes import commits, inventory, nodes, operations

PARTS = (nodes, commits, inventory, operations)


def routes() -> list[web.RouteDef]:
    """Return all routes. HEAD is answered only where it is listed."""
    found = [route for part in PARTS for route in part.ROUTES]
    return [
        web.get(route.path, route.handler, allow_head=False) if route.method == "GET" else route
        for route in found
    ]
