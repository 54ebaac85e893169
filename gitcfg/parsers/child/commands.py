"""HTCondor configuration that gitcfg did not write: its settings, and what no parser here is given.

`include` reads other files and may run programs; `use` and `@=` are refused with it, so that a line is
always a line. A file with them may be right: it is only not judged.
"""

import re
from collections.abc import Iterator

from gitcfg.parsers.child.said import Said

_BLANKS = " \t\v\f\r"
_COMMAND = re.compile(r"[@:\s]*(include|use)(?=[\s:]|\Z)", re.IGNORECASE)
_CONDITION = re.compile(r":?(?:if|elif|else)(?=\s|\Z)", re.IGNORECASE)
_LONG_VALUE = re.compile(r"[^=:]*@=")
_SETTING = re.compile(r"([A-Za-z_][A-Za-z0-9_.]*)\s*[=:]\s*(.*)", re.DOTALL)


def refused(text: str) -> Said | None:
    """Why the parser is not given a text."""
    if "\0" in text:
        return _said("it holds a NUL character", text.count("\n", 0, text.index("\0")) + 1)
    for number, line in (*enumerate(text.split("\n"), 1), *lines(text)):
        command = _COMMAND.match(line)
        if command is not None:
            return _said(f"it says `{command[1].lower()}`", number)
        if _LONG_VALUE.match(line) and not line.lstrip(_BLANKS).startswith("#"):
            return _said("it says `@=`", number)
    return None


def _said(why: str, line: int) -> Said:
    reason = f"is not given to HTCondor's own parser, for {why} at line {line}"
    return Said(reason, line, hint="It may be right all the same: it is only not judged.", grave=False)


def lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines as HTCondor joins them, each with the number of its last: comments and all.

    A line goes on where it ends with a backslash, and a comment within is blank; whether the first of
    such lines being a comment ends that differs, so both ways are given.
    """
    for comments_go_on in (False, True):
        yield from _joined(text, comments_go_on)


def _joined(text: str, comments_go_on: bool) -> Iterator[tuple[int, str]]:
    whole: list[str] = []
    *ended, last = text.split("\n")
    for number, line in enumerate(ended, 1):
        part = line.strip(_BLANKS)
        if whole and part.startswith("#") and not comments_go_on:
            part = part[-1:]
        ends = not part.endswith("\\") or (not comments_go_on and not whole and part.startswith("#"))
        whole.append(part.removesuffix("\\"))
        if ends:
            yield number, "".join(whole)
            whole = []
    if whole or last:
        yield len(ended) + bool(last), "".join([*whole, last])  # without a line's end it is taken as it is


def settings(text: str) -> dict[str, str]:
    """What a text sets, by name as it is written there; the last line for a name counts.

    Nothing where there are conditions: which lines count is not known then.
    """
    found: dict[str, tuple[str, str]] = {}
    for _, line in _joined(text, comments_go_on=False):
        if _CONDITION.match(line):
            return {}
        setting = _SETTING.fullmatch(line)
        if setting is not None:
            found[setting[1].lower()] = (setting[1], setting[2])
    return dict(found.values())
