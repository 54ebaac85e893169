"""`gitcfg search`: where a text stands in definitions."""

from typing import Annotated

import typer

from gitcfg.cli.session import Output, Session

EPILOG = """Examples:

  gitcfg search gpu                           in names, descriptions and values of everything

  gitcfg search "ticket 4711"                 a text with a blank in it

  gitcfg search slot partitionable -o json    only definitions that hold both"""


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    app.command(name, epilog=EPILOG)(command)


def command(
    context: typer.Context,
    texts: Annotated[list[str], typer.Argument(help="Texts; small and capital letters are the same.")],
    at: Annotated[str | None, typer.Option(help="A commit instead of the work tree.", metavar="REV")] = None,
    output: Annotated[Output, typer.Option("-o", "--output", help="What to write.")] = Output.TEXT,
) -> int:
    """Find texts in names, descriptions and values. Exits 1 if there is nothing."""
    session: Session = context.obj
    with session.fleet(at) as fleet:
        from gitcfg.explain.search import matches_record, search

        matches = search(fleet.compiled, texts)
        if output is not Output.TEXT:
            from gitcfg.cli.records import write_record

            write_record(matches_record(fleet.commit, texts, matches), output)
        else:
            from gitcfg.cli.matched import print_matches

            print_matches(session.console(), matches)
            if not matches:
                session.console(stderr=True).print("Nothing is found.", style="yellow")
    return int(not matches)
