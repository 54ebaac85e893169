"""The names that statements read or set at once, whichever of them count."""

from collections.abc import Iterable

from gitcfg.convert.condor.conditions import find_condition_names
from gitcfg.convert.condor.knobs import Lookup, expand_knobs
from gitcfg.convert.condor.lines import Line
from gitcfg.convert.condor.sources import Source
from gitcfg.convert.condor.statements import Statement, StatementKind, parse_statements
from gitcfg.model import GitcfgError

MAX_LEVELS = 16
"""So deep in conditions and knobs an import follows."""


def find_names(found: Iterable[Statement], lookup: Lookup, level: int = 0) -> frozenset[str] | None:
    """The names in lower case; None: it may be any."""
    result: set[str] = set()
    for statement in found:
        inner = None if level > MAX_LEVELS else _names_of_statement(statement, lookup, level)
        if inner is None:
            return None
        result |= inner
    return frozenset(result)


def _names_of_statement(statement: Statement, lookup: Lookup, level: int) -> frozenset[str] | None:
    if statement.kind in (StatementKind.COMPUTED, StatementKind.INCLUDE) or "$" in statement.name:
        return None
    if statement.name:
        return frozenset((statement.name.lower(),))
    if statement.kind in (StatementKind.IF, StatementKind.ELIF):
        return frozenset(find_condition_names(statement.rest))
    return _names_of_knobs(statement, lookup, level) if statement.kind is StatementKind.USE else frozenset()


def _names_of_knobs(statement: Statement, lookup: Lookup, level: int) -> frozenset[str] | None:
    result: set[str] = set()
    for _, body in expand_knobs(statement.rest, lookup):
        inside = parse_knob(body, statement.line)
        inner = None if inside is None else find_names(inside, lookup, level + 1)
        if inner is None:
            return None
        result |= inner
    return frozenset(result)


def parse_knob(body: str | None, line: Line) -> list[Statement] | None:
    """A knob's statements, as if they stood where it is used; None: they are not certain."""
    if body is None:
        return None
    try:
        found = list(parse_statements(Source(line.file, body)))
    except GitcfgError:
        return None
    lines = (Line(line.file, line.number, inner.line.text, inner.line.raw) for inner in found)
    return [Statement(one.kind, one.name, one.rest, at) for one, at in zip(found, lines, strict=True)]
