"""The web pages: a view of the fleet for people who are logged in with a token."""

from aiohttp import web

from gitcfg.server.pages import base, commits, fleet, nodes

PARTS = (fleet, nodes, commits, base)


def routes() -> list[web.RouteDef]:
    """Return the routes of all pages."""
    return [route for part in PARTS for route in part.ROUTES]
