"""Formats of lines: condor, env and ini."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from gitcfg.compile.values import find_unfit, join_list
from gitcfg.render.formats.base import Separators, Unfit, present, unfit_name

_ELSEWHERE = "Write it to a file of format json, yaml or toml."
_ONE_LINE = "Put it on one line, or write it to a file of format json, yaml or toml."
_BREAKS = (("\n", "a line break"), ("\r", "a carriage return"), ("\0", "a NUL character"))

Problem = tuple[str, str]  # what is wrong with a value, and what to do


def text_of(value: Any, separator: str | None, true: str = "true", false: str = "false") -> str:
    """A value as text; a list by its separator."""
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
    """What one line cannot carry; `trimmed` is what the format's reader makes of a text."""
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
        return "is no finite number", ""
    return None


def _list_problem(items: Sequence[Any], separator: str | None) -> Problem | None:
    if any(item is None or isinstance(item, dict | list) for item in items):
        return "holds an item that is no plain value", _ELSEWHERE
    if any(_plain_problem(item) for item in items):
        return "holds an item that is no finite number", ""
    odd = find_unfit([_scalar(item, "true", "false") for item in items], separator)
    if odd is None:
        return None
    shown = odd if len(odd) <= 60 else odd[:57] + "..."
    return (
        f"holds the item {shown!r}, which would not be read back as one item",
        "Put it in quotes, or split it.",
    )


def _text_problem(text: str, trimmed: Callable[[str], str]) -> Problem | None:
    for character, words in _BREAKS:
        if character in text:
            return f"holds {words}", _ONE_LINE
    if text.endswith("\\"):
        return "ends with a backslash", "A backslash there would take the next line in. Take it away."
    if trimmed(text) != text:
        return "begins or ends with a blank", "It would be lost: take it away."
    return None


# HTCondor's configuration language: KEY = VALUE, one binding a line.

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
# `if`, `elif`, `else` and `endif` are conditions even before a `=`; the others are commands before a `:`.
_WORDS = frozenset({"if", "elif", "else", "endif", "include", "use", "error", "warning"})


class Condor:
    """Files below /etc/condor."""

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
        seen: dict[str, str] = {}
        for name, value in present(values):
            first = seen.setdefault(self.spelling(name), name)
            if first != name:
                yield unfit_name(name, f"HTCondor reads {first} and {name} as one name.")
            elif not _NAME.fullmatch(name):
                yield unfit_name(name, f"{name} is no name in HTCondor: letters, digits, _ and . are.")
            elif name.lower() in _WORDS:
                yield unfit_name(name, f"{name} is a word of HTCondor's own language.")
            yield from unfit_value(name, value, separators.get(name), _trimmed)


def _trimmed(text: str) -> str:
    """HTCondor's blanks are those of C; it keeps a no-break space, say."""
    return text.strip(" \t\n\v\f\r")


# Environment files, as a shell and systemd read them.

_NAME_ENV = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,-]*")
_SPECIAL = re.compile(r'(["\\$`])')
# Where sh is bash these are read-only, and the rest of the file would not be read; dash ends at an OPTIND
# that is no number; `_` is set anew with each command.
_OF_SHELLS = frozenset({"BASHOPTS", "BASH_VERSINFO", "EUID", "OPTIND", "PPID", "SHELLOPTS", "UID", "_"})


class Env:
    """NAME=value, in quotes where it must be."""

    name = "env"

    def write(self, values: Mapping[str, Any], separators: Separators) -> str:
        found = ((name, text_of(value, separators.get(name))) for name, value in present(values))
        return "".join(f"{name}={_quoted(text)}\n" for name, text in found)

    def spelling(self, name: str) -> str:
        return name

    def unfit(self, values: Mapping[str, Any], separators: Separators) -> Iterator[Unfit]:
        for name, value in present(values):
            if not _NAME_ENV.fullmatch(name):
                yield unfit_name(name, f"{name} is no name of a variable: letters, digits and _ are.")
            elif name in _OF_SHELLS:
                yield unfit_name(name, f"{name} is a variable that shells set themselves.")
            yield from unfit_value(name, value, separators.get(name))


def _quoted(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    escaped = _SPECIAL.sub(r"\\\1", text)
    return f'"{escaped}"'


# INI files: what stands before the last dot of a name is its section.

_NAME_INI = re.compile(r"(?:[A-Za-z0-9_.-]+\.)?[A-Za-z0-9_-]+")


class Ini:
    """Keys without a section come first."""

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
                yield unfit_name(name, f"{name} is no section and key of letters, digits, _ and -.")
            elif _place(name)[0] == "DEFAULT":
                yield unfit_name(name, f"{name} would stand in DEFAULT, which readers add to every section.")
            yield from unfit_value(name, value, separators.get(name), str.strip)


def _place(name: str) -> tuple[str, str]:
    section, _, key = name.rpartition(".")
    return section, key
