"""HTTP responses and requests: JSON, entity tags, values of queries."""

import re

from aiohttp import web

from gitcfg.server.problems import Problem


def json_response(body: bytes, headers: dict[str, str] | None = None) -> web.Response:
    """Return JSON that is not cached unless the headers say so."""
    all_headers = {"Cache-Control": "no-store", **(headers or {})}
    return web.Response(body=body, content_type="application/json", headers=all_headers)


def entity_tag(digest: str) -> str:
    """Return a digest as a strong entity tag."""
    return f'"{digest}"'


def is_unchanged(request: web.Request, digest: str) -> bool:
    """Return whether the client has the content of a digest already (If-None-Match)."""
    tags = ", ".join(request.headers.getall("If-None-Match", ()))
    return entity_tag(digest) in (tag.strip() for tag in tags.split(","))


def not_modified(digest: str, cache: str = "no-store") -> web.Response:
    """Return 304 Not Modified."""
    return web.Response(status=304, headers={"ETag": entity_tag(digest), "Cache-Control": cache})


def parse_seconds(request: web.Request, name: str, most: int) -> int:
    """Parse whole seconds in a query; 0 if missing. Raise Problem for anything else."""
    text = request.query.get(name, "0")
    if not re.fullmatch(r"[0-9]{1,4}", text):
        raise Problem("malformed", f"{name} is a number of seconds.")
    return min(int(text), most)
