"""`gitcfg inventory`: nodes with what they run, and when they last checked in."""

import time
from enum import StrEnum
from typing import Annotated

import typer

from gitcfg.cli.server_state import Database, Server, StateFolder, Token, state_query
from gitcfg.cli.session import Session
from gitcfg.model import GitcfgError

EPILOG = """States: ok, behind, failed, refused, reverted, away, drifted, held, never, pending, retired, gone.
Without a server or its database only what git says is told, and what was deployed from here. Conditions also
see node.state, node.checkin, node.since, node.commit, node.outcome, node.via (agent, deploy), node.drifted,
node.version, node.seen (its own facts) and age(TIME).

Examples:

  gitcfg inventory                                       all nodes, and how many are well

  gitcfg inventory --where 'age(node.checkin) > duration("2h") && "rack3" in node.groups' --sort checkin

  gitcfg inventory @gpu --columns name,state,facts -o csv"""


class Form(StrEnum):
    """What to write an inventory as: a table is for eyes, the rest for programs."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    YAML = "yaml"
    CSV = "csv"


_NODES = typer.Argument(help="Nodes: names, exec[001-100], @group.", metavar="NODES")
_SORT = typer.Option(help="The column to sort by; -COLUMN turns it round.", metavar="COLUMN")
_COLUMNS = typer.Option(help="What to tell, in a table or CSV.", metavar="COLUMN,COLUMN")
_AT = typer.Option(help="The commit that nodes shall run; HEAD if nothing is said.", metavar="REV")


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    app.command(name, epilog=EPILOG)(command)


def command(
    context: typer.Context,
    nodes: Annotated[list[str] | None, _NODES] = None,
    where: Annotated[str | None, typer.Option(help="Nodes for which this holds.", metavar="CEL")] = None,
    sort: Annotated[str, _SORT] = "name",
    columns: Annotated[str | None, _COLUMNS] = None,
    at: Annotated[str | None, _AT] = None,
    server: Server = None,
    token: Token = None,
    database: Database = None,
    folder: StateFolder = None,
    output: Annotated[Form, typer.Option("-o", "--output", help="What to write.")] = Form.TABLE,
) -> None:
    """List nodes with what they run and when they last checked in."""
    from gitcfg.cli.inventoried import Wanted, found

    if columns is not None and output not in (Form.TABLE, Form.CSV):
        raise GitcfgError(f"-o {output} tells everything.", "--columns goes with a table or CSV.")
    session: Session = context.obj
    now = time.time()
    wanted = Wanted(
        tuple(nodes or ()), where, sort, at, state_query(context, database, folder, server, token)
    )
    inventory = found(session.open(), wanted, now)
    from gitcfg.cli.inventory_told import tell

    tell(session, inventory, columns, output.value)
    for note in inventory.notes:
        session.console(stderr=True).print(note)
