"""The formats of parameter files: how values are written, and which values a format cannot carry."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import Any, Protocol, runtime_checkable

import msgspec

from gitcfg.compile.values import find_unfit, join_list

_EXACT = 1 << 53  # integers below are the same in all languages
Separators = Mapping[str, str | None]


class Unfit(msgspec.Struct, frozen=True):
    """A parameter that a format cannot carry: GC309, or GC310 if its name is a prefix of another."""

    code: str
    subjects: tuple[str, ...]
    reason: str
    hint: str = ""


class Format(Protocol):
    """A format: writes parameters so that reading the text returns them, or reports why it cannot."""

    name: str

    def write(self, values: Mapping[str, Any], separators: Separators) -> str:
        """Return the text, sorted by name, without bare parameters (None)."""
        ...

    def unfit(self, values: Mapping[str, Any], separators: Separators) -> Iterator[Unfit]:
        """Yield what the format cannot carry; if nothing, reading the text returns the values."""
        ...


@runtime_checkable
class LineFormat(Format, Protocol):
    """A format that writes each parameter separately, one after the other.

    Whether it can carry a parameter depends only on the parameter, and on others with the same spelling.
    """

    def spelling(self, name: str) -> str:
        """Return a key that is equal for names which readers of the format do not distinguish."""
        ...


def present(values: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the parameters that have a value, in order of name."""
    return [(name, values[name]) for name in sorted(values) if values[name] is not None]


def is_simple(value: Any) -> bool:
    """Return whether every format can carry a plain value, because it has no unusual characters."""
    if type(value) is str:
        return value.isprintable() and value.strip() == value and value[-1:] != "\\"
    return type(value) is bool or (type(value) is int and abs(value) < _EXACT)


def unfit_name(name: str, reason: str) -> Unfit:
    """Return the error for a name that the format would change, or not read at all."""
    return Unfit("GC309", (name,), reason, f'Keep it out of this file: "!{name}" under `params:`.')


# Formats of lines: condor, env and ini.

_ELSEWHERE = "Write it to a file of format json, yaml or toml."
_ONE_LINE = "Put it on one line, or write it to a file of format json, yaml or toml."
_BREAKS = (("\n", "a line break"), ("\r", "a carriage return"), ("\0", "a NUL character"))

Problem = tuple[str, str]  # what is wrong with a value, and what to do


def text_of(value: Any, separator: str | None, true: str = "true", false: str = "false") -> str:
    """Return a value as text; a list with its separator."""
    if isinstance(value, list):
        return join_list([_scalar(item, true, false) for item in value], separator)
    return _scalar(value, true, false)


def _scalar(value: Any, true: str, false: str) -> str:
    if isinstance(value, bool):
        return true if value else false
    return value if isinstance(value, str) else repr(value)


def unfit_value(
    name: str, value: Any, separator: str | None, trimmed: Callable[[str], str] = str
) -> Iterator[Unfit]:
    """Yield what does not fit one line. `trimmed` returns a text as the format's reader would read it."""
    problem = _list_problem(value, separator) if isinstance(value, list) else _plain_problem(value)
    text = "" if problem else text_of(value, separator)
    problem = problem or _text_problem(text, trimmed)
    if problem:
        reason, hint = problem
        yield Unfit("GC309", (name,), f"{name} {reason}.", hint)


def _plain_problem(value: Any) -> Problem | None:
    if isinstance(value, dict):
        return "is a map", _ELSEWHERE
    if isinstance(value, float) and not math.isfinite(value):
        return "is not a finite number", ""
    return None


def _list_problem(items: Sequence[Any], separator: str | None) -> Problem | None:
    if any(item is None or isinstance(item, dict | list) for item in items):
        return "contains an item that is not a plain value", _ELSEWHERE
    if any(_plain_problem(item) for item in items):
        return "contains an item that is not a finite number", ""
    odd = find_unfit([_scalar(item, "true", "false") for item in items], separator)
    if odd is None:
        return None
    shown = odd if len(odd) <= 60 else odd[:57] + "..."
    return (
        f"contains the item {shown!r}, which would be read back as several items",
        "Put it in quotes, or split it.",
    )


def _text_problem(text: str, trimmed: Callable[[str], str]) -> Problem | None:
    for character, words in _BREAKS:
        if character in text:
            return f"contains {words}", _ONE_LINE
    if text.endswith("\\"):
        return "ends with a backslash", "Remove it: a backslash there continues on the next line."
    if trimmed(text) != text:
        return "begins or ends with a blank", "Remove it: it would be lost."
    return None


# HTCondor's configuration language: KEY = VALUE, one binding a line.

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
# `if`, `elif`, `else` and `endif` are conditions even before a `=`; the others are commands before a `:`.
_WORDS = frozenset({"if", "elif", "else", "endif", "include", "use", "error", "warning"})


