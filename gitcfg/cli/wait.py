"""`gitcfg wait`: until nodes run a commit."""

import time
from typing import Annotated

import typer

from gitcfg.cli.serving.place import Database, StateFolder
from gitcfg.cli.serving.remote import Server, Token
from gitcfg.cli.session import Session
from gitcfg.model import GitcfgError

EPILOG = """Examples:

  gitcfg wait HEAD                                      until every node runs what was committed last

  gitcfg wait v2 @Workers --timeout 30m                 until a group's nodes do; exit code 5 if they do not

  gitcfg wait main exec[001-010].example.com --server https://config.example.com"""
TIME_RAN_OUT = 5
_TIMEOUT = typer.Option(help="How long at most: 90s, 10m, 2h.", metavar="TIME")
_PAUSE = 1.0


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    app.command(name, epilog=EPILOG)(command)


def command(
    context: typer.Context,
    rev: Annotated[str, typer.Argument(help="The commit.")],
    nodes: Annotated[list[str] | None, typer.Argument(help="Which; all without any.")] = None,
    timeout: Annotated[str, _TIMEOUT] = "1h",
    server: Server = None,
    token: Token = None,
    url: Database = None,
    state: StateFolder = None,
) -> int:
    """Wait until nodes run a commit, or one that comes after it, or just the same."""
    from gitcfg.cli.serving.awaited import Awaited, reports
    from gitcfg.model.durations import seconds

    session: Session = context.obj
    longest = seconds(timeout)
    if longest is None:
        raise GitcfgError(f"{timeout} is no length of time.", "Write 90s, 10m, 2h or 1d.")
    end = time.monotonic() + longest
    with Awaited(session, rev, nodes or ()) as awaited, reports(session, server, token, url, state) as told:
        while True:
            late = awaited.late(told())
            if not late:
                return 0
            if time.monotonic() + _PAUSE > end:
                raise awaited.ran_out(late, TIME_RAN_OUT)
            time.sleep(_PAUSE)
