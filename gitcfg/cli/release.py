"""`gitcfg release`: how far commits have got, and what to do about them."""

import time
from typing import Annotated, Any

import typer

from gitcfg.cli.database import kept
from gitcfg.cli.serving.place import Database, StateFolder, repository
from gitcfg.cli.serving.remote import Server, Token, ask
from gitcfg.cli.serving.said import Asked, asked
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
_COMMIT = typer.Argument(
    help="The commit: HEAD, a branch, a tag, an id that may be abbreviated.", metavar="REV"
)


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
    from gitcfg.cli.serving.branch import note
    from gitcfg.cli.serving.releases import kept as releases
    from gitcfg.cli.serving.releases import show

    session: Session = context.obj
    said = asked(context, url, state, server, token)
    if said.server is not None:
        record, place = ask(said.server, said.token, "/v1/releases"), None
    else:
        place = repository(session)
        with kept(place, said) as opened:
            record = releases(session, opened, time.time())
    if text := note(place, said):
        session.console(stderr=True).print(text)
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
    return _steer(context.obj, "resume", commit, asked(context, url, state, server, token))


def abort(
    context: typer.Context,
    commit: Annotated[str, _COMMIT],
    server: Server = None,
    token: Token = None,
    url: Database = None,
    state: StateFolder = None,
) -> int:
    """Take a release back: nodes that have its commit get the one before it again."""
    return _steer(context.obj, "abort", commit, asked(context, url, state, server, token))


def _steer(session: Session, what: str, revision: str, said: Asked) -> int:
    from gitcfg.cli.serving.releases import line, named, nodes, steered

    commit = named(session, revision)
    found: dict[str, Any]
    if said.server is not None:
        found = ask(said.server, said.token, f"/v1/releases/{commit}/{what}", "POST")
    else:
        with kept(repository(session), said) as opened:
            found = steered(session, opened, what, commit, time.time())
    session.write("".join(f"{text}\n" for text in (line(found), *nodes(found))))
    return 0
