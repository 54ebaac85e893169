"""Releases out of the database, and for eyes."""

import os
import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

from gitcfg.cli.serving.place import repository
from gitcfg.cli.session import Session
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown
from gitcfg.model.text import ABBREVIATED, counted, safe

if TYPE_CHECKING:
    from gitcfg.rollout.outcomes import Look
    from gitcfg.server.outline import Outline
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
    found = [_record(session, state, one, now) for one in state.releases.newest(_SHOWN)]
    return {"schema": "gitcfg.releases/1", "releases": found}


def steered(session: Session, state: "State", what: str, commit: str, now: float) -> dict[str, Any]:
    """A release, once it goes on or was taken back."""
    from gitcfg.state.steering import abort, resume

    done = (resume if what == "resume" else abort)(state, commit, now, os.environ.get("USER", ""))
    return _record(session, state, done, now)


def _record(session: Session, state: "State", release: "StoredRelease", now: float) -> dict[str, Any]:
    """A release. What nodes have said, and were to run, is not asked for where it is over."""
    from gitcfg.server.release_records import ACTIVE, release_record_with_nodes

    going = release.progress.status in ACTIVE
    return release_record_with_nodes(
        release, _look(session, state, release.commit) if going else lambda _: None, now
    )


def _look(session: Session, state: "State", commit: str) -> "Look":
    """How a release that is not over, so is the newest one, sees nodes: its holds are those that count."""
    from gitcfg.server.release_records import observe_nodes
    from gitcfg.server.roll import NodeRegistry

    roll, here, today = NodeRegistry(), _outline(session, commit), session.today or date.today()
    roll.read(state.checkins.nodes())
    if here is None:
        return observe_nodes(roll, commit, {}, ())
    held = frozenset(name for hold in here.holds if today <= hold.until for name in hold.nodes)
    return observe_nodes(roll, commit, here.nodes, held)


def _outline(session: Session, commit: str) -> "Outline | None":
    """A commit as the server has kept it; None: git no longer has it."""
    from gitcfg.cache import open_cache
    from gitcfg.library import Source
    from gitcfg.server.outline import load_outline

    found = repository(session)
    if not found.knows(commit):
        return None
    source = Source(found, session.today or date.today(), open_cache(found, os.geteuid()))
    with source.at(commit) as fleet:
        return load_outline(fleet, source.cache)


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
        return f"{head}  {'changes no node' if release['base'] else 'the first commit: all nodes at once'}"
    stage = f"stage {release['stage']} of {len(release['stages'])}"
    far = f"{head}  {stage}, {release['offered']} of {counted(release['nodes'], 'node')}"
    said = _counts(release)
    far += f": {', '.join(said)}" if said else ""
    return f"{far}; {safe(release['why'])}" if release["why"] else far


def _counts(release: Mapping[str, Any]) -> list[str]:
    """What nodes have made of it, but for what the reason of its halt says just after."""
    counts, why = release["counts"] or {}, re.split(", | of ", release["why"])[0].split(" and ")
    said = (f"{number} {what}" for what, number in counts.items() if number)
    return [each for each in said if each not in why]


def nodes(release: Mapping[str, Any]) -> Iterator[str]:
    """Which nodes failed, and which are in the present stage."""
    for label, key in (("failed", "failed"), ("this stage", "present")):
        if release.get(key):
            yield f"  {label}: {safe(release[key])}"
