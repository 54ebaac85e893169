"""`gitcfg configure`: a conversation about what a node or group has."""

from typing import Annotated

import typer

from gitcfg.cli.declaration import command
from gitcfg.cli.session import Session

EPILOG = """It asks on a terminal, shows after each step what that means, and writes nothing until you say so.

Examples:

  gitcfg configure exec001.example.com    a node

  gitcfg configure group/Workers          a group; say so where a node has the same name

  gitcfg configure nodeset/exec           all nodes of a set at once"""
_WHAT = typer.Argument(
    help="A node, group or node set; group/NAME and so on where it is not clear.", metavar="NODE|GROUP"
)


@command(EPILOG)
def configure(context: typer.Context, what: Annotated[str, _WHAT]) -> int:
    """Configure a node or group in a conversation: features, the values they need, and what changes."""
    from gitcfg.cli.configure.dialogue import Conversation, check_terminal, open_talk
    from gitcfg.cli.configure.prompt import converse
    from gitcfg.edit.configure import find_target

    session: Session = context.obj
    check_terminal()
    source = session.open()
    with source.worktree() as fleet:
        target = find_target(fleet.model, what)
        return converse(Conversation(session, source, open_talk(session), target, fleet))
