"""`gitcfg release`: how far commits have got, and letting a release go on or taking it back."""

import os
import re
import time
from collections.abc import Iterator, Mapping
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gitcfg.cli.declaration import Group, OutputOption, command
from gitcfg.cli.records import Items
from gitcfg.cli.server_state import (
    Database,
    Server,
    StateFolder,
    StateQuery,
    Token,
    ask_server,
    open_state,
    served_repository,
    state_query,
)
from gitcfg.cli.session import Output, Session
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown
from gitcfg.model.text import ABBREVIATED, counted, safe

if TYPE_CHECKING:
    from gitcfg.rollout import FindPresence
    from gitcfg.server.view import Outline
    from gitcfg.state.records import StoredRelease
    from gitcfg.state.state import State


_STATUS_EPILOG = """Examples:

  gitcfg release status                     how far each commit has got, as this machine's server knows

  gitcfg release status --server https://config.example.com

  gitcfg release status -o json             ... for programs"""
_RESUME_EPILOG = """Examples:

  gitcfg release resume 3f2a91c             the halted release goes on; what failed until now counts no more

  gitcfg release resume 3f2a91c --server https://config.example.com

  gitcfg release status && gitcfg release resume 3f2a91c"""
_ABORT_EPILOG = """Examples:

  gitcfg release abort 3f2a91c              nodes that have the commit get the one before it again

  gitcfg release abort 3f2a91c --server https://config.example.com

  gitcfg release abort 3f2a91c && gitcfg undo 3f2a91c"""
_COMMIT = typer.Argument(
    help="The commit: HEAD, a branch, a tag, an id that may be abbreviated.", metavar="REV"
)
_SHOWN = 20
_ID = re.compile(r"[0-9a-f]{4,40}")


