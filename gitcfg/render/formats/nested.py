"""Formats that nest: json, yaml and toml; dotted names become maps."""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from gitcfg.render.formats.base import Separators, Unfit, present, unfit_name

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


# JSON.


class Json:
    """One object, indented, its keys in order of name."""

    name = "json"

    def write(self, values: Mapping[str, Any], separators: Separators) -> str:
        text = json.dumps(nested(values), ensure_ascii=False)  # msgspec writes some numbers otherwise
        # The same as of `indent=2`, which takes 2.7 times as long, and leaves garbage that nobody collects.
        return msgspec.json.format(text, indent=2) + "\n"

    def unfit(self, values: Mapping[str, Any], separators: Separators) -> Iterator[Unfit]:
        yield from unfit_names(values)
        yield from unfit_values(values, unfit_number)


# YAML, which readers of 1.1 and 1.2 understand alike.


class Yaml:
    """One block mapping, its keys in order of name."""

    name = "yaml"

    def write(self, values: Mapping[str, Any], separators: Separators) -> str:
        from gitcfg.load.yaml import dump

        return dump(nested(values))

    def unfit(self, values: Mapping[str, Any], separators: Separators) -> Iterator[Unfit]:
        yield from unfit_names(values)
        yield from unfit_values(values, unfit_number)


# TOML 1.0: the only module that imports tomli_w.

_INT64 = 1 << 63


class Toml:
    """Tables for dotted names, arrays of tables for lists of maps."""

    name = "toml"

    def write(self, values: Mapping[str, Any], separators: Separators) -> str:
        return "".join(_table((), _told(nested(values)), "")).removeprefix("\n")

    def unfit(self, values: Mapping[str, Any], separators: Separators) -> Iterator[Unfit]:
        yield from unfit_names(values)
        yield from unfit_values(values, _problem)


def _problem(value: Any) -> str | None:
    if value is None:
        return "holds a null, which TOML does not know"
    if isinstance(value, int) and not -_INT64 <= value < _INT64:
        return "holds an integer of more than 64 bits"
    return unfit_number(value)


def _told(value: Any) -> Any:
    """What TOML can say of a value: without the nulls in it."""
    if isinstance(value, dict):
        return {key: _told(item) for key, item in value.items() if item is not None}
    return [_told(item) for item in value if item is not None] if isinstance(value, list) else value


def _table(path: tuple[str, ...], table: Mapping[str, Any], header: str) -> Iterator[str]:
    """A table below its header: plain keys, then the tables in it.

    tomli_w alone writes short arrays of tables on one line, which Telegraf, for one, does not read.
    """
    import tomli_w

    plain = {key: value for key, value in table.items() if not isinstance(value, dict) and not _tables(value)}
    if header and (plain or len(plain) == len(table) or header.startswith("[[")):
        yield f"\n{header}\n"
    yield tomli_w.dumps(plain)
    for key, value in table.items():
        inner = (*path, tomli_w.dumps({key: 0}).removesuffix(" = 0\n"))
        name = ".".join(inner)
        if isinstance(value, dict):
            yield from _table(inner, value, f"[{name}]")
        elif _tables(value):
            for item in value:
                yield from _table(inner, item, f"[[{name}]]")


def _tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)
