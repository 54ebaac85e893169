"""Dotted names as nested maps."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from gitcfg.render.formats.format import Unfit, present


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """`a.b` below `a`. Where names are in each other's way, the longer is left out."""
    result: dict[str, Any] = {}
    for name, value in present(values):
        *folders, key = name.split(".")
        place = result
        for folder in folders:
            place = place.setdefault(folder, {}) if isinstance(place, dict) else place
        if isinstance(place, dict):
            place[key] = value
    return result


def unfit_names(values: Mapping[str, Any]) -> Iterator[Unfit]:
    """Names with empty parts, and names of which one is the beginning of another."""
    names = {name for name, _ in present(values)}
    for name in sorted(names):
        parts = name.split(".")
        if not all(parts):
            yield Unfit("GC309", (name,), f"{name} has an empty part between dots.")
        for end in range(1, len(parts)):
            prefix = ".".join(parts[:end])
            if prefix in names:
                yield Unfit("GC310", (prefix, name), f"{prefix} cannot have a value and hold {name}.")


def unfit_numbers(name: str, value: Any) -> Iterator[Unfit]:
    """Numbers that JSON does not know."""
    if isinstance(value, float) and not math.isfinite(value):
        yield Unfit("GC309", (name,), f"{name} holds no finite number.")
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from unfit_numbers(name, item)
