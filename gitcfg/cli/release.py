"""`gitcfg release`: the progress of releases, and resuming or aborting one."""

import os
import re
import time
from collections.abc import Iterator, Mapping
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gitcfg.cli.declaration import Group, OutputOption, command
from gitcfg.cli.records import Items, write_record
from gitcfg.cli.server_state import (
    Database,
    Server,
    StateFolder,
    StateQuery,
    Token,
    ask_server,
    note_on_tip,
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
    from gitcfg.state.records import StoredRelease
    from gitcfg.state.state import State


_STATUS_EPILOG = """Examples:

  gitcfg release status                     how far each commit has got, as this machine's server knows

  gitcfg release status --server https://config.example.com

  gitcfg release status -o json             ... for programs"""
_RESUME_EPILOG = """Examples:

  gitcfg release resume 3f2a91c             continue; earlier failures no longer count

  gitcfg release resume 3f2a91c --server https://config.example.com

  gitcfg release status && gitcfg release resume 3f2a91c"""
_ABORT_EPILOG = """Examples:

  gitcfg release abort 3f2a91c              nodes that have the commit get the one before it again

  gitcfg release abort 3f2a91c --server https://config.example.com

  gitcfg release abort 3f2a91c && gitcfg undo 3f2a91c"""
_COMMIT = typer.Argument(
    help="The commit: HEAD, a branch, a tag, or an id, which may be abbreviated.", metavar="REV"
)
_SHOWN = 20
_ID = re.compile(r"[0-9a-f]{4,40}")


RELEASES = Items("gitcfg.releases/1", "releases", "release")


@command(_STATUS_EPILOG, RELEASES)
def status(
    context: typer.Context,
    server: Server = None,
    token: Token = None,
    url: Database = None,
    state: StateFolder = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """Show the progress of each commit's release, newest first."""
    session: Session = context.obj
    query = state_query(context, url, state, server, token)
    if query.server is not None:
        record, repository = ask_server(query.server, query.token, "/v1/releases"), None
    else:
        repository, now = served_repository(session), time.time()
        with open_state(repository, query) as opened:
            releases = [_release_to_json(session, opened, one, now) for one in opened.releases.newest(_SHOWN)]
            record = {"schema": "gitcfg.releases/1", "releases": releases}
    if text := note_on_tip(repository, query):
        session.console(stderr=True).print(text)
    if output is not Output.TEXT:
        write_record(record, output)
        return 0
    lines = [line for release in record["releases"] for line in _format_whole(release)]
    session.write("\n".join((*(lines or ["No commit has been released yet."]), "")))
    return 0


@command(_RESUME_EPILOG, RELEASES)
def resume(
    context: typer.Context,
    commit: Annotated[str, _COMMIT],
    server: Server = None,
    token: Token = None,
    url: Database = None,
    state: StateFolder = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """Resume a halted release: failures until now are ignored."""
    return _steer(context.obj, "resume", commit, state_query(context, url, state, server, token), output)


@command(_ABORT_EPILOG, RELEASES)
def abort(
    context: typer.Context,
    commit: Annotated[str, _COMMIT],
    server: Server = None,
    token: Token = None,
    url: Database = None,
    state: StateFolder = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """Abort a release: nodes that have its commit return to the previous one."""
    return _steer(context.obj, "abort", commit, state_query(context, url, state, server, token), output)


def _steer(session: Session, action: str, revision: str, query: StateQuery, output: Output) -> int:
    commit = resolve_commit(session, revision)
    if query.server is not None:
        record = ask_server(query.server, query.token, f"/v1/releases/{commit}/{action}", "POST")
    else:
        with open_state(served_repository(session), query) as opened:
            now = time.time()
            steer = opened.releases.resume if action == "resume" else opened.releases.abort
            done = steer(commit, now, os.environ.get("USER", ""))
            record = _release_to_json(session, opened, done, now)
    if output is not Output.TEXT:
        found = {key: value for key, value in record.items() if key != "schema"}  # a server's answer has one
        write_record({"schema": RELEASES.schema, "releases": [found]}, output)
    else:
        session.write("".join(f"{line}\n" for line in _format_whole(record)))
    return 0


def resolve_commit(session: Session, revision: str) -> str:
    """Return the commit that a revision names, as a server knows it. Raise GitcfgError if it names none.

    A commit's id need not exist here: the server may have a release of it all the same.
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


def _release_to_json(
    session: Session, state: "State", release: "StoredRelease", now: float
) -> dict[str, Any]:
    """Return a release's record. While it is active, it has the reports of its nodes."""
    from gitcfg.server.releases import ACTIVE, release_record_with_nodes

    active = release.progress.status in ACTIVE
    find = _observe(session, state, release.commit) if active else lambda _: None
    return release_record_with_nodes(release, find, now)


def _observe(session: Session, state: "State", commit: str) -> "FindPresence":
    """Return the presence of nodes for an active release, which is the newest one: its own holds apply."""
    from gitcfg.cache import open_cache
    from gitcfg.library import Source
    from gitcfg.server.releases import observe_nodes
    from gitcfg.server.status import NodeRegistry
    from gitcfg.server.view import load_outline

    registry, repository, today = NodeRegistry(), served_repository(session), session.today or date.today()
    registry.read(state.checkins.nodes())
    if not repository.knows(commit):  # git no longer has it
        return observe_nodes(registry, commit, {}, ())
    source = Source(repository, today, open_cache(repository, os.geteuid()))
    with source.at(commit) as fleet:
        outline = load_outline(fleet, source.cache)
    held = frozenset(name for hold in outline.holds if today <= hold.until for name in hold.nodes)
    return observe_nodes(registry, commit, outline.nodes, held)


def format_release(release: Mapping[str, Any]) -> str:
    """Format the progress of a release."""
    head = f"{safe(release['commit'][:ABBREVIATED])}  {release['status']}"
    if not release["nodes"]:
        return f"{head}  {'changes no node' if release['base'] else 'the first commit: all nodes at once'}"
    stage = f"stage {release['stage']} of {len(release['stages'])}"
    line = f"{head}  {stage}, {release['offered']} of {counted(release['nodes'], 'node')}"
    counts = [f"{number} {outcome}" for outcome, number in (release["counts"] or {}).items() if number]
    # Without the counts that the reason of its halt has in the next part.
    halted = re.split(", | of ", release["why"])[0].split(" and ")
    counts = [count for count in counts if count not in halted]
    line += f": {', '.join(counts)}" if counts else ""
    return f"{line}; {safe(release['why'])}" if release["why"] else line


def _format_whole(release: Mapping[str, Any]) -> Iterator[str]:
    """Yield the progress of a release, then the failed nodes, and those in the present stage."""
    yield format_release(release)
    for label, key in (("failed", "failed"), ("this stage", "present")):
        if release.get(key):
            yield f"  {label}: {safe(release[key])}"


release = Group(
    "Show, resume or abort the releases of commits to nodes.",
    {"status": status, "resume": resume, "abort": abort},
)
