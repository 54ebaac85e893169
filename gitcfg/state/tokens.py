"""Tokens of people and programs: shown once when they are made, kept as hashes."""

import secrets
from contextlib import suppress
from hashlib import sha256
from typing import Any

from sqlalchemy import Engine, Select, delete, select, update

from gitcfg.model import GitcfgError
from gitcfg.model.names import NAME, shown
from gitcfg.state.database import changing, insert, reading
from gitcfg.state.records import Role, Token
from gitcfg.state.tables import TOKENS

PREFIX = "gitcfg_"
_USED = 60.0  # so rarely it is kept when a token was used last
_BYTES = 32  # a random secret of this size needs no slow hash


class Tokens:
    """Who may ask."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def create(self, name: str, role: Role, now: float) -> str:
        """A new token, which cannot be shown again. GitcfgError: the name is taken, or is none."""
        if not NAME.fullmatch(name):
            hint = "Write letters, digits and _ .+@-, as in alice, ci-2 or ops@example.com."
            raise GitcfgError(f"{shown(name)} is no name for a token.", hint)
        token = PREFIX + secrets.token_urlsafe(_BYTES)
        row = {"name": name, "hash": _hash(token), "role": role.value, "created": now}
        with changing(self._engine) as connection:
            said = insert(connection, TOKENS).on_conflict_do_nothing().values(**row)
            done = connection.execute(said.returning(TOKENS.c.name)).first()
        if done is None:
            raise GitcfgError(f"There is a token {name} already.", "Revoke it first, or choose another name.")
        return token

    def holder(self, token: str, now: float) -> Token | None:
        """Whose token it is; None: nobody's."""
        return holder(self._engine, select(TOKENS).where(TOKENS.c.hash == _hash(token)), now)

    def all(self) -> list[Token]:
        """Every token, in order of name."""
        with reading(self._engine) as connection:
            rows = connection.execute(select(TOKENS).order_by(TOKENS.c.name)).all()
        return [Token(row.name, Role(row.role), row.created, row.used) for row in rows]

    def revoke(self, name: str) -> None:
        """Let a token count no more. GitcfgError: there is none of this name."""
        with changing(self._engine) as connection:
            done = connection.execute(delete(TOKENS).where(TOKENS.c.name == name))
        if done.rowcount != 1:
            raise GitcfgError(f"There is no token {shown(name)}.", "`gitcfg serve token list` tells all.")


def holder(engine: Engine, asked: Select[Any], now: float) -> Token | None:
    """Who holds the token that a question finds; None: nobody. When it was used is kept, if that can be."""
    with reading(engine) as connection:
        row = connection.execute(asked).first()
    if row is None:
        return None
    if row.used is None or now - row.used > _USED:
        # Where there is no room for that, who asks gets an answer all the same.
        with suppress(GitcfgError), changing(engine) as connection:
            connection.execute(update(TOKENS).where(TOKENS.c.name == row.name).values(used=now))
    return Token(row.name, Role(row.role), row.created, row.used)


def _hash(token: str) -> bytes:
    return sha256(token.encode()).digest()
