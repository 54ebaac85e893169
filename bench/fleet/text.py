"""Pieces of YAML as people write them: a line a parameter, lists in brackets, text always in quotes."""

import json
from collections.abc import Iterable, Mapping

from bench.fleet.model import Scalar


def listed(key: str, names: Iterable[str]) -> str:
    """A list of names on one line; nothing for an empty one."""
    inside = ", ".join(names)
    return f"{key}: [{inside}]\n" if inside else ""


def lines(params: Mapping[str, Scalar], indent: str = "") -> str:
    """A line a parameter."""
    return "".join(f"{indent}{name}: {json.dumps(value)}\n" for name, value in params.items())


def bound(key: str, params: Mapping[str, Scalar], indent: str = "") -> str:
    """Parameters below a key; nothing if there are none."""
    return f"{indent}{key}:\n{lines(params, indent + '  ')}" if params else ""


def lowest_first(names: Iterable[str]) -> list[str]:
    """A list of the fleet for a tool that wants the highest priority last."""
    return list(names)[::-1]
