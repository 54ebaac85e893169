"""`gitcfg serve token`: by which people and programs are known to the server."""

import time
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

import typer

from gitcfg.cli.plain import safe
from gitcfg.cli.serving.place import Database, StateFolder, database
from gitcfg.cli.session import Session, write

_CREATE = """Examples:

  gitcfg serve token create alice                      she may look

  gitcfg serve token create ops --role operate         ... and resume and abort releases

  GITCFG_TOKEN=$(gitcfg serve token create ci) gitcfg wait HEAD --server https://config.example.com"""
_LIST = """Examples:

  gitcfg serve token list                              who may ask, and when each last did

  gitcfg serve token list --state /srv/gitcfg          of a server that keeps its state there

  gitcfg serve token list --database postgresql://gitcfg@db/gitcfg"""
_REVOKE = """Examples:

  gitcfg serve token revoke alice                      her token counts no more

  gitcfg serve token revoke alice --state /srv/gitcfg  ... of a server that keeps its state there

  gitcfg serve token revoke ci && gitcfg serve token create ci"""
_NAME = typer.Argument(help="What the token is called: who holds it.", metavar="TEXT")


class Role(StrEnum):
    """What who holds a token may do."""

    READ = "read"
    OPERATE = "operate"


def register(app: typer.Typer, name: str) -> None:
    """Make the commands known."""
    group = typer.Typer(rich_markup_mode=None, help="Tokens of people and programs.")
    group.command("create", epilog=_CREATE)(create)
    group.command("list", epilog=_LIST)(listed)
    group.command("revoke", epilog=_REVOKE)(revoke)
    group.callback()(_group)
    app.add_typer(group, name=name)


def _group() -> None:
    """Say who may ask the server: each token is shown once, and kept as a hash."""


def create(
    context: typer.Context,
    name: Annotated[str, _NAME],
    role: Annotated[Role, typer.Option(help="What may be done with it.")] = Role.READ,
    url: Database = None,
    state: StateFolder = None,
) -> int:
    """Make a token, and show it: it cannot be shown again."""
    with database(context.obj, url, state) as kept:
        from gitcfg.state import Role as Kept

        token = kept.tokens.create(name, Kept(role.value), time.time())
    write(f"{token}\n")
    return 0


def listed(context: typer.Context, url: Database = None, state: StateFolder = None) -> int:
    """List who holds tokens."""
    session: Session = context.obj
    with database(session, url, state) as kept:
        for token in kept.tokens.all():
            used = "never used" if token.used is None else f"last used {_when(token.used)}"
            session.write(f"{safe(token.name)}  {token.role.value}  made {_when(token.created)}, {used}\n")
    return 0


def revoke(
    context: typer.Context,
    name: Annotated[str, _NAME],
    url: Database = None,
    state: StateFolder = None,
) -> int:
    """Let a token count no more: within seconds, on all servers."""
    with database(context.obj, url, state) as kept:
        kept.tokens.revoke(name)
    return 0


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).astimezone().isoformat(" ", "minutes")
