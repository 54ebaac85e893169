"""Dotted names as nested maps, and what no format that nests can carry."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gitcfg.render.formats.format import Unfit, present, unfit_name

# As deep as a repository's YAML may be; readers of JSON and TOML have limits too.
_LEVELS = 64


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """`a.b` below `a`, maps in order of key. Of names in each other's way the longer is left out."""
    result: dict[str, Any] = {}
    for name, value in present(values):
        *folders, key = name.split(".")
        place = _place(result, folders) if len(folders) < _LEVELS else None
        if place is not None:
            place[key] = value
    ordered: dict[str, Any] = _ordered(result)
    return ordered


def _place(result: dict[str, Any], folders: list[str]) -> dict[str, Any] | None:
    """Where a name's last part goes; None: another name's value is in the way."""
    place: Any = result
    for folder in folders:
        if folder not in place:
            place[folder] = _Folder()
        place = place[folder]
        if not isinstance(place, _Folder):
            return None
    found: dict[str, Any] = place
    return found


class _Folder(dict[str, Any]):
    """What dotted names share; a parameter's own map is none, for it is not to be written to."""


def _ordered(value: Any) -> Any:
    """The value with all its maps in order of key: equal values are equal text."""
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value)}
    return [_ordered(item) for item in value] if isinstance(value, list) else value


def unfit_names(values: Mapping[str, Any]) -> Iterator[Unfit]:
    """Names with empty parts or too many, and names of which one is the beginning of another."""
    names = {name for name, _ in present(values)}
    for name in sorted(names):
        parts = name.split(".")
        if not all(parts):
            yield unfit_name(name, f"{name} has an empty part beside a dot.")
        if len(parts) > _LEVELS:
            yield unfit_name(
                name, f"{name[:60]}... has {len(parts)} parts, and {_LEVELS} levels are the most."
            )
        else:
            yield from _inside(name, parts, names)


def _inside(name: str, parts: list[str], names: set[str]) -> Iterator[Unfit]:
    prefix = ""
    for part in parts[:-1]:
        prefix = f"{prefix}.{part}" if prefix else part
        if prefix in names:
            reason = f"{prefix} cannot both have a value and hold {name}."
            yield Unfit(
                "GC310", (prefix, name), reason, f'Rename one, or keep it out: "!{prefix}" under `params:`.'
            )


def unfit_values(values: Mapping[str, Any], problem: Callable[[Any], str | None]) -> Iterator[Unfit]:
    """The first thing in each value that a format has a problem with."""
    for name, value in present(values):
        found = next(filter(None, map(problem, _parts(value))), None)
        if found:
            yield Unfit(
                "GC309", (name,), f"{name} {found}.", "Change it, or write it to a file of another format."
            )


def _parts(value: Any) -> Iterator[Any]:
    """All plain values in a value."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _parts(item)
    else:
        yield value


def unfit_number(value: Any) -> str | None:
    """What is wrong with a number for JSON and its like."""
    return "holds no finite number" if isinstance(value, float) and not math.isfinite(value) else None