@command(_STATUS_EPILOG, Items("gitcfg.releases/1", "releases", "release"))
def status(
    context: typer.Context,
    server: Server = None,
    token: Token = None,
    url: Database = None,
    state: StateFolder = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """Show how far each commit has got, the newest first."""
    from gitcfg.cli.server_state import note_on_tip

    session: Session = context.obj
    said = state_query(context, url, state, server, token)
    if said.server is not None:
        record, place = ask_server(said.server, said.token, "/v1/releases"), None
    else:
        place = served_repository(session)
        with open_state(place, said) as opened:
            record = releases_to_json(session, opened, time.time())
    if text := note_on_tip(place, said):
        session.console(stderr=True).print(text)
    if output is not Output.TEXT:
        from gitcfg.cli.records import write_record

        write_record(record, output)
    else:
        session.write("".join(f"{line}\n" for line in format_releases(record)))
    return 0


@command(_RESUME_EPILOG)
def resume(
    context: typer.Context,
    commit: Annotated[str, _COMMIT],
    server: Server = None,
    token: Token = None,
    url: Database = None,
    state: StateFolder = None,
) -> int:
    """Let a halted release go on: what failed until now counts no more."""
    return _steer(context.obj, "resume", commit, state_query(context, url, state, server, token))


@command(_ABORT_EPILOG)
def abort(
    context: typer.Context,
    commit: Annotated[str, _COMMIT],
    server: Server = None,
    token: Token = None,
    url: Database = None,
    state: StateFolder = None,
) -> int:
    """Take a release back: nodes that have its commit get the one before it again."""
    return _steer(context.obj, "abort", commit, state_query(context, url, state, server, token))


def _steer(session: Session, what: str, revision: str, query: StateQuery) -> int:

    commit = resolve_commit(session, revision)
    found: dict[str, Any]
    if query.server is not None:
        found = ask_server(query.server, query.token, f"/v1/releases/{commit}/{what}", "POST")
    else:
        with open_state(served_repository(session), query) as opened:
            found = steer_release(session, opened, what, commit, time.time())
    session.write("".join(f"{text}\n" for text in (format_release(found), *format_stage(found))))
    return 0


def resolve_commit(session: Session, revision: str) -> str:
    """Return the commit that a revision names, as a server knows it. Raise GitcfgError if it names none.

    What looks like a commit's id need not be here: a release of it may be known all the same.
    """
    plain = _ID.fullmatch(revision) is not None
    try:
        found = served_repository(session)
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


def releases_to_json(session: Session, state: "State", now: float) -> dict[str, Any]:
    """Return `gitcfg.releases/1` out of the database."""
    found = [_release_to_json(session, state, one, now) for one in state.releases.newest(_SHOWN)]
    return {"schema": "gitcfg.releases/1", "releases": found}


def steer_release(session: Session, state: "State", what: str, commit: str, now: float) -> dict[str, Any]:
    """Let a release go on or take it back, and return its record."""
    steer = state.releases.resume if what == "resume" else state.releases.abort
    done = steer(commit, now, os.environ.get("USER", ""))
    return _release_to_json(session, state, done, now)


def _release_to_json(
    session: Session, state: "State", release: "StoredRelease", now: float
) -> dict[str, Any]:
    """Return a release's record. What its nodes report and were to run is looked up while it is active."""
    from gitcfg.server.releases import ACTIVE, release_record_with_nodes

    going = release.progress.status in ACTIVE
    return release_record_with_nodes(
        release, _observe(session, state, release.commit) if going else lambda _: None, now
    )


def _observe(session: Session, state: "State", commit: str) -> "FindPresence":
    """Return how an active release, which is the newest one, sees nodes: its own holds count."""
    from gitcfg.server.releases import observe_nodes
    from gitcfg.server.status import NodeRegistry

    roll, here, today = NodeRegistry(), _outline(session, commit), session.today or date.today()
    roll.read(state.checkins.nodes())
    if here is None:
        return observe_nodes(roll, commit, {}, ())
    held = frozenset(name for hold in here.holds if today <= hold.until for name in hold.nodes)
    return observe_nodes(roll, commit, here.nodes, held)


def _outline(session: Session, commit: str) -> "Outline | None":
    """Return a commit as the server has kept it, None if git no longer has it."""
    from gitcfg.cache import open_cache
    from gitcfg.library import Source
    from gitcfg.server.view import load_outline

    found = served_repository(session)
    if not found.knows(commit):
        return None
    source = Source(found, session.today or date.today(), open_cache(found, os.geteuid()))
    with source.at(commit) as fleet:
        return load_outline(fleet, source.cache)


def format_releases(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each release, and lines with the nodes that it waits for or has lost."""
    if not record["releases"]:
        yield "No commit has been released yet."
    for release in record["releases"]:
        yield format_release(release)
        yield from format_stage(release)


def format_release(release: Mapping[str, Any]) -> str:
    """Say how far a release has got."""
    head = f"{safe(release['commit'][:ABBREVIATED])}  {release['status']}"
    if not release["nodes"]:
        return f"{head}  {'changes no node' if release['base'] else 'the first commit: all nodes at once'}"
    stage = f"stage {release['stage']} of {len(release['stages'])}"
    far = f"{head}  {stage}, {release['offered']} of {counted(release['nodes'], 'node')}"
    said = _format_counts(release)
    far += f": {', '.join(said)}" if said else ""
    return f"{far}; {safe(release['why'])}" if release["why"] else far


def _format_counts(release: Mapping[str, Any]) -> list[str]:
    """Count nodes by outcome, without what the reason of its halt says right after."""
    counts, why = release["counts"] or {}, re.split(", | of ", release["why"])[0].split(" and ")
    said = (f"{number} {what}" for what, number in counts.items() if number)
    return [each for each in said if each not in why]


def format_stage(release: Mapping[str, Any]) -> Iterator[str]:
    """Yield which nodes failed, and which are in the present stage."""
    for label, key in (("failed", "failed"), ("this stage", "present")):
        if release.get(key):
            yield f"  {label}: {safe(release[key])}"


release = Group("Follow commits on their way to nodes.", {"status": status, "resume": resume, "abort": abort})
