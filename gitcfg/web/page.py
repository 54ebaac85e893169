"""A page as HTML: everything that comes from git or from nodes is escaped, and nothing in it is a script."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any
from urllib.parse import urlencode

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined

from gitcfg.comparison.change import access
from gitcfg.explain.trail import left_open, told, written
from gitcfg.model.text import safe
from gitcfg.web import content, words
from gitcfg.web.asked import Asked
from gitcfg.web.assets import assets
from gitcfg.web.content import Frame

POLICY = "; ".join(
    (
        "default-src 'none'",
        "style-src 'self'",
        "script-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""The Content-Security-Policy of every page: only the server's own files, and none of them inline."""
_PLACES = {"overview": "Fleet", "commit": "Commits", "commits": "Commits", "releases": "Releases"}
_TEMPLATES: Mapping[type[msgspec.Struct], str] = {
    content.Overview: "overview",
    content.NodePage: "node",
    content.HistoryPage: "history",
    content.CommitPage: "commit",
    content.CommitsPage: "commits",
    content.ReleasesPage: "releases",
    content.SearchPage: "search",
    content.FilePage: "file",
    content.LoginPage: "login",
    content.OnwardPage: "onward",
    content.ProblemPage: "problem",
}


def page(frame: Frame, said: msgspec.Struct) -> str:
    """A page; what it says decides which one."""
    name = _TEMPLATES[type(said)]
    template = _environment().get_template(f"{name}.html.j2")
    return template.render(frame=frame, page=said, here=_PLACES.get(name), assets=assets())


@cache
def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("gitcfg.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    found.filters |= {
        "shown": safe,
        "said": words.said,
        "text": words.text,
        "short": words.short,
        "iso": words.iso,
        "moment": words.moment,
        "dated": words.dated,
        "ago": words.ago,
        "lasting": words.lasting,
        "folded": words.folded,
        "segment": words.segment,
        "many": words.many,
        "marked": _marked,
        "lined": str.splitlines,
        "access": access,
        "told": told,
        "left_open": left_open,
        "written": written,
    }
    found.tests["bound"] = words.bound
    found.globals |= {"paging": _paging, "numbering": _numbering}
    return found


def _paging(asked: Asked) -> Callable[[int], str]:
    """Addresses of the table's pages."""
    return lambda number: f"/{asked.query(page=number)}#nodes"


def _numbering(path: str, **query: str) -> Callable[[int], str]:
    """Addresses of the pages of something."""
    return lambda number: f"{path}?{urlencode({**query, 'page': number})}"


def _marked(excerpt: str, spans: Any) -> list[tuple[bool, str]]:
    """An excerpt in pieces: what was searched for, and what stands around it."""
    pieces, last = [], 0
    for start, end in spans:
        pieces += [(False, safe(excerpt[last:start])), (True, safe(excerpt[start:end]))]
        last = end
    return [piece for piece in (*pieces, (False, safe(excerpt[last:]))) if piece[1]]
