"""`gitcfg secret list`: all secrets, a line each."""

from typing import Annotated

import typer

from gitcfg.cli.secrets import say
from gitcfg.cli.session import Output, Session

EPILOG = """The nodes are those that get it; `gitcfg secret who` tells who may.

Examples:

  gitcfg secret list

  gitcfg secret list --at main

  gitcfg secret list -o json --folded"""


def command(
    context: typer.Context,
    at: say.At = None,
    output: Annotated[Output, typer.Option("-o", "--output", help="What to write.")] = Output.TEXT,
    folded: say.Folded = False,
) -> None:
    """List the secrets: version, who can read them, how many nodes get them, as which parameters."""
    from gitcfg.cli.secrets.found import looked_up

    session: Session = context.obj
    with looked_up(session, at) as fleet:
        from gitcfg.cli.secrets.told import tell, tell_rows

        if output is Output.TEXT:
            tell_rows(session, fleet)
        else:
            tell(session, fleet, sorted(fleet.model.secrets), (output, folded), lambda _: iter(()))
