"""The page of a file at a commit, for repositories without a forge."""

from functools import partial

from aiohttp import web

from gitcfg.git.tree import EntryKind
from gitcfg.server.fleets import FleetCache
from gitcfg.server.pages.git import resolve_commit
from gitcfg.server.pages.shown import page_handler
from gitcfg.server.problems import Problem
from gitcfg.server.service import SERVICE
from gitcfg.web.content import FilePage

_HIDDEN = "secrets/"
_LARGEST = 1024 * 1024


async def show_file(request: web.Request) -> FilePage:
    """Show a file. Raise Problem if there is none, or it may not be shown."""
    service, path = request.app[SERVICE], request.match_info["path"]
    commit = await resolve_commit(service, request.match_info["commit"])
    lines = await service.people.run(partial(_read_lines, commit, path))
    if lines is None:
        raise Problem("not-found", "There is no such file to look at.")
    return FilePage(path, commit, lines)


def _read_lines(commit: str, path: str, fleets: FleetCache) -> tuple[str, ...] | None:
    """Return the lines of a text; None for secrets, even encrypted ones."""
    if path.startswith(_HIDDEN):
        return None
    tree = fleets.source.repository.at(commit)
    entry = tree.entry(path)
    if entry is None or entry.kind is not EntryKind.FILE:
        return None
    content = tree.read(entry)
    if len(content) > _LARGEST or b"\0" in content:
        return None
    return tuple(content.decode("utf-8", "replace").splitlines())


ROUTES = [web.get("/commits/{commit}/files/{path:.+}", page_handler(show_file))]
