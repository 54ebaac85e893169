"""Paths of a package and the globs that a policy matches them with."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

OWN_PREFIX = ".gitcfg-"
"""What files begin with that stand beside a target while it is replaced."""

_MAX_PATH, _MAX_NAME, _MAX_DEPTH = 4000, 240, 100
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def find_path_problem(path: str) -> str | None:
    """Return why `path` is not a normal absolute path of a file; None if it is."""
    try:
        raw = path.encode()
    except UnicodeEncodeError:
        return "is not UTF-8"
    names = path.split("/")[1:]
    if not path.startswith("/") or not all(names) or any(name in (".", "..") for name in names):
        return "is not a normal absolute path"
    if _CONTROL.search(path):
        return "holds a control character"
    if len(raw) > _MAX_PATH or any(len(name.encode()) > _MAX_NAME for name in names):
        return "is too long"
    if len(names) > _MAX_DEPTH:
        return f"lies deeper than {_MAX_DEPTH} folders"
    if any(name.startswith(OWN_PREFIX) for name in names):
        return f"begins a name with {OWN_PREFIX}, which is gitcfg's own"
    return None


def find_nested(paths: Iterable[str]) -> tuple[str, str] | None:
    """Return a path that another one needs as a folder, and that other one."""
    known = set(paths)
    for path in sorted(known):
        for folder in folders_of(path):
            if folder in known:
                return folder, path
    return None


def folders_of(path: str) -> list[str]:
    """Return the folders that a path lies in, outermost first, without the root."""
    parts = path.split("/")[1:-1]
    return ["/" + "/".join(parts[: count + 1]) for count in range(len(parts))]


def parent_of(path: str) -> str:
    """The folder that a path lies in; "" is the root."""
    return path.rpartition("/")[0]


def name_of(path: str) -> str:
    """A path's last name."""
    return path.rpartition("/")[2]


def matches(pattern: str, path: str) -> bool:
    """Return whether a glob matches: `*` and `?` within a name, `**` as a whole name over folders.

    `/etc/x/**` also matches `/etc/x` itself, so that who forbids a folder's content forbids its place.
    """
    return _compile(pattern).fullmatch(path) is not None


@lru_cache(maxsize=1024)
def _compile(pattern: str) -> re.Pattern[str]:
    text = ""
    for name in pattern.split("/")[1:]:
        text += "(?:/[^/]+)*" if name == "**" else "/" + _compile_name(name)
    return re.compile(text, re.DOTALL)


def _compile_name(glob: str) -> str:
    return "".join({"*": "[^/]*", "?": "[^/]"}.get(char, re.escape(char)) for char in glob)
