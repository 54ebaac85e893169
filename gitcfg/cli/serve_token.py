"""`gitcfg serve token`: the tokens by which people and programs are known to the server."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gitcfg.cli.declaration import Group, command
from gitcfg.cli.records import Items
from gitcfg.cli.server_state import (
    Database,
    StateFolder,
    find_database,
    open_database,
    served_repository,
    state_query,
)
from gitcfg.cli.session import Output, Session, write
from gitcfg.model import GitcfgError
from gitcfg.model.text import safe

if TYPE_CHECKING:
    from gitcfg.state.records import Token
    from gitcfg.state.state import State


_CREATE_EPILOG = """Examples:

  gitcfg serve token create alice                      she may look

  gitcfg serve token create ops --role operate         ... and resume and abort releases

  GITCFG_TOKEN=$(gitcfg serve token create ci) gitcfg wait HEAD --server https://config.example.com"""
_LIST_EPILOG = """Examples:

  gitcfg serve token list                              who may ask, and when each last did

  gitcfg serve token list -o json                      ... for programs

  gitcfg serve token list --database postgresql://gitcfg@db/gitcfg"""
_REVOKE_EPILOG = """Examples:

  gitcfg serve token revoke alice                      her token counts no more

  gitcfg serve token revoke alice --state /srv/gitcfg  ... of a server that keeps its state there

  gitcfg serve token revoke ci && gitcfg serve token create ci"""
_NAME = typer.Argument(help="What the token is called: who holds it.", metavar="NAME")


class Role(StrEnum):
    """What a token allows."""

    READ = "read"
    OPERATE = "operate"


@command(_CREATE_EPILOG)
def create_token(
    context: typer.Context,
    name: Annotated[str, _NAME],
    role: Annotated[Role, typer.Option(help="What may be done with it.")] = Role.READ,
    url: Database = None,
    state: StateFolder = None,
) -> int:
    """Make a token, and show it: it cannot be shown again."""
    with _open_tokens(context, url, state) as found:
        from gitcfg.state.records import Role as Kept

        token = found.tokens.create(name, Kept(role.value), time.time())
    write(f"{token}\n")
    return 0


@contextmanager
def _open_tokens(context: typer.Context, url: str | None, state: str | None) -> "Iterator[State]":
    """Open the database of a server. Raise GitcfgError if none is given or here, or no server has used it.

    A token made in any clone, or where an option is misspelt, would be one that no server knows.
    """
    session: Session = context.obj
    where = find_database(served_repository(session), state_query(context, url, state))
    if where is None:
        hint = "Start `gitcfg serve` first, or say --state DIR or --database URL, as it does."
        raise GitcfgError("No server keeps its state here.", hint)
    with open_database(where) as found:
        yield found


@command(_LIST_EPILOG, Items("gitcfg.tokens/1", "tokens", "token"))
def list_tokens(
    context: typer.Context,
    url: Database = None,
    state: StateFolder = None,
    output: Annotated[Output, typer.Option("-o", "--output", help="What to write.")] = Output.TEXT,
) -> int:
    """List who holds tokens."""
    session: Session = context.obj
    with _open_tokens(context, url, state) as found:
        tokens = found.tokens.all()
    if output is not Output.TEXT:
        from gitcfg.cli.records import write_record

        write_record({"schema": "gitcfg.tokens/1", "tokens": list(map(_token_to_json, tokens))}, output)
        return 0
    for token in tokens:
        used = "never used" if token.used is None else f"last used {_format_time(token.used)}"
        session.write(f"{safe(token.name)}  {token.role.value}  made {_format_time(token.created)}, {used}\n")
    if not tokens:
        session.console(stderr=True).print("Nobody holds a token.")
    return 0


@command(_REVOKE_EPILOG)
def revoke_token(
    context: typer.Context,
    name: Annotated[str, _NAME],
    url: Database = None,
    state: StateFolder = None,
) -> int:
    """Let a token count no more: within seconds, on all servers."""
    session: Session = context.obj
    with _open_tokens(context, url, state) as found:
        found.tokens.revoke(name)
    session.write(f"revoked {safe(name)}\n")
    return 0


def _token_to_json(token: "Token") -> dict[str, Any]:
    """Return a token of `gitcfg.tokens/1`. Times are seconds since the epoch."""
    return {"name": token.name, "role": token.role.value, "created": token.created, "used": token.used}


def _format_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).astimezone().isoformat(" ", "minutes")


token = Group(
    "Tokens of people and programs.",
    {"create": create_token, "list": list_tokens, "revoke": revoke_token},
)
