"""`gitcfg node forget`: nodes' keys taken out of git, and those of strangers out of the server's database."""

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.cli import editing as say
from gitcfg.cli.database import address, kept
from gitcfg.cli.serving.place import Database, StateFolder
from gitcfg.cli.serving.remote import Server, Token, ask
from gitcfg.cli.serving.said import Asked, asked
from gitcfg.cli.serving.told import told
from gitcfg.cli.session import Session
from gitcfg.model import GitcfgError
from gitcfg.model.text import safe

if TYPE_CHECKING:
    from gitcfg.edit.draft import Draft
    from gitcfg.library import Source
    from gitcfg.state import NodeState

EPILOG = """Who is accepted is so no more, and may ask again, with another key too.
Of a stranger, and of a node that is gone, the server forgets all.

Examples:

  gitcfg node forget exec042.example.org                  it was scrapped

  gitcfg node forget 'exec[001-100]' --commit -m 'Rack 3 is gone'

  gitcfg node forget stranger --server https://config.example.com"""

_STRANGERS = "Of a stranger a server forgets all: --server URL, --database URL or --state DIR says which."


def command(
    context: typer.Context,
    nodes: Annotated[list[str], typer.Argument(help="Which nodes.", metavar="NODES...")],
    server: Server = None,
    token: Token = None,
    database: Database = None,
    folder: StateFolder = None,
    force: say.Force = False,
    commit: say.Commit = False,
    message: say.Message = None,
) -> int:
    """Forget nodes: take their keys out of keys/, or out of the server's database who is not accepted."""
    from gitcfg.cli.edited import carry, wish
    from gitcfg.cli.node_keys import named
    from gitcfg.edit.keys import forget_keys
    from gitcfg.model.nodeset import abridged

    session: Session = context.obj
    source = session.open()
    with source.worktree() as fleet:
        names = named(fleet.model.settings.max_nodes, nodes)
        accepted = [name for name in names if name in fleet.model.keys]
    strangers = [name for name in names if name not in accepted]
    if strangers:
        _forget(source, strangers, asked(context, database, folder, server, token))
    for name in strangers:
        session.write(f"forgot {safe(name)}\n")
    if not accepted:
        return 0

    def work(draft: "Draft") -> None:
        forget_keys(draft, accepted)

    return carry(session, work, wish(force, commit, message, f"Forget {abridged(accepted)}"))


def _forget(source: "Source", names: list[str], where: Asked) -> None:
    """Let the server know nothing of nodes. GitcfgError: it does not know one, or there is no server."""
    if where.server is not None:
        from urllib.parse import quote

        _refuse_unknown(names, told(source.repository, where))
        for name in names:
            ask(where.server, where.token, f"/v1/nodes/{quote(name, safe='')}/forget", "POST")
        return
    if address(source.repository, where) is None:
        raise GitcfgError(f"git has no key of {safe(names[0])}.", _STRANGERS)
    with kept(source.repository, where) as state:
        _refuse_unknown(names, state.checkins.nodes())
        state.forget(names, time.time())


def _refuse_unknown(names: list[str], came: "Iterable[NodeState]") -> None:
    known = {one.node for one in came}
    unknown = [name for name in names if name not in known]
    if unknown:
        hint = "`gitcfg node list` and `gitcfg node list --pending` tell who has one."
        raise GitcfgError(f"Neither git nor the server knows a key of {safe(unknown[0])}.", hint)