class Condor:
    """The format of files under /etc/condor."""

    name = "condor"

    def write(self, values: Mapping[str, Any], separators: Separators) -> str:
        lines = []
        for name, value in present(values):
            text = text_of(value, separators.get(name), "TRUE", "FALSE")
            lines.append(f"{name} = {text}\n" if text else f"{name} =\n")
        return "".join(lines)

    def spelling(self, name: str) -> str:
        return name.lower()

    def unfit(self, values: Mapping[str, Any], separators: Separators) -> Iterator[Unfit]:
        spelled: dict[str, str] = {}
        for name, value in present(values):
            first = spelled.setdefault(self.spelling(name), name)
            if first != name:
                yield unfit_name(name, f"HTCondor reads {first} and {name} as one name.")
            elif not _NAME.fullmatch(name):
                yield unfit_name(
                    name, f"{name} is not a valid name in HTCondor: use letters, digits, _ and ."
                )
            elif name.lower() in _WORDS:
                yield unfit_name(name, f"{name} is a keyword of HTCondor.")
            # HTCondor strips only C's white space: not a no-break space, for example.
            yield from unfit_value(name, value, separators.get(name), lambda text: text.strip(" \t\n\v\f\r"))


# Environment files, as a shell and systemd read them.

_NAME_ENV = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,-]*")
_SPECIAL = re.compile(r'(["\\$`])')
# Where sh is bash, these are read-only, and the rest of the file would not be read; dash stops at an OPTIND
# that is not a number; each command overwrites `_`.
_OF_SHELLS = frozenset({"BASHOPTS", "BASH_VERSINFO", "EUID", "OPTIND", "PPID", "SHELLOPTS", "UID", "_"})


class Env:
    """The format NAME=value, with quotes where necessary."""

    name = "env"

    def write(self, values: Mapping[str, Any], separators: Separators) -> str:
        found = ((name, text_of(value, separators.get(name))) for name, value in present(values))
        return "".join(f"{name}={_quoted(text)}\n" for name, text in found)

    def spelling(self, name: str) -> str:
        return name

    def unfit(self, values: Mapping[str, Any], separators: Separators) -> Iterator[Unfit]:
        for name, value in present(values):
            if not _NAME_ENV.fullmatch(name):
                yield unfit_name(
                    name, f"{name} is not a valid name of a variable: use letters, digits and _."
                )
            elif name in _OF_SHELLS:
                yield unfit_name(name, f"{name} is a variable that shells set themselves.")
            yield from unfit_value(name, value, separators.get(name))


def _quoted(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    escaped = _SPECIAL.sub(r"\\\1", text)
    return f'"{escaped}"'


# INI files: the part of a name before its last dot is the section.

_NAME_INI = re.compile(r"(?:[A-Za-z0-9_.-]+\.)?[A-Za-z0-9_-]+")


class Ini:
    """The INI format; keys without a section are written first."""

    name = "ini"

    def write(self, values: Mapping[str, Any], separators: Separators) -> str:
        rows = sorted(
            (*_place(name), text_of(value, separators.get(name))) for name, value in present(values)
        )
        parts = []
        for section, found in groupby(rows, key=lambda row: row[0]):
            head = f"[{section}]\n" if section else ""
            parts.append(
                head + "".join(f"{key} = {text}\n" if text else f"{key} =\n" for _, key, text in found)
            )
        return "\n".join(parts)

    def unfit(self, values: Mapping[str, Any], separators: Separators) -> Iterator[Unfit]:
        for name, value in present(values):
            if not _NAME_INI.fullmatch(name):
                yield unfit_name(
                    name, f"{name} is not a valid section and key: use letters, digits, _ and -."
                )
            elif _place(name)[0] == "DEFAULT":
                yield unfit_name(name, f"{name} would be in DEFAULT, which readers add to every section.")
            yield from unfit_value(name, value, separators.get(name), str.strip)


def _place(name: str) -> tuple[str, str]:
    section, _, key = name.rpartition(".")
    return section, key


# Nested formats: json, yaml and toml; dotted names become maps.

# The limit for a repository's YAML; readers of JSON and TOML have limits too.
_LEVELS = 64


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return `a.b` as `b` in a map `a`, with sorted keys. Of names that conflict, the longer is left out."""
    result: dict[str, Any] = {}
    for name, value in present(values):
        *folders, key = name.split(".")
        place = _folder_of(result, folders) if len(folders) < _LEVELS else None
        if place is not None:
            place[key] = value
    ordered: dict[str, Any] = _ordered(result)
    return ordered


def _folder_of(result: dict[str, Any], folders: list[str]) -> dict[str, Any] | None:
    """Return the map for the last part of a name, or None if another name's value is in its place."""
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
    """A map made of dotted names.

    A parameter's own map is of another type, so that nothing is added to it.
    """


def _ordered(value: Any) -> Any:
    """Return the value with the keys of all maps sorted, so that equal values are equal text."""
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value)}
    return [_ordered(item) for item in value] if isinstance(value, list) else value


