"""`gitcfg secret who`: who has a secret, who may have it, and who can read it."""

from typing import Annotated

import typer

from gitcfg.cli.secrets import say
from gitcfg.cli.session import Output, Session

EPILOG = """Nodes may have it where `for` in its file holds; they get it where it is the value of a parameter.

Examples:

  gitcfg secret who pool-password

  gitcfg secret who pool-password --at main

  gitcfg secret who pool-password -o json"""


def command(
    context: typer.Context,
    name: say.Name,
    at: say.At = None,
    output: Annotated[Output, typer.Option("-o", "--output", help="What to write.")] = Output.TEXT,
    folded: say.Folded = False,
) -> None:
    """Show which nodes get a secret, which may have it, and which people and servers can read it."""
    from gitcfg.cli.secrets.found import looked_up

    session: Session = context.obj
    with looked_up(session, at) as fleet:
        from gitcfg.cli.secrets.told import tell, who

        tell(session, fleet, [name], (output, folded), who)
