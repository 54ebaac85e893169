"""`gitcfg configure`: features and parameters of a node or group, step by step, in a terminal."""

from typing import Annotated

import typer

from gitcfg.cli.session import Session

EPILOG = """It asks on a terminal, shows after each step what that means, and writes nothing until you say so.

Examples:

  gitcfg configure exec001.example.com    a node

  gitcfg configure group/Workers          a group; say so where a node has the same name

  gitcfg configure nodeset/exec           all nodes of a set at once"""

_WHAT = typer.Argument(
    help="A node, group or node set; group/NAME and so on where it is not clear.", metavar="NODE|GROUP"
)


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    app.command(name, epilog=EPILOG)(command)


def command(context: typer.Context, what: Annotated[str, _WHAT]) -> int:
    """Configure a node or group in a conversation: features, the values they need, and what changes."""
    from gitcfg.cli.configure.conversation import Conversation
    from gitcfg.cli.configure.menu import converse
    from gitcfg.cli.configure.talk import refuse_unasked, talking
    from gitcfg.edit.configure import find_target

    session: Session = context.obj
    refuse_unasked()
    source = session.open()
    with source.worktree() as fleet:
        found = find_target(fleet.model, what)
        return converse(Conversation(session, source, talking(session), found, fleet))
