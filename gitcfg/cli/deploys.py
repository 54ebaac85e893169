"""`gitcfg deploys`: what was deployed over SSH from here, and what it has come to."""

import time
from typing import Annotated

import typer

from gitcfg.cli.server_state import Database, Server, StateFolder, Token, state_query
from gitcfg.cli.session import Output, Session
from gitcfg.model import GitcfgError

EPILOG = """A deploy ends as done, or as what kept it from going on. One whose program was ended is broken
off, and what became of some nodes is unknown: `gitcfg deploy --resume RUN` goes on with those not well.

Examples:

  gitcfg deploys                            the last ones, the newest first

  gitcfg deploys 1pkd3a0                    one of them; how its id begins or ends will do, or last

  gitcfg deploys --send 1pkd3a0 --server https://config.example.com"""
_RUN = typer.Argument(help="A deploy: its id, how that begins or ends, or last.", metavar="RUN")
_SEND = typer.Option(help="Tell the server, or its database, what this one did; once counts.", metavar="RUN")


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    app.command(name, epilog=EPILOG)(command)


def command(
    context: typer.Context,
    run: Annotated[str | None, _RUN] = None,
    send: Annotated[str | None, _SEND] = None,
    server: Server = None,
    token: Token = None,
    database: Database = None,
    folder: StateFolder = None,
    output: Annotated[Output, typer.Option("-o", "--output", help="What to write.")] = Output.TEXT,
) -> int:
    """List what was deployed over SSH from here, by whom and when, or show one deploy by node."""
    from gitcfg.cli.deploys_told import listed, one, sent

    session: Session = context.obj
    now = time.time()
    if send is not None:
        if run is not None or output is not Output.TEXT:
            raise GitcfgError("--send tells one deploy, and writes nothing else.", "Say it alone.")
        return sent(session, send, state_query(context, database, folder, server, token), now)
    if run is not None:
        return one(session, run, output, now)
    return listed(session, output, now)
