"""HTCondor configuration and ClassAd expressions, checked by HTCondor's own code.

Macros that refer to each other in a cycle hang or end HTCondor, so cycles are found first. Text that gitcfg
did not write is parsed only if every line is a setting: `include` reads files and may run programs. HTCondor
reads most texts exactly as they are written, which is quick to see; only the others are compared value by
value.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from ctypes import c_char_p, c_int
from functools import cache, lru_cache
from typing import Any

from gitcfg.compile.classad import Expansion, find_lookups, find_macros
from gitcfg.compile.values import join_list
from gitcfg.model.graph import components
from gitcfg.parsers.child.data import Meant, RawVerdict, flat_differences
from gitcfg.parsers.child.htcondor import bindings, htcondor, symbol, table

_PROGRAMS = """
collector credd dagman defrag gangliad gridmanager had job_router kbdd master negotiator replication rooster
schedd shadow shared_port startd starter submit tool
"""
_DAEMONS = frozenset(_PROGRAMS.split())
_HINT = "HTCondor does not finish when macros refer to each other in a cycle: change one of the values."


def circles(values: Mapping[str, str]) -> Iterator[RawVerdict]:
    """Yield the cycles among the settings of a file, in general and for each daemon with its own settings."""
    named = {name.lower(): name for name in values}
    lower = {name.lower(): value for name, value in values.items()}
    found: set[tuple[str, ...]] = set()
    for daemon in ("", *sorted(_DAEMONS & {name.partition(".")[0] for name in lower if "." in name})):
        edges = _edges(lower, f"{daemon}.")
        for members in components(edges):
            if members not in found and (len(members) > 1 or members[0] in edges.get(members[0], ())):
                found.add(members)
                yield _circle_verdict(members, edges, named)


def _edges(values: Mapping[str, str], prefix: str) -> dict[str, list[str]]:
    """Return which settings expand which others when one daemon looks names up.

    For every $(X) that the schedd expands, HTCondor looks for `SCHEDD.X` before `X`.
    """
    own = {name.removeprefix(prefix): name for name in values if name.startswith(prefix)}
    seen = {**values, **{name: values[full] for name, full in own.items()}}
    return {
        name: [own.get(target, target) for target in _targets(name, value, prefix, seen)]
        for name, value in values.items()
        if "$" in value and own.get(name, name) == name
    }


def _targets(name: str, value: str, prefix: str, seen: Mapping[str, str]) -> Iterator[str]:
    """Yield the names that a value expands later.

    Its own name in it is not one of them: HTCondor replaces that at once, as it reads the file.
    """
    itself = (name, name.removeprefix(prefix))
    for target, macro in find_lookups(value, seen):
        if not (macro.at_once and target in itself):
            yield target


def _circle_verdict(
    members: tuple[str, ...], edges: Mapping[str, list[str]], named: Mapping[str, str]
) -> RawVerdict:
    names = tuple(sorted(named[member] for member in members))
    within = {member: next(target for target in edges[member] if target in members) for member in members}
    words = ", ".join(f"{named[member]} uses {named[within[member]]}" for member in members)
    return RawVerdict(f"has macros that form a cycle: {words}", params=names, hint=_HINT)


# HTCondor configuration that gitcfg did not write: its settings, and what the parser must not read.

_BLANKS = " \t\v\f\r"
_COMMAND = re.compile(r"[@:\s]*(include|use)(?=[\s:]|\Z)", re.IGNORECASE)
_CONDITION = re.compile(r":?(?:if|elif|else)(?=\s|\Z)", re.IGNORECASE)
_LONG_VALUE = re.compile(r"[^=:]*@=")
_SETTING = re.compile(r"([A-Za-z_][A-Za-z0-9_.]*)\s*[=:]\s*(.*)", re.DOTALL)


def refused(text: str) -> RawVerdict | None:
    """Return why the parser must not read a text, or None."""
    if "\0" in text:
        return _not_judged("it contains a NUL character", text.count("\n", 0, text.index("\0")) + 1)
    for number, line in (*enumerate(text.split("\n"), 1), *lines(text)):
        command = _COMMAND.match(line)
        if command is not None:
            return _not_judged(f"it uses `{command[1].lower()}`", number)
        if _LONG_VALUE.match(line) and not line.lstrip(_BLANKS).startswith("#"):
            return _not_judged("it uses `@=`", number)
    return None


def _not_judged(why: str, line: int) -> RawVerdict:
    reason = f"is not checked with HTCondor's own parser: {why} at line {line}"
    return RawVerdict(reason, line, hint="It may be valid; it was only not checked.", grave=False)


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines as HTCondor joins them, comments included, each with the number of its last line.

    A line that ends with a backslash continues, and a comment in between counts as blank. Parsers differ on
    whether a comment as the first of such lines continues, so both ways are given.
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
        yield len(ended) + bool(last), "".join([*whole, last])  # without a line end it is unchanged


def settings(text: str) -> dict[str, str]:
    """Return the settings of a text, by name as it is written; the last line for a name counts.

    With conditions the result is empty, since it is not known which lines count.
    """
    found: dict[str, tuple[str, str]] = {}
    for _, line in _joined(text, comments_go_on=False):
        if _CONDITION.match(line):
            return {}
        setting = _SETTING.fullmatch(line)
        if setting is not None:
            found[setting[1].lower()] = (setting[1], setting[2])
    return dict(found.values())


# Checks of HTCondor configuration that do not need HTCondor's parser.


def judge_condor_text(config: str, meant: Meant | None) -> Iterator[RawVerdict]:
    """Yield what prevents parsing: commands that reach beyond the text, and macros in cycles."""
    if meant is not None:
        yield from circles(
            {name: write_text(name, value, meant.separators) for name, value in meant.values.items()}
        )
        return
    command = refused(config)
    if command is not None:
        yield command
    else:
        yield from circles(settings(config))


def write_text(name: str, value: Any, separators: Mapping[str, str | None]) -> str:
    """Return a value as it is in the file, except for the case of booleans."""
    return join_list(value, separators.get(name)) if isinstance(value, list) else str(value)


# HTCondor configuration, by HTCondor's own parser: it accepts a text and reads the same raw values.

_WORDS = frozenset({"true", "false"})


def judge_condor(text: str, meant: Meant | None) -> Iterator[RawVerdict]:
    """Yield what is wrong with a text. If the parser rejects it, HTCondor ends the process."""
    read = htcondor()
    found = list(judge_condor_text(text, meant))
    yield from found
    if found or read is None:
        return
    values = read(text)
    if meant is not None:
        separators = meant.separators
        yield from flat_differences(
            values,
            meant,
            str.lower,
            lambda read, name, value: in_its_way(read, name, write_text(name, value, separators)),
        )


def in_its_way(read: str, name: str, text: str) -> bool:
    """Return whether HTCondor's own way of reading explains the difference.

    It keeps the case of its own default, and replaces a setting's own name in the value as it reads it.
    """
    own = [macro for macro in find_macros(text) if macro.at_once and macro.body.lower() == name.lower()]
    if not own:
        return text.lower() in _WORDS and read.lower() == text.lower()
    head, tail = text[: own[0].start], text[own[-1].end :]
    return len(read) >= len(head) + len(tail) and read.startswith(head) and read.endswith(tail)


# Whether HTCondor reads a text as it is written. Nearly all texts are, so this check must be quick.

_EMPTY, _EMPTY_READ = b" =\n", b" = \n"


def as_written(text: str) -> bool:
    """Return whether HTCondor reads a text as it is written. If the parser rejects it, the process ends."""
    read = table()
    if read is None or ("$" in text and _circular(tuple(_leading(text)))):
        return False
    wanted = text.encode()
    found = read(wanted)
    if found == wanted or found == (wanted := wanted.replace(_EMPTY, _EMPTY_READ)):
        return True
    return _alike(found.decode(errors="backslashreplace"), wanted.decode())


def _leading(text: str) -> Iterator[str]:
    """Yield the lines that cycles depend on: with macros, of daemons, and empty ones (defaults count)."""
    for line in text.split("\n"):
        if "$" in line or line.endswith("=") or "." in line.partition(" ")[0]:
            yield line


@lru_cache(maxsize=256)
def _circular(lines: tuple[str, ...]) -> bool:
    """Return whether the macros have a cycle. Cached, since classes hardly differ in these lines."""
    return any(circles(dict(map(_setting, lines))))


def _setting(line: str) -> tuple[str, str]:
    name, _, value = line.partition(" =")
    return name, value.removeprefix(" ")


def _alike(found: str, wanted: str) -> bool:
    """Return whether two texts are the same, except for differences that `in_its_way` explains."""
    had, want = set(found.split("\n")), set(wanted.split("\n"))
    other = {name.lower(): value for name, value in map(_setting, had - want)}
    for name, text in map(_setting, want - had):
        read = other.pop(name.lower(), None)
        if read is None or not (read == text or in_its_way(read, name, text)):
            return False
    return not other


# ClassAd expressions, by HTCondor's own parser. A daemon would log an invalid one, and ignore it.

_BACKSLASH = re.compile(r'\\(?!"(?!\s*\Z))')
"""In configuration only a backslash before a quote is special, unless both are at the end of the text."""


def judge_classad(text: str, meant: Meant | None) -> Iterator[RawVerdict]:
    """Yield a verdict if a text, with the defaults of its macros, is not a valid expression.

    Texts with macros that have no default are not checked, nor are empty ones.
    """
    find = defaults()
    whole = Expansion(find, find).of(text) + "\n"  # the line end closes a comment
    if "$" not in whole and whole.strip() and not (parses(whole) or parses(_BACKSLASH.sub(r"\\\\", whole))):
        yield RawVerdict("is rejected by HTCondor's own parser")


def parses(text: str) -> bool:
    """Return whether a text is a ClassAd expression."""
    from classad2 import ClassAdException, ExprTree  # type: ignore[import-untyped]

    try:
        ExprTree(text)
    except (ClassAdException, ValueError):  # it contains a NUL
        return False
    return True


@cache
def defaults() -> Callable[[str], str | None]:
    """Return a function from a lower-case name to its raw default in HTCondor's own table, or None."""
    library = bindings()
    name = symbol(library, "_Z24param_default_name_by_idi", c_char_p, c_int)
    value = symbol(library, "_Z26param_default_rawval_by_idi", c_char_p, c_int)
    found: dict[str, str] = {}
    number = 0
    while key := name(number):
        raw = value(number)
        if raw is not None:
            found[key.decode().lower()] = raw.decode(errors="replace")
        number += 1
    return found.get
