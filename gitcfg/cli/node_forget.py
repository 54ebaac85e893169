"""`gitcfg node forget`: nodes' keys taken out of git, and those of strangers out of the server's database."""

from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.cli import editing as say
from gitcfg.cli.database import Asked, address, opened
from gitcfg.cli.plain import safe
from gitcfg.cli.serving.place import Database, StateFolder
from gitcfg.cli.session import Session
from gitcfg.model import GitcfgError

if TYPE_CHECKING:
    from gitcfg.edit.draft import Draft
    from gitcfg.library import Source

EPILOG = """Who is accepted is so no more, and may ask again, with another key too.
Of a stranger, and of a node that is gone, the server forgets all.

Examples:

  gitcfg node forget exec042.example.org                  it was scrapped

  gitcfg node forget 'exec[001-100]' --commit -m 'Rack 3 is gone'

  gitcfg node forget stranger --database sqlite:////var/lib/gitcfg/state.db"""


def command(
    context: typer.Context,
    nodes: Annotated[list[str], typer.Argument(help="Which nodes.", metavar="NODES...")],
    database: Database = None,
    folder: StateFolder = None,
    force: say.Force = False,
    commit: say.Commit = False,
    message: say.Message = None,
) -> int:
    """Forget nodes: take their keys out of keys/, or out of the server's database who is not accepted."""
    from gitcfg.cli.edited import carry, wish
    from gitcfg.cli.node_keys import named
    from gitcfg.edit.keys import forget
    from gitcfg.nodeset import fold

    session: Session = context.obj
    source = session.open()
    with source.worktree() as fleet:
        names = named(fleet.model.settings.max_nodes, nodes)
        accepted = [name for name in names if name in fleet.model.keys]
    strangers = [name for name in names if name not in accepted]
    known = _forget(source, strangers, Asked(database, folder)) if strangers else ()
    for name in known:
        session.write(f"forgot {safe(name)}\n")
    if not accepted:
        return 0

    def work(draft: "Draft") -> None:
        forget(draft, accepted)

    return carry(session, work, wish(force, commit, message, f"Forget {fold(accepted)}"))


def _forget(source: "Source", names: list[str], asked: Asked) -> tuple[str, ...]:
    """Let the server's database know nothing of nodes. GitcfgError: it does not know one."""
    url = address(source.repository, asked)
    if url is None:
        raise GitcfgError(f"git has no key of {safe(names[0])}.", "--database URL forgets who only asked.")
    with opened(url) as state:
        unknown = [name for name in names if state.checkins.node(name) is None]
        if unknown:
            raise GitcfgError(f"Neither git nor the server knows a key of {safe(unknown[0])}.")
        state.checkins.forget(names)
    return tuple(names)
