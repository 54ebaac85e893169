"""Releases out of the database, and for eyes."""

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from gitcfg.cli.plain import ABBREVIATED, counted, safe
from gitcfg.cli.serving.place import repository
from gitcfg.cli.session import Session

if TYPE_CHECKING:
    from gitcfg.server.outline import Line
    from gitcfg.state import State, StoredRelease

_SHOWN = 20


def kept(session: Session, state: "State", now: float) -> dict[str, Any]:
    """`gitcfg.releases/1` out of the database."""
    releases = state.releases.newest(_SHOWN)
    return {
        "schema": "gitcfg.releases/1",
        "releases": [_record(session, state, one, now) for one in releases],
    }


def steered(session: Session, state: "State", what: str, commit: str, now: float) -> dict[str, Any]:
    """A release, once it goes on or was taken back."""
    from gitcfg.state.steering import abort, resume

    done = resume if what == "resume" else abort
    return _record(session, state, done(state, commit, now, os.environ.get("USER", "")), now)


def _record(session: Session, state: "State", release: "StoredRelease", now: float) -> dict[str, Any]:
    from gitcfg.server.release_records import release_record
    from gitcfg.server.roll import Roll

    roll = Roll()
    roll.read(state.checkins.nodes())
    return release_record(release, _lines(session, release.commit), roll, now)


def _lines(session: Session, commit: str) -> "Mapping[str, Line]":
    """The nodes at a commit, as the server has kept them; none where git no longer has it."""
    from datetime import date

    from gitcfg.cache.cache import cache_of
    from gitcfg.library import Source
    from gitcfg.server.outline import outline

    found = repository(session)
    if not found.knows(commit):
        return {}
    source = Source(found, session.today or date.today(), cache_of(found, os.geteuid()))
    with source.at(commit) as fleet:
        return outline(fleet, source.cache).nodes


def show(record: Mapping[str, Any]) -> Iterator[str]:
    """A line for each release."""
    if not record["releases"]:
        yield "No commit has been released yet."
    yield from map(line, record["releases"])


def line(release: Mapping[str, Any]) -> str:
    """How far a release has got."""
    head = f"{release['commit'][:ABBREVIATED]}  {release['status']}"
    if not release["nodes"]:
        return f"{head}  changes no node"
    stage = f"stage {release['stage']} of {len(release['stages'])}"
    counts = ", ".join(f"{number} {what}" for what, number in release["counts"].items() if number)
    far = f"{head}  {stage}, {release['offered']} of {counted(release['nodes'], 'node')}: {counts}"
    return f"{far}; {safe(release['why'])}" if release["why"] else far
