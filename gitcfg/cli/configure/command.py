"""`gitcfg configure`: an interactive dialog about a node or group."""

from typing import Annotated

import typer

from gitcfg.cli.declaration import command
from gitcfg.cli.session import Session

EPILOG = """Asks on a terminal, shows the effect of each step, and writes nothing until you confirm.

Examples:

  gitcfg configure exec001.example.com    a node

  gitcfg configure group/Workers          a group, where a node has the same name

  gitcfg configure nodeset/exec           all nodes of a set at once"""
_WHAT = typer.Argument(
    help="A node, group or node set; use group/NAME and so on if the name is ambiguous.", metavar="NODE|GROUP"
)


@command(EPILOG)
def configure(context: typer.Context, what: Annotated[str, _WHAT]) -> int:
    """Configure a node or group interactively: features, the values that they need, and what changes."""
    from gitcfg.cli.configure.conversation import Conversation
    from gitcfg.cli.configure.prompt import converse
    from gitcfg.cli.configure.terminal import check_terminal, open_talk
    from gitcfg.edit.configure import find_target

    session: Session = context.obj
    check_terminal()
    source = session.open()
    with source.worktree() as fleet:
        target = find_target(fleet.model, what)
        return converse(Conversation(session, source, open_talk(session), target, fleet))
