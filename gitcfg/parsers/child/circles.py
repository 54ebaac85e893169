"""Macros that lead to one another in a circle: HTCondor hangs or dies of them."""

from collections.abc import Iterator, Mapping

from gitcfg.compile.macros import looked_up
from gitcfg.model.graph import components
from gitcfg.parsers.child.said import Said

_PROGRAMS = """
collector credd dagman defrag gangliad gridmanager had job_router kbdd master negotiator replication rooster
schedd shadow shared_port startd starter submit tool
"""
_DAEMONS = frozenset(_PROGRAMS.split())
_HINT = "HTCondor finds no end where macros lead back to themselves: give one of them another value."


def circles(values: Mapping[str, str]) -> Iterator[Said]:
    """The circles among what a file sets, in general and for each daemon with settings of its own."""
    named = {name.lower(): name for name in values}
    lower = {name.lower(): value for name, value in values.items()}
    told: set[tuple[str, ...]] = set()
    for daemon in ("", *sorted(_DAEMONS & {name.partition(".")[0] for name in lower if "." in name})):
        edges = _edges(lower, f"{daemon}.")
        for members in components(edges):
            if members not in told and (len(members) > 1 or members[0] in edges.get(members[0], ())):
                told.add(members)
                yield _told(members, edges, named)


def _edges(values: Mapping[str, str], prefix: str) -> dict[str, list[str]]:
    """Which settings expand which others where one daemon looks names up.

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
    """What a value expands later: its own name in it is replaced at once, as the file is read."""
    itself = (name, name.removeprefix(prefix))
    for target, macro in looked_up(value, seen):
        if not (macro.at_once and target in itself):
            yield target


def _told(members: tuple[str, ...], edges: Mapping[str, list[str]], named: Mapping[str, str]) -> Said:
    names = tuple(sorted(named[member] for member in members))
    within = {member: next(target for target in edges[member] if target in members) for member in members}
    words = ", ".join(f"{named[member]} leads to {named[within[member]]}" for member in members)
    return Said(f"leads HTCondor in a circle: {words}", params=names, hint=_HINT)
