"""The verification of an import: HTCondor reads what is rendered as it reads what was given."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from gitcfg.compile.fleet import Fleet, compile_tree
from gitcfg.compile.values import split_list
from gitcfg.convert.condor.host import SETTINGS, ReadFile
from gitcfg.convert.condor.htcondor import HTCondor
from gitcfg.convert.condor.syntax import StatementKind, parse_statements
from gitcfg.convert.notes import Note, Place
from gitcfg.git.tree import DictTree
from gitcfg.model.names import shown
from gitcfg.parsers.child.condor import lines
from gitcfg.render.files import separators
from gitcfg.render.formats.flat import Condor

_ANY_DAY = date(1970, 1, 1)  # nothing that is imported depends on it
_MOST_SILENT = 20  # each may take all the time that a child has
_INCLUDE = re.compile(r"[@:\s]*include\b", re.IGNORECASE)
_USE = re.compile(r"[@:\s]*use\b(.*)", re.IGNORECASE | re.DOTALL)


def verify_hosts(
    files: Mapping[str, str], hosts: Mapping[str, Sequence[ReadFile]], condor: HTCondor, notes: list[Note]
) -> int:
    """Return how many hosts are read alike; note the differences of all others."""
    if not condor.version:
        reason = "HTCondor's bindings are not installed, so nothing was compared; the extra is [htcondor]."
        Place(notes, "host", "").look("", reason)
        return 0
    fleet = compile_tree(DictTree(dict(files)), _ANY_DAY)
    alike = silent = 0
    for name in sorted(hosts):
        if silent >= _MOST_SILENT:
            reason = f"It was not compared, for HTCondor's parser has had no answer for {silent} others."
            Place(notes, "host", name).look("", reason)
            continue
        problems = list(_find_differences(join_given(hosts[name]), render_texts(fleet, name), fleet, condor))
        alike += not problems
        silent += any(not field for field, _ in problems)
        for field, reason in problems:
            Place(notes, "host", name).look(field, reason)
    return alike


def join_given(read: Iterable[ReadFile]) -> str:
    """Return the text that HTCondor reads, with each `include` replaced by its file, or by nothing."""
    return "".join(map(_insert_included, read))


def _insert_included(read: ReadFile) -> str:
    text = read.source.text
    lines = (text if text.endswith("\n") or not text else f"{text}\n").split("\n")
    for statement in parse_statements(read.source):
        if statement.kind is StatementKind.INCLUDE:
            first = statement.line.number - 1
            last = first + statement.line.raw.count("\n")
            lines[first:last] = [""] * (last - first)
            if statement.line.number in read.included:
                lines[first] = _insert_included(read.included[statement.line.number]).removesuffix("\n")
    return "\n".join(lines)


def render_texts(fleet: Fleet, name: str) -> list[str]:
    """Return the files of a node in the order in which HTCondor reads them."""
    node = fleet[name]
    settings = Condor().write(node.params, separators(fleet, node.params))
    return [settings if path == SETTINGS else node.entries[path].text or "" for path in sorted(node.entries)]


def _find_differences(
    before: str, after: Sequence[str], fleet: Fleet, condor: HTCondor
) -> Iterator[tuple[str, str]]:
    if not all(_reads_nothing_else(text, condor) for text in (before, *after)):
        yield "", "It was not compared: a knob that it uses reads other files."
        return
    was, now = condor.read([before]), condor.read(after)
    if isinstance(was, str) or isinstance(now, str):
        which, why = ("the given files", was) if isinstance(was, str) else ("what is rendered", now)
        yield "", f"It was not compared: with {which}, HTCondor's own parser {why}."
        return
    kinds = {name.lower(): (each.type, each.separator) for name, each in fleet.model.parameters.items()}
    for name in sorted({*was, *now}):
        old, new = was.get(name), now.get(name)
        if old != new and _normalize(old, kinds.get(name)) != _normalize(new, kinds.get(name)):
            yield name.upper(), f"HTCondor read {_quote(old)} before, and reads {_quote(new)} now."


def _reads_nothing_else(text: str, condor: HTCondor) -> bool:
    """Return whether neither a text nor the knobs that it uses include other files."""
    seen: set[str] = set()
    texts = [text]
    while texts:
        one = texts.pop()
        for _, line in (*enumerate(one.split("\n")), *lines(one)):
            if _INCLUDE.match(line):
                return False
            found = _USE.match(line)
            bodies = _knob_bodies(found[1], condor) if found is not None else ()
            texts += [body for body in bodies if body not in seen]
            seen.update(bodies)
    return True


def _knob_bodies(use: str, condor: HTCondor) -> list[str]:
    """Return the texts of the knobs that a `use` may name."""
    category, _, rest = use.partition(":")
    found = (condor.knob(category.strip(), name) for name in re.findall(r"[A-Za-z_]\w*", rest))
    return [body for body in found if body is not None]


def _normalize(text: str | None, kind: tuple[Any, Any] | None) -> object:
    """Return a value without insignificant blanks, list separators, and the case of booleans."""
    if text is None or kind is None:
        return text
    if str(kind[0]) == "list":
        return split_list(text, kind[1])
    # HTCondor itself keeps the case of a default that is only written otherwise.
    return text.lower() if text.lower() in ("true", "false") else " ".join(text.split())


def _quote(text: str | None) -> str:
    return "nothing" if text is None else shown(repr(text))
