"""Answers in HTTP's own terms: JSON, entity tags, and what stands in a query."""

import re

from aiohttp import web

from gitcfg.server.problems import Problem


def json_answer(body: bytes, headers: dict[str, str] | None = None) -> web.Response:
    """JSON, which nobody keeps unless the headers say so."""
    said = {"Cache-Control": "no-store", **(headers or {})}
    return web.Response(body=body, content_type="application/json", headers=said)


def entity_tag(digest: str) -> str:
    """A digest as a strong entity tag."""
    return f'"{digest}"'


def unchanged(request: web.Request, digest: str) -> bool:
    """Does whoever asks have what a digest is of?"""
    asked = ", ".join(request.headers.getall("If-None-Match", ()))
    return entity_tag(digest) in (tag.strip() for tag in asked.split(","))


def not_modified(digest: str, cache: str = "no-store") -> web.Response:
    """Nothing is new."""
    return web.Response(status=304, headers={"ETag": entity_tag(digest), "Cache-Control": cache})


def seconds_of(request: web.Request, name: str, most: int) -> int:
    """How many whole seconds a query says; 0 without. Problem: it says something else."""
    text = request.query.get(name, "0")
    if not re.fullmatch(r"[0-9]{1,4}", text):
        raise Problem("malformed", f"{name} is a number of seconds.")
    return min(int(text), most)
