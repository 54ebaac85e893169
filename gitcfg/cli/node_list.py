"""`gitcfg node list`: who is accepted, and who has only asked."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.cli.database import Asked, address, opened
from gitcfg.cli.plain import safe
from gitcfg.cli.serving.place import Database, StateFolder
from gitcfg.cli.session import Output, Session
from gitcfg.model import GitcfgError

if TYPE_CHECKING:
    from rich.text import Text

    from gitcfg.inventory.keys import Known
    from gitcfg.library import Source
    from gitcfg.state import NodeState

EPILOG = """Examples:

  gitcfg node list --pending                     who waits to be accepted

  gitcfg node list -o json

  gitcfg node list --pending --database postgresql://gitcfg@db/gitcfg"""

_PENDING = typer.Option("--pending", help="Only those that are not accepted.")


def command(
    context: typer.Context,
    pending: Annotated[bool, _PENDING] = False,
    database: Database = None,
    folder: StateFolder = None,
    output: Annotated[Output, typer.Option("-o", "--output", help="What to write.")] = Output.TEXT,
) -> None:
    """List nodes' keys: those in git, and those of nodes that have only asked the server."""
    from gitcfg.inventory.keys import How, keys, keys_record

    session: Session = context.obj
    source = session.open()
    with source.worktree() as fleet:
        every = keys(fleet, _seen(source, Asked(database, folder), pending))
        found = [one for one in every if one.how is How.PENDING] if pending else every
    if output is not Output.TEXT:
        from gitcfg.cli.records import write_record

        write_record(keys_record(found), output)
        return
    console = session.console()
    for line in _lines(found):
        console.print(line)
    if not found:
        session.console(stderr=True).print("Nobody is pending." if pending else "No node has a key.")


def _seen(source: "Source", asked: Asked, needed: bool) -> "Iterable[NodeState]":
    """Who has come to the server. GitcfgError: that is needed, and no database is known."""
    url = address(source.repository, asked)
    if url is None and needed:
        hint = "Say --database URL; beside the repository there is none."
        raise GitcfgError("Who is pending stands in the server's database, and none is known here.", hint)
    if url is None:
        return ()
    with opened(url) as state:
        return state.checkins.nodes()


def _lines(found: "Iterable[Known]") -> "Iterator[Text]":
    from rich.text import Text

    from gitcfg.cli.trails import aligned, placed
    from gitcfg.load.keys import fingerprint

    rows = []
    for one in found:
        where = safe(f"{one.how.value} {one.address}".rstrip())
        place = placed(one.origin) if one.origin is not None else Text(where, "yellow")
        rows.append((Text(safe(one.node), "bold"), Text(fingerprint(one.key)), place))
    return aligned(rows)
