"""`gitcfg node accept`: nodes' keys into git."""

import sys
from typing import Annotated

import typer

from gitcfg.cli import editing as say
from gitcfg.cli.database import Asked
from gitcfg.cli.serving.place import Database, StateFolder
from gitcfg.cli.session import Session
from gitcfg.model import GitcfgError

EPILOG = """Compare the fingerprint with what `gitcfg-agent key` says on the node.
Keys come from nodes that have asked the server, or from a file with lines NODE ssh-ed25519 AAAA...,
which may be OpenSSH's own (*.pub) for one node.

Examples:

  gitcfg node accept exec042.example.org                     it has asked the server of this repository

  gitcfg node accept 'exec[001-100]' --yes --commit          a whole rack, without being asked

  gitcfg node accept exec042 --from exec042.pub --replace    it was set up anew"""

_FROM = typer.Option("--from", help="A file that holds keys; - is stdin.", metavar="FILE")
_NODES = typer.Argument(help="Which nodes; without any, all in the file.", metavar="NODES")
_REPLACE = typer.Option("--replace", help="Take the new key of a node that has another one.")


def command(
    context: typer.Context,
    nodes: Annotated[list[str] | None, _NODES] = None,
    file: Annotated[str | None, _FROM] = None,
    replace: Annotated[bool, _REPLACE] = False,
    yes: Annotated[bool, typer.Option("-y", "--yes", help="Do not ask.")] = False,
    database: Database = None,
    folder: StateFolder = None,
    force: say.Force = False,
    commit: say.Commit = False,
    message: say.Message = None,
) -> int:
    """Accept nodes: write their keys into keys/, once the fingerprints are agreed to."""
    from gitcfg.cli.edited import carry, wish
    from gitcfg.cli.node_keys import agreed, handed_over
    from gitcfg.edit.draft import Draft
    from gitcfg.edit.keys import Another, accept
    from gitcfg.nodeset import fold

    session: Session = context.obj
    source = session.open()
    another = Another.REPLACE if replace else Another.KEEP
    _refuse_unasked(yes)
    keys = handed_over(source, tuple(nodes or ()), file, Asked(database, folder))

    def work(draft: Draft) -> None:
        accept(draft, keys, another)

    work(Draft(source.repository.worktree()))  # nobody is asked about what will be refused
    if not agreed(session, keys, yes):
        return 1
    wished = wish(force, commit, message, f"Accept {'node' if len(keys) == 1 else 'nodes'} {fold(keys)}")
    return carry(session, work, wished)


def _refuse_unasked(yes: bool) -> None:
    """GitcfgError: somebody is to be asked, and there is no terminal to do it on."""
    if not yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
        message = "Whether a key is the right one is asked, and there is no terminal to ask on."
        raise GitcfgError(message, "--yes answers beforehand.")
