"""Render pages as HTML: all that comes from git or from nodes is escaped, and no script is inline."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any
from urllib.parse import urlencode

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined

from gitcfg.comparison.change import access
from gitcfg.explain.trail import describe_decision, describe_step, format_step
from gitcfg.model.text import safe
from gitcfg.web import content, words
from gitcfg.web.asked import TableQuery
from gitcfg.web.assets import load_assets
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
_SECTIONS = {"overview": "Fleet", "commit": "Commits", "commits": "Commits", "releases": "Releases"}
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
    content.RedirectPage: "onward",
    content.ProblemPage: "problem",
}


def render_page(frame: Frame, said: msgspec.Struct) -> str:
    """Render a page; the type of its content decides which template."""
    name = _TEMPLATES[type(said)]
    template = _environment().get_template(f"{name}.html.j2")
    return template.render(frame=frame, page=said, here=_SECTIONS.get(name), assets=load_assets())


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
        "value": words.format_value,
        "text": words.clean_text,
        "short": words.abbreviate,
        "iso": words.format_iso,
        "moment": words.format_time,
        "dated": words.format_date,
        "ago": words.format_ago,
        "lasting": words.format_duration,
        "folded": words.fold_names,
        "segment": words.quote_segment,
        "many": words.format_count,
        "marked": _highlight,
        "lined": str.splitlines,
        "access": access,
        "reason": describe_step,
        "left_open": describe_decision,
        "written": format_step,
    }
    found.tests["bound"] = words.is_set
    found.globals |= {"paging": _table_addresses, "numbering": _page_addresses}
    return found


def _table_addresses(query: TableQuery) -> Callable[[int], str]:
    """Return the URLs of the table's pages, by number."""
    return lambda number: f"/{query.address(page=number)}#nodes"


def _page_addresses(path: str, **query: str) -> Callable[[int], str]:
    """Return the URLs of the pages of a list, by number."""
    return lambda number: f"{path}?{urlencode({**query, 'page': number})}"


def _highlight(excerpt: str, spans: Any) -> list[tuple[bool, str]]:
    """Split an excerpt into matches and the text around them."""
    pieces, last = [], 0
    for start, end in spans:
        pieces += [(False, safe(excerpt[last:start])), (True, safe(excerpt[start:end]))]
        last = end
    return [piece for piece in (*pieces, (False, safe(excerpt[last:]))) if piece[1]]
