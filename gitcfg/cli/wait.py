"""`gitcfg wait`: until nodes run a commit."""

from typing import Annotated

import typer

from gitcfg.cli.serving.place import Database, StateFolder
from gitcfg.cli.serving.remote import Server, Token
from gitcfg.cli.serving.said import asked
from gitcfg.cli.session import Session
from gitcfg.model import GitcfgError

EPILOG = """Exit code 5: time ran out. Exit code 3: the release is halted or aborted, so nobody else gets it.

Examples:

  gitcfg wait HEAD                                      until every node runs what was committed last

  gitcfg wait v2 @Workers --timeout 30m                 until a group's nodes do; exit code 5 if they do not

  gitcfg wait main exec[001-010].example.com --server https://config.example.com"""
_NODES = typer.Argument(
    help="Nodes: names, exec[001-100], @group; all without any. Where nodes walk in, also such.",
    metavar="NODES",
)
_WHERE = typer.Option(help="Nodes for which this holds.", metavar="CEL")
_TIMEOUT = typer.Option(help="How long at most: 90s, 10m, 2h.", metavar="TIME")


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    app.command(name, epilog=EPILOG)(command)


def command(
    context: typer.Context,
    rev: Annotated[str, typer.Argument(help="The commit.", metavar="REV")],
    nodes: Annotated[list[str] | None, _NODES] = None,
    where: Annotated[str | None, _WHERE] = None,
    timeout: Annotated[str, _TIMEOUT] = "1h",
    server: Server = None,
    token: Token = None,
    url: Database = None,
    state: StateFolder = None,
) -> int:
    """Wait until nodes run a commit, or one that comes after it, or just the same."""
    from gitcfg.cli.serving.awaited import Awaited
    from gitcfg.cli.serving.branch import note
    from gitcfg.cli.serving.place import repository
    from gitcfg.cli.serving.watching import Looking, watch
    from gitcfg.model.text import seconds

    session: Session = context.obj
    longest = seconds(timeout)
    if longest is None:
        raise GitcfgError(f"{timeout} is no length of time.", "Write 90s, 10m, 2h or 1d.")
    said, place = asked(context, url, state, server, token), repository(session)
    with Awaited(session, rev, nodes or (), where) as awaited:
        if text := note(place, said):
            session.console(stderr=True).print(text)
        watch(Looking(place, said), awaited, longest)
    return 0
