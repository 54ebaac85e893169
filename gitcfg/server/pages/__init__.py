"""The web pages: what people see of the fleet, logged in with a token."""

from aiohttp import web

from gitcfg.server.pages import assets, branch, commits, files, fleet, history, login, nodes, releases, search

PARTS = (fleet, nodes, history, branch, commits, files, releases, search, login, assets)


def routes() -> list[web.RouteDef]:
    """Return the routes of all pages."""
    return [route for part in PARTS for route in part.ROUTES]
