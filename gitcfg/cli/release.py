"""`gitcfg release`: how far commits have got, and what to do about them."""

import time
from typing import Annotated, Any

import typer

from gitcfg.cli.serving.place import Database, StateFolder, database
from gitcfg.cli.serving.remote import Server, Token, ask
from gitcfg.cli.session import Output, Session

_STATUS = """Examples:

  gitcfg release status                     how far each commit has got, as this machine's server knows

  gitcfg release status --server https://config.example.com

  gitcfg release status -o json             ... for programs"""
_RESUME = """Examples:

  gitcfg release resume 3f2a91c             the halted release goes on; what failed until now counts no more

  gitcfg release resume 3f2a91c --server https://config.example.com

  gitcfg release status && gitcfg release resume 3f2a91c"""
_ABORT = """Examples:

  gitcfg release abort 3f2a91c              nodes that have the commit get the one before it again

  gitcfg release abort 3f2a91c --server https://config.example.com

  gitcfg release abort 3f2a91c && gitcfg undo 3f2a91c"""
_COMMIT = typer.Argument(help="The commit, which may be abbreviated.", metavar="REV")


def register(app: typer.Typer, name: str) -> None:
    """Make the commands known."""
    group = typer.Typer(rich_markup_mode=None, help="Follow commits on their way to nodes.")
    group.command("status", epilog=_STATUS)(status)
    group.command("resume", epilog=_RESUME)(resume)
    group.command("abort", epilog=_ABORT)(abort)
    group.callback()(_group)
    app.add_typer(group, name=name)


def _group() -> None:
    """Follow commits on their way to nodes, let halted ones go on, or take them back."""


def status(
    context: typer.Context,
    server: Server = None,
    token: Token = None,
    url: Database = None,
    state: StateFolder = None,
    output: Annotated[Output, typer.Option("-o", "--output", help="What to write.")] = Output.TEXT,
) -> int:
    """Show how far each commit has got, the newest first."""
    from gitcfg.cli.serving.releases import kept, show

    session: Session = context.obj
    if server is not None:
        record = ask(server, token, "/v1/releases")
    else:
        with database(session, url, state) as opened:
            record = kept(session, opened, time.time())
    if output is not Output.TEXT:
        from gitcfg.cli.records import write_record

        write_record(record, output)
    else:
        session.write("".join(f"{line}\n" for line in show(record)))
    return 0


def resume(
    context: typer.Context,
    commit: Annotated[str, _COMMIT],
    server: Server = None,
    token: Token = None,
    url: Database = None,
    state: StateFolder = None,
) -> int:
    """Let a halted release go on: what failed until now counts no more."""
    return _steer(context.obj, "resume", commit, (server, token), (url, state))


def abort(
    context: typer.Context,
    commit: Annotated[str, _COMMIT],
    server: Server = None,
    token: Token = None,
    url: Database = None,
    state: StateFolder = None,
) -> int:
    """Take a release back: nodes that have its commit get the one before it again."""
    return _steer(context.obj, "abort", commit, (server, token), (url, state))


def _steer(
    session: Session,
    what: str,
    commit: str,
    remote: tuple[str | None, str | None],
    here: tuple[str | None, str | None],
) -> int:
    from gitcfg.cli.serving.releases import line, steered

    found: dict[str, Any]
    if remote[0] is not None:
        from urllib.parse import quote

        found = ask(remote[0], remote[1], f"/v1/releases/{quote(commit, safe='')}/{what}", "POST")
    else:
        with database(session, *here) as opened:
            found = steered(session, opened, what, commit, time.time())
    session.write(f"{line(found)}\n")
    return 0
