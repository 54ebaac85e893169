"""`gitcfg show`: definitions, who uses them, and where they win."""

from typing import Annotated

import typer

from gitcfg.cli.declaration import command
from gitcfg.cli.records import Items
from gitcfg.cli.session import Output, Session

EPILOG = """Kinds: node, group, feature, parameter, subsystem, nodeset, override, hold, secret, template,
file, setting. Settings that win on no node at all are findings: see `gitcfg check` (GC501).

Examples:

  gitcfg show groups                      all of them, with their features and nodes counted

  gitcfg show parameter START             who binds it, on which nodes that wins, what depends on it

  gitcfg show file /etc/motd --at main    who brings a file (a name without / is one under files/)"""


@command(EPILOG, Items("gitcfg.definitions/1", "definitions", "definition"))
def show(
    context: typer.Context,
    kind: Annotated[str, typer.Argument(help="What to show: a kind, in the plural too, or its beginning.")],
    name: Annotated[str | None, typer.Argument(help="Its name; without one, all of the kind.")] = None,
    at: Annotated[str | None, typer.Option(help="A commit instead of the work tree.", metavar="REV")] = None,
    output: Annotated[Output, typer.Option("-o", "--output", help="What to write.")] = Output.TEXT,
    folded: Annotated[
        bool, typer.Option("--folded", help="JSON: only node sets, no lists of nodes.")
    ] = False,
) -> int:
    """Show definitions: what they say, who uses them, and where that wins."""
    from gitcfg.explain.show import define, find_kind

    session: Session = context.obj
    found = find_kind(kind)
    with session.fleet(at) as fleet:
        from gitcfg.cli.definitions import write_definition, write_summaries

        if name is None:
            write_summaries(session, fleet, found, found.summaries(fleet.compiled), output)
        else:
            write_definition(
                session, fleet, found, define(fleet.compiled, fleet.engine, found, name), output, folded
            )
    return 0
