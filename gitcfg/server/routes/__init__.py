"""The routes of the HTTP interface, a module for each part; the web pages add their own."""

from aiohttp import web

from gitcfg.server.routes import commits, deploys, events, inventory, nodes, operations, packages, releases

PARTS = (nodes, packages, commits, inventory, releases, deploys, events, operations)


def routes() -> list[web.RouteDef]:
    """Return all routes. HEAD is answered only where it is listed."""
    found = [route for part in PARTS for route in part.ROUTES]
    return [_alone(route) for route in found]


def _alone(route: web.RouteDef) -> web.RouteDef:
    if route.method != "GET":
        return route
    return web.get(route.path, route.handler, allow_head=False)
