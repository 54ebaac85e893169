"""Render pages as HTML: all text from git or nodes is escaped, and no script is inline."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache, lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from msgspec import UNSET

from gitcfg.comparison.change import access
from gitcfg.explain.trail import describe_decision, describe_step, format_step
from gitcfg.model.text import ABBREVIATED, safe
from gitcfg.nodeset import fold
from gitcfg.web import content
from gitcfg.web.content import Frame
from gitcfg.web.table import TableQuery

_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
_FIRST, _LAST = 0.0, datetime(9999, 1, 1, tzinfo=UTC).timestamp()
PATH = "/assets/"
_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
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


def format_value(value: Any) -> str:
    """Format any value on one line; a secret as its name and version only."""
    if value is None:
        return "(no value)"
    if isinstance(value, str):
        return safe(value)
    redacted = _redact(value)
    return redacted if isinstance(redacted, str) else safe(msgspec.json.encode(redacted).decode())


def is_set(value: Any) -> bool:
    """Return whether there is a value on this side of a change."""
    return value is not UNSET


def _redact(value: Any) -> Any:
    if isinstance(value, dict):
        if "$secret" in value:
            return f"<secret {safe(str(value['$secret']))} v{safe(str(value.get('version', '?')))}>"
        return {name: _redact(inner) for name, inner in value.items()}
    return [_redact(inner) for inner in value] if isinstance(value, list | tuple) else value


def clean_text(lines: str) -> str:
    """Escape control characters in each line of a text; tabs stay."""
    return "\n".join("\t".join(map(safe, line.split("\t"))) for line in lines.splitlines())


def abbreviate(commit: str | None) -> str:
    """Abbreviate a commit's id."""
    return safe(commit)[:ABBREVIATED] if commit else ""


def format_duration(seconds: float) -> str:
    """Format a number of seconds in its largest unit."""
    found = next(((size, unit) for size, unit in _UNITS if seconds >= size), (1, "s"))
    return f"{int(max(0.0, seconds) // found[0])} {found[1]}"


def format_ago(at: float, now: float) -> str:
    """Format a time relative to now."""
    if abs(now - at) < 1:
        return "now"
    return f"{format_duration(now - at)} ago" if now > at else f"in {format_duration(at - now)}"


def format_iso(at: float) -> str:
    """Format a time by RFC 3339; clamp it to the valid range, because nodes may report any number."""
    within = min(max(at, _FIRST), _LAST) if at == at else _FIRST
    return datetime.fromtimestamp(within, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def format_time(at: float) -> str:
    """Format a time for people."""
    return format_iso(at).replace("T", " ").replace("Z", " UTC")


def format_date(date: str) -> str:
    """Format a commit's date in UTC; leave a text that is not a date as it is."""
    try:
        return format_time(datetime.fromisoformat(date).timestamp())
    except (ValueError, OverflowError):
        return safe(date)


@lru_cache(64)
def fold_names(names: tuple[str, ...]) -> str:
    """Fold names into a node set. Cached, because 10,000 names take 26 ms at every event."""
    return safe(fold(names))


def quote_segment(name: str) -> str:
    """Quote a name as a segment of a path."""
    return quote(name, safe="")


def format_count(number: int, noun: str) -> str:
    """Format a count: `1 node`, `2,000 nodes`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


class Asset(msgspec.Struct, frozen=True):
    """A file that pages load. `name` contains its digest."""

    name: str
    body: bytes
    content_type: str

    @property
    def url(self) -> str:
        """The path of the asset."""
        return PATH + self.name


def find_asset(name: str) -> Asset | None:
    """Find the asset of a name with a digest; None if it does not exist, or is of another version."""
    return next((one for one in load_assets().values() if one.name == name), None)


@cache
def load_assets() -> Mapping[str, Asset]:
    """Load all assets, by the names of their files."""
    assets = {}
    for name in ("style.css", "live.js", "icon.svg"):
        body = (files("gitcfg.web") / name).read_bytes()
        stem, _, kind = name.partition(".")
        assets[name] = Asset(f"{stem}.{sha256(body).hexdigest()[:16]}.{kind}", body, _TYPES[kind])
    return assets


def render_page(frame: Frame, page: msgspec.Struct) -> str:
    """Render a page with the template for the type of its content."""
    name = _TEMPLATES[type(page)]
    template = _environment().get_template(f"{name}.html.j2")
    return template.render(frame=frame, page=page, here=_SECTIONS.get(name), assets=load_assets())


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("gitcfg.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= {
        "shown": safe,
        "value": format_value,
        "text": clean_text,
        "short": abbreviate,
        "iso": format_iso,
        "moment": format_time,
        "dated": format_date,
        "ago": format_ago,
        "lasting": format_duration,
        "folded": fold_names,
        "segment": quote_segment,
        "many": format_count,
        "marked": _highlight,
        "lined": str.splitlines,
        "access": access,
        "reason": describe_step,
        "left_open": describe_decision,
        "written": format_step,
    }
    environment.tests["bound"] = is_set
    environment.globals |= {"paging": _table_addresses, "numbering": _page_addresses}
    return environment


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
