"""`gitcfg node accept`: nodes' keys into git."""

import sys
from typing import Annotated

import typer

from gitcfg.cli import editing as say
from gitcfg.cli.serving.place import Database, StateFolder
from gitcfg.cli.serving.remote import Server, Token
from gitcfg.cli.serving.said import asked
from gitcfg.cli.session import Session
from gitcfg.model import GitcfgError

EPILOG = """Compare the fingerprint with what `gitcfg-agent key` says on the node. Of a @group, or with
--where, those are accepted that have come; who is named must have.
Keys come from nodes that have asked the server, or from a file with lines NODE ssh-ed25519 AAAA...,
which may be OpenSSH's own (*.pub) for one node.

Examples:

  gitcfg node accept @rack3 --yes --commit                   all of a rack that have asked, without a question

  gitcfg node accept exec042 --from exec042.pub --replace    it was set up anew

  gitcfg node accept exec042 --fingerprint SHA256:2Yef...    several keys compete for its name"""

_FROM = typer.Option("--from", help="A file that holds keys; - is stdin.", metavar="FILE")
_NODES = typer.Argument(
    help="Nodes: names, exec[001-100], @group; without any, all in the file.", metavar="NODES"
)
_WHERE = typer.Option(help="Those for which this holds, of what git says.", metavar="CEL")
_FINGERPRINT = typer.Option(
    "--fingerprint",
    help="Only this key (SHA256:...), as `gitcfg-agent key` shows it; several: say it again.",
    metavar="FINGERPRINT",
    show_default=False,
)
_REPLACE = typer.Option("--replace", help="Take the new key of a node that has another one.")


def command(
    context: typer.Context,
    nodes: Annotated[list[str] | None, _NODES] = None,
    file: Annotated[str | None, _FROM] = None,
    replace: Annotated[bool, _REPLACE] = False,
    fingerprint: Annotated[list[str] | None, _FINGERPRINT] = None,
    yes: Annotated[bool, typer.Option("-y", "--yes", help="Do not ask.")] = False,
    where: Annotated[str | None, _WHERE] = None,
    server: Server = None,
    token: Token = None,
    database: Database = None,
    folder: StateFolder = None,
    force: say.Force = False,
    commit: say.Commit = False,
    message: say.Message = None,
) -> int:
    """Accept nodes: write their keys into keys/, once the fingerprints are agreed to."""
    from gitcfg.cli.edited import carry, wish
    from gitcfg.cli.node_keys import Wanted, agreed, handed_over
    from gitcfg.edit.draft import Draft
    from gitcfg.edit.keys import KnownKeys, accept_keys
    from gitcfg.model.nodeset import abridged

    session: Session = context.obj
    source = session.open()
    said = asked(context, database, folder, server, token)
    another = KnownKeys.REPLACE if replace else KnownKeys.KEEP
    _refuse_unasked(yes)
    keys = handed_over(source, Wanted(tuple(nodes or ()), where, file, tuple(fingerprint or ())), said)

    def work(draft: Draft) -> None:
        accept_keys(draft, keys, another)

    work(Draft(source.repository.worktree()))  # nobody is asked about what will be refused
    if not agreed(session, keys, yes):
        return 1
    wished = wish(force, commit, message, f"Accept {'node' if len(keys) == 1 else 'nodes'} {abridged(keys)}")
    return carry(session, work, wished)


def _refuse_unasked(yes: bool) -> None:
    """GitcfgError: somebody is to be asked, and there is no terminal to do it on."""
    if not yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
        message = "Whether a key is the right one is asked, and there is no terminal to ask on."
        raise GitcfgError(message, "--yes answers beforehand.")
