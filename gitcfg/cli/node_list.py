"""`gitcfg node list`: who is accepted, and who has only asked."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.cli.database import nowhere
from gitcfg.cli.serving.place import Database, StateFolder
from gitcfg.cli.serving.remote import Server, Token
from gitcfg.cli.serving.said import Asked, asked
from gitcfg.cli.serving.told import heard
from gitcfg.cli.session import Output, Session
from gitcfg.model import GitcfgError
from gitcfg.model.text import safe

if TYPE_CHECKING:
    from rich.text import Text

    from gitcfg.inventory.keys import Known
    from gitcfg.library import Source
    from gitcfg.state import NodeState

EPILOG = """Examples:

  gitcfg node list --pending                     who waits to be accepted

  gitcfg node list -o json

  gitcfg node list --pending --server https://config.example.com"""

_PENDING = typer.Option("--pending", help="Only those that are not accepted.")


def command(
    context: typer.Context,
    pending: Annotated[bool, _PENDING] = False,
    server: Server = None,
    token: Token = None,
    database: Database = None,
    folder: StateFolder = None,
    output: Annotated[Output, typer.Option("-o", "--output", help="What to write.")] = Output.TEXT,
) -> None:
    """List nodes' keys: those in git, and those of nodes that have only asked the server."""
    from gitcfg.inventory.keys import keys, keys_record

    session: Session = context.obj
    source = session.open()
    with source.worktree() as fleet:
        every = keys(fleet, _seen(source, asked(context, database, folder, server, token), pending))
        found = [one for one in every if one.how.waits] if pending else every
    if output is not Output.TEXT:
        from gitcfg.cli.records import write_record

        write_record(keys_record(found), output)
        return
    console = session.console()
    for line in _lines(found):
        console.print(line)
    if not found:
        session.console(stderr=True).print("Nobody is pending." if pending else "No node has a key.")


def _seen(source: "Source", where: Asked, needed: bool) -> "Iterable[NodeState]":
    """Who has come to the server. GitcfgError: that is needed, and no server keeps its state here."""
    found = heard(source.repository, where)
    if found is None and needed:
        raise GitcfgError(
            "Who is pending is known to the server, and none keeps its state here.", *nowhere().hints
        )
    return found or ()


def _lines(found: "Iterable[Known]") -> "Iterator[Text]":
    from rich.text import Text

    from gitcfg.cli.node_keys import came
    from gitcfg.cli.trails import aligned, placed
    from gitcfg.load.keys import fingerprint

    rows = []
    for one in found:
        place = placed(one.origin) if one.origin is not None else Text(safe(came(one)), "yellow")
        rows.append((Text(safe(one.node), "bold"), Text(fingerprint(one.key)), place))
    return aligned(rows)
