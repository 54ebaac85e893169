"""`gitcfg log`: the commits that changed what a node, parameter, feature or group is."""

from typing import Annotated

import typer

from gitcfg.cli.session import Output, Session
from gitcfg.history.log import Subject

EPILOG = """Examples:

  gitcfg log exec001.example.com                    the commits that changed what the node gets

  gitcfg log exec001.example.com START --limit 3    ... and one parameter's value on it

  gitcfg log GpuNode --kind feature --at main -o json"""

_THING = typer.Argument(help="What to ask about, even if it is gone.", metavar="NODE|PARAM|FEATURE|GROUP")
_PARAM = typer.Argument(help="Of a node, only this parameter's value.", metavar="PARAM")
_AT = typer.Option(help="From this commit on; HEAD if nothing is said.", metavar="REV")
_KIND = typer.Option("--kind", help="Which one is meant, where things of several kinds have the name.")


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    app.command(name, epilog=EPILOG)(command)


def command(
    context: typer.Context,
    thing: Annotated[str, _THING],
    param: Annotated[str | None, _PARAM] = None,
    at: Annotated[str, _AT] = "HEAD",
    kind: Annotated[Subject | None, _KIND] = None,
    limit: Annotated[int | None, typer.Option(help="At most so many commits.", metavar="N", min=1)] = None,
    output: Annotated[Output, typer.Option("-o", "--output", help="What to write.")] = Output.TEXT,
) -> int:
    """List only the commits that changed a result, newest first, and what of it."""
    session: Session = context.obj
    log = session.open().log(thing, param, kind=kind, revision=at, limit=limit)
    if output is not Output.TEXT:
        from gitcfg.cli.records import write_record
        from gitcfg.history.log import log_record

        write_record(log_record(log), output)
    else:
        from gitcfg.cli.logged import print_log

        print_log(session, log)
    return 0