def unfit_names(values: Mapping[str, Any]) -> Iterator[Unfit]:
    """Yield names with empty parts or too many parts, and names that are prefixes of others."""
    names = {name for name, _ in present(values)}
    for name in sorted(names):
        parts = name.split(".")
        if not all(parts):
            yield unfit_name(name, f"{name} has an empty part next to a dot.")
        if len(parts) > _LEVELS:
            yield unfit_name(
                name, f"{name[:60]}... has {len(parts)} parts, and {_LEVELS} levels are allowed."
            )
        else:
            yield from _inside(name, parts, names)


def _inside(name: str, parts: list[str], names: set[str]) -> Iterator[Unfit]:
    prefix = ""
    for part in parts[:-1]:
        prefix = f"{prefix}.{part}" if prefix else part
        if prefix in names:
            reason = f"{prefix} cannot both have a value and contain {name}."
            yield Unfit(
                "GC310", (prefix, name), reason, f'Rename one, or keep it out: "!{prefix}" under `params:`.'
            )


def unfit_values(values: Mapping[str, Any], problem: Callable[[Any], str | None]) -> Iterator[Unfit]:
    """Yield the first part of each value that a format cannot carry."""
    for name, value in present(values):
        found = next(filter(None, map(problem, _parts(value))), None)
        if found:
            yield Unfit(
                "GC309", (name,), f"{name} {found}.", "Change it, or write it to a file of another format."
            )


def _parts(value: Any) -> Iterator[Any]:
    """Yield all plain values in a value, at any depth."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _parts(item)
    else:
        yield value


def unfit_number(value: Any) -> str | None:
    """Return what is wrong with a number for JSON and similar formats, or None."""
    return "is not a finite number" if isinstance(value, float) and not math.isfinite(value) else None


# JSON.


class Json:
    """The JSON format: one object, indented, its keys in order of name."""

    name = "json"

    def write(self, values: Mapping[str, Any], separators: Separators) -> str:
        text = json.dumps(nested(values), ensure_ascii=False)  # msgspec writes some numbers in another form
        # The same text as with `indent=2`, which takes 2.7 times as long, and leaves reference cycles.
        return msgspec.json.format(text, indent=2) + "\n"

    def unfit(self, values: Mapping[str, Any], separators: Separators) -> Iterator[Unfit]:
        yield from unfit_names(values)
        yield from unfit_values(values, unfit_number)


# YAML, which readers of 1.1 and 1.2 understand alike.


class Yaml:
    """The YAML format: one block mapping, its keys in order of name."""

    name = "yaml"

    def write(self, values: Mapping[str, Any], separators: Separators) -> str:
        from gitcfg.load.yaml import dump

        return dump(nested(values))

    def unfit(self, values: Mapping[str, Any], separators: Separators) -> Iterator[Unfit]:
        yield from unfit_names(values)
        yield from unfit_values(values, unfit_number)


# TOML 1.0.

_INT64 = 1 << 63


class Toml:
    """The TOML format: tables for dotted names, arrays of tables for lists of maps."""

    name = "toml"

    def write(self, values: Mapping[str, Any], separators: Separators) -> str:
        return "".join(_table((), _to_toml(nested(values)), "")).removeprefix("\n")

    def unfit(self, values: Mapping[str, Any], separators: Separators) -> Iterator[Unfit]:
        yield from unfit_names(values)
        yield from unfit_values(values, _problem)


def _problem(value: Any) -> str | None:
    if value is None:
        return "contains a null, which TOML does not support"
    if isinstance(value, int) and not -_INT64 <= value < _INT64:
        return "contains an integer of more than 64 bits"
    return unfit_number(value)


def _to_toml(value: Any) -> Any:
    """Return a value as TOML can represent it: without nulls."""
    if isinstance(value, dict):
        return {key: _to_toml(item) for key, item in value.items() if item is not None}
    return [_to_toml(item) for item in value if item is not None] if isinstance(value, list) else value


def _table(path: tuple[str, ...], table: Mapping[str, Any], header: str) -> Iterator[str]:
    """Yield a table under its header: plain keys, then the tables in it.

    tomli_w writes short arrays of tables on one line, which Telegraf, for example, cannot read.
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


@cache
def formats() -> Mapping[str, Format]:
    """Return every format by name."""
    known: tuple[Format, ...] = (Condor(), Env(), Ini(), Json(), Toml(), Yaml())
    return {format.name: format for format in known}
