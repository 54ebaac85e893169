"""Tokens of people and programs, and the sessions of browsers that begin with one. Only hashes are stored."""

import secrets
from contextlib import suppress
from hashlib import sha256
from typing import Any

from sqlalchemy import Engine, Select, delete, select, update

from gitcfg.model import GitcfgError
from gitcfg.model.names import NAME, shown
from gitcfg.state.database import changing, insert, reading
from gitcfg.state.records import Role, Token
from gitcfg.state.schema import SESSIONS, TOKENS

PREFIX = "gitcfg_"
_USED = 60.0  # seconds between two records of a token's last use
_BYTES = 32  # a random secret of this size needs no slow hash
LONGEST = 12 * 3600.0
"""The maximum duration of a session in seconds."""


class Tokens:
    """Tokens, which are shown only once, when they are created."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def create(self, name: str, role: Role, now: float) -> str:
        """Return a new token. Raise GitcfgError if the name is taken or not valid."""
        if not NAME.fullmatch(name):
            hint = "Use letters, digits and _ .+@-, as in alice, ci-2 or ops@example.com."
            raise GitcfgError(f"{shown(name)} is not a valid token name.", hint)
        token = PREFIX + secrets.token_urlsafe(_BYTES)
        row = {"name": name, "hash": _hash(token), "role": role.value, "created": now}
        with changing(self._engine) as connection:
            new = insert(connection, TOKENS).on_conflict_do_nothing().values(**row)
            created = connection.execute(new.returning(TOKENS.c.name)).first()
        if created is None:
            raise GitcfgError(f"The token {name} already exists.", "Revoke it first, or choose another name.")
        return token

    def find_holder(self, token: str, now: float) -> Token | None:
        """Return the record of a token; None: there is none."""
        return _find_used(self._engine, select(TOKENS).where(TOKENS.c.hash == _hash(token)), now)

    def all(self) -> list[Token]:
        """Return all tokens, in order of name."""
        with reading(self._engine) as connection:
            rows = connection.execute(select(TOKENS).order_by(TOKENS.c.name)).all()
        return [Token(row.name, Role(row.role), row.created, row.used) for row in rows]

    def revoke(self, name: str) -> None:
        """Revoke a token. Raise GitcfgError if there is none of this name."""
        with changing(self._engine) as connection:
            done = connection.execute(delete(TOKENS).where(TOKENS.c.name == name))
        if done.rowcount != 1:
            raise GitcfgError(
                f"There is no token {shown(name)}.", "Run `gitcfg serve token list` to list tokens."
            )


def _find_used(engine: Engine, query: Select[Any], now: float) -> Token | None:
    """Return the token that a query finds, and record its use if possible."""
    with reading(engine) as connection:
        row = connection.execute(query).first()
    if row is None:
        return None
    if row.used is None or now - row.used > _USED:
        # If the database is full, the request is answered anyway.
        with suppress(GitcfgError), changing(engine) as connection:
            connection.execute(update(TOKENS).where(TOKENS.c.name == row.name).values(used=now))
    return Token(row.name, Role(row.role), row.created, row.used)


def _hash(token: str) -> bytes:
    return sha256(token.encode()).digest()


class Sessions:
    """Sessions, which end by themselves, on request, or with their token."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def begin(self, token: str, now: float) -> str | None:
        """Begin a session, and return its cookie; None: there is no such token."""
        session, hashed = secrets.token_urlsafe(_BYTES), _hash(token)
        row = {"hash": _hash(session), "token": hashed, "until": now + LONGEST}
        with reading(self._engine) as connection:  # guesses must not block writers
            if connection.execute(select(TOKENS.c.name).where(TOKENS.c.hash == hashed)).first() is None:
                return None
        with changing(self._engine) as connection:
            connection.execute(delete(SESSIONS).where(SESSIONS.c.until < now))
            connection.execute(insert(connection, SESSIONS).values(**row))
        return session

    def find_holder(self, session: str, now: float) -> Token | None:
        """Return the token that began a session; None: the session has ended, or never existed."""
        query = select(TOKENS).join(SESSIONS, SESSIONS.c.token == TOKENS.c.hash)
        query = query.where(SESSIONS.c.hash == _hash(session), SESSIONS.c.until >= now)
        return _find_used(self._engine, query, now)

    def end(self, session: str) -> None:
        """End a session."""
        with changing(self._engine) as connection:
            connection.execute(delete(SESSIONS).where(SESSIONS.c.hash == _hash(session)))
