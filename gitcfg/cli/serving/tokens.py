"""`gitcfg serve token`: by which people and programs are known to the server."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gitcfg.cli.database import address, opened
from gitcfg.cli.serving.place import Database, StateFolder, repository
from gitcfg.cli.serving.said import asked
from gitcfg.cli.session import Output, Session, write
from gitcfg.model import GitcfgError
from gitcfg.model.text import safe

if TYPE_CHECKING:
    from gitcfg.state import State, Token

_CREATE = """Examples:

  gitcfg serve token create alice                      she may look

  gitcfg serve token create ops --role operate         ... and resume and abort releases

  GITCFG_TOKEN=$(gitcfg serve token create ci) gitcfg wait HEAD --server https://config.example.com"""
_LIST = """Examples:

  gitcfg serve token list                              who may ask, and when each last did

  gitcfg serve token list -o json                      ... for programs

  gitcfg serve token list --database postgresql://gitcfg@db/gitcfg"""
_REVOKE = """Examples:

  gitcfg serve token revoke alice                      her token counts no more

  gitcfg serve token revoke alice --state /srv/gitcfg  ... of a server that keeps its state there

  gitcfg serve token revoke ci && gitcfg serve token create ci"""
_NAME = typer.Argument(help="What the token is called: who holds it.", metavar="NAME")


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
    with _kept(context, url, state) as found:
        from gitcfg.state import Role as Kept

        token = found.tokens.create(name, Kept(role.value), time.time())
    write(f"{token}\n")
    return 0


@contextmanager
def _kept(context: typer.Context, url: str | None, state: str | None) -> "Iterator[State]":
    """The database of a server. GitcfgError: nothing is said, and none is here; or no server has used it.

    Who makes a token in any clone, or where a word is misspelt, would get one that no server knows.
    """
    session: Session = context.obj
    where = address(repository(session), asked(context, url, state))
    if where is None:
        hint = "Start `gitcfg serve` first, or say --state DIR or --database URL, as it does."
        raise GitcfgError("No server keeps its state here.", hint)
    with opened(where) as found:
        yield found


def listed(
    context: typer.Context,
    url: Database = None,
    state: StateFolder = None,
    output: Annotated[Output, typer.Option("-o", "--output", help="What to write.")] = Output.TEXT,
) -> int:
    """List who holds tokens."""
    session: Session = context.obj
    with _kept(context, url, state) as found:
        tokens = found.tokens.all()
    if output is not Output.TEXT:
        from gitcfg.cli.records import write_record

        write_record({"schema": "gitcfg.tokens/1", "tokens": list(map(_record, tokens))}, output)
        return 0
    for token in tokens:
        used = "never used" if token.used is None else f"last used {_when(token.used)}"
        session.write(f"{safe(token.name)}  {token.role.value}  made {_when(token.created)}, {used}\n")
    if not tokens:
        session.console(stderr=True).print("Nobody holds a token.")
    return 0


def revoke(
    context: typer.Context,
    name: Annotated[str, _NAME],
    url: Database = None,
    state: StateFolder = None,
) -> int:
    """Let a token count no more: within seconds, on all servers."""
    session: Session = context.obj
    with _kept(context, url, state) as found:
        found.tokens.revoke(name)
    session.write(f"revoked {safe(name)}\n")
    return 0


def _record(token: "Token") -> dict[str, Any]:
    """A token of `gitcfg.tokens/1`. Times are seconds since the epoch."""
    return {"name": token.name, "role": token.role.value, "created": token.created, "used": token.used}


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).astimezone().isoformat(" ", "minutes")
