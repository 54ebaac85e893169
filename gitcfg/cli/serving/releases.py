"""Releases out of the database, and for eyes."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from gitcfg.cli.plain import ABBREVIATED, counted, safe
from gitcfg.cli.serving.place import repository
from gitcfg.cli.session import Session
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

if TYPE_CHECKING:
    from gitcfg.server.outline import Line
    from gitcfg.server.roll import Roll
    from gitcfg.state import State, StoredRelease

_SHOWN = 20
_ID = re.compile(r"[0-9a-f]{4,40}")


def named(session: Session, revision: str) -> str:
    """The commit that a revision names, as a server knows it. GitcfgError: it names none.

    What looks like a commit's id need not be here: a release of it may be known all the same.
    """
    plain = _ID.fullmatch(revision) is not None
    try:
        found = repository(session)
        if found.knows(revision):
            return str(found.commit(revision).id)
    except GitcfgError:
        if not plain:
            raise
    if not plain:
        raise GitcfgError(
            f"There is no revision {shown(revision)}.", "`gitcfg release status` lists commits."
        )
    return revision


def kept(session: Session, state: "State", now: float) -> dict[str, Any]:
    """`gitcfg.releases/1` out of the database."""
    from gitcfg.server.roll import Roll

    roll = Roll()
    roll.read(state.checkins.nodes())
    found = [_record(session, one, roll, now) for one in state.releases.newest(_SHOWN)]
    return {"schema": "gitcfg.releases/1", "releases": found}


def steered(session: Session, state: "State", what: str, commit: str, now: float) -> dict[str, Any]:
    """A release, once it goes on or was taken back."""
    from gitcfg.server.roll import Roll
    from gitcfg.state.steering import abort, resume

    done = (resume if what == "resume" else abort)(state, commit, now, os.environ.get("USER", ""))
    roll = Roll()
    roll.read(state.checkins.nodes())
    return _record(session, done, roll, now)


def _record(session: Session, release: "StoredRelease", roll: "Roll", now: float) -> dict[str, Any]:
    """A release. What nodes were to run is not asked for where it is over."""
    from gitcfg.server.release_records import GOING, named_record

    lines = _lines(session, release.commit) if release.progress.status in GOING else {}
    return named_record(release, lines, roll, now)


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
    """A line for each release, and which nodes it waits for or has lost."""
    if not record["releases"]:
        yield "No commit has been released yet."
    for release in record["releases"]:
        yield line(release)
        yield from nodes(release)


def line(release: Mapping[str, Any]) -> str:
    """How far a release has got."""
    head = f"{safe(release['commit'][:ABBREVIATED])}  {release['status']}"
    if not release["nodes"]:
        return f"{head}  changes no node"
    counts = ", ".join(f"{number} {what}" for what, number in release["counts"].items() if number)
    stage = f"stage {release['stage']} of {len(release['stages'])}"
    far = f"{head}  {stage}, {release['offered']} of {counted(release['nodes'], 'node')}"
    far += f": {counts}" if counts else ""
    return f"{far}; {safe(release['why'])}" if release["why"] else far


def nodes(release: Mapping[str, Any]) -> Iterator[str]:
    """Which nodes failed, and which are in the present stage."""
    for label, key in (("failed", "failed"), ("this stage", "present")):
        if release.get(key):
            yield f"  {label}: {safe(release[key])}"
